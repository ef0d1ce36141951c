"""synthetic-data-kit's verbs, and its faults (1 to 11), each with the right value."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from synthnb.cli.app import app
from synthnb.demo import documents_folder
from synthnb.testing import FaultServer

RIVER = "The Danube is 2,850 kilometres long. It flows through ten countries.\n"
CODE = 'def f(x):\n    return {"a": [x]}  # ü\n\n- one\n- two'


def call(*arguments):
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def told(*arguments):
    result = call(*arguments, "--json")
    return result.exit_code, json.loads(result.stdout.splitlines()[-1])


class Model:
    """Answers pairs, examples, summaries and ratings as a good model would."""

    def __init__(self):
        self.seen = []
        self.rating = 8

    def __call__(self, request):
        system, user = (m["content"] for m in request["messages"])
        self.seen.append((system, user))
        if "rating" in str(request.get("response_format")):
            names = request["response_format"]["json_schema"]["schema"]["properties"]
            given = {n: self.rating for n in names if n != "reason"}
            echo = {"question": "CHANGED", "answer": "CHANGED"}
            return json.dumps({"reason": "r", **given, **echo})
        number = len(self.seen)
        if "leads from the question" in system:
            return json.dumps({"reasoning": "Because."})
        if "sum up" in system:
            return "The river."
        one = {"question": f"Question {number} about [1] {{x}}?", "answer": CODE}
        if "teach a language model to reason" in system:
            return json.dumps({"examples": [one | {"reasoning": "First.\nThen."}]})
        return json.dumps({"pair_1": one | {"evidence": RIVER[:36]}})


@pytest.fixture
def model():
    return Model()


@pytest.fixture
def server(model):
    with FaultServer.in_thread(model) as started:
        yield started


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "river.txt").write_text(RIVER)
    return tmp_path


def at(server):
    return "--api-base", server.base_url, "--model", "fault-model"


def test_the_four_verbs_one_after_the_other(folder, server, model):
    shutil.copy(documents_folder() / "handbook.pdf", folder / "handbook.pdf")
    code, done = told("ingest", "handbook.pdf", "-o", "parsed")
    assert (code, done["failed"]) == (0, [])
    text = (folder / "parsed" / "handbook.txt").read_text(encoding="utf-8")
    assert len(text) == done["done"][0]["characters"] > 500

    code, done = told("create", "river.txt", "-n", "1", "-o", "generated", *at(server))
    assert code == 0
    made = Path(done["done"][0]["out"])
    assert made == Path("generated/river_qa_pairs.json")
    value = json.loads(made.read_text(encoding="utf-8"))
    assert [p["answer"] for p in value["qa_pairs"]] == [CODE]

    code, done = told("curate", made, "-t", "7", "-o", "curated", *at(server))
    assert (code, done["done"][0]["kept"]) == (0, 1)
    cleaned = Path("curated/river_qa_pairs_cleaned.json")
    value = json.loads(cleaned.read_text(encoding="utf-8"))
    assert value["metrics"] == {
        "total": 1, "filtered": 1, "retention_rate": 1.0, "avg_score": 8.0,
    }  # fmt: skip

    shapes = {"jsonl": dict, "alpaca": list, "ft": list, "chatml": dict}
    for form, shape in shapes.items():
        code, done = told("save-as", cleaned, "-f", form, "-o", "final")
        assert code == 0
        text = Path(done["done"][0]["out"]).read_text(encoding="utf-8")
        value = json.loads(text.splitlines()[0] if shape is dict else text)
        assert isinstance(value, shape)
        row = value if shape is dict else value[0]
        shown = row.get("answer") or row.get("output") or row["messages"][-1]["content"]
        assert shown == CODE  # fault 4: line ends, code, non-ASCII
        assert "ü" in text
    sent = server.stats.requests
    told("create", "river.txt", "-n", "1", "-o", "generated", *at(server))
    told("curate", made, "-t", "7", "-o", "curated", *at(server))
    assert server.stats.requests == sent  # the same commands again buy nothing


def test_fault_1_a_text_without_blank_lines_is_cut_as_the_file_says(
    folder, server, model
):
    (folder / "long.txt").write_text("".join(f"Fact {n} is so. " for n in range(900)))
    (folder / "config.yaml").write_text("generation: {chunk_size: 2000, overlap: 200}")
    told("create", "long.txt", "-n", "1", "-c", "config.yaml", *at(server))
    passages = [user for _, user in model.seen]
    assert len(passages) >= 7
    assert max(map(len, passages)) < 2600
    first, second = passages[0].split("\n")[1], passages[1].split("\n")[1]
    assert second.split(". ")[0] in first  # the overlap


def test_fault_2_every_chunk_has_its_pairs_and_the_model_hears_the_number(
    folder, server, model
):
    (folder / "long.txt").write_text(
        "\n\n".join(f"Fact {n} is so. " * 90 for n in range(9))
    )
    (folder / "config.yaml").write_text("generation: {chunk_size: 1600, num_pairs: 18}")
    _, done = told("create", "long.txt", "-c", "config.yaml", *at(server))
    chunks = done["done"][0]["rows read"]
    assert chunks >= 9
    assert done["done"][0]["pairs"] >= 18
    asked = {user for _, user in model.seen}
    assert all(any(f"Fact {n} is" in user for user in asked) for n in range(9))


def test_fault_3_the_judge_rates_and_rewrites_nothing(folder, model):
    pairs = [{"question": f"Q{n}?", "answer": CODE} for n in range(3)]
    (folder / "p.json").write_text(json.dumps({"qa_pairs": pairs}))

    def rate(request):
        user = request["messages"][-1]["content"]
        if "Q1?" in user:
            return "I like it."
        model.rating = "9" if "Q2?" in user else 8
        return model(request)

    with FaultServer.in_thread(rate) as other:
        code, done = told("curate", "p.json", "-o", "out", *at(other))
    assert code == 0
    assert done["done"][0] | {"file": "", "out": ""} == {
        "file": "", "out": "", "kept": 2, "of": 3, "without a rating": 1,
    }  # fmt: skip
    value = json.loads(Path("out/p_cleaned.json").read_text())
    assert [(p["question"], p["answer"]) for p in value["qa_pairs"]] == [
        ("Q0?", CODE), ("Q2?", CODE),
    ]  # fmt: skip
    assert [p["rating"] for p in value["qa_pairs"]] == [8.0, 9.0]


def test_fault_5_prose_is_a_failure_and_no_success_of_zero_pairs(folder):
    with FaultServer.in_thread("Sure! As [1] see, a question could be: why?") as server:
        code, done = told("create", "river.txt", *at(server))
    assert code == 1
    assert done["done"] == []
    assert "none of the" in done["failed"][0]["error"]
    assert "no_json" in done["failed"][0]["error"]
    assert not Path("data/generated/river_qa_pairs.json").exists()


def test_fault_6_the_reasoning_goes_through_every_step(folder, server):
    code, _ = told("create", "river.txt", "--type", "cot", "-o", "g", *at(server))
    assert code == 0
    made = json.loads(Path("g/river_cot_examples.json").read_text())
    assert made["cot_examples"][0]["reasoning"] == "First.\nThen."
    code, _ = told("curate", "g/river_cot_examples.json", "-o", "c", *at(server))
    assert code == 0
    for form in ("jsonl", "alpaca", "ft", "chatml"):
        code, done = told("save-as", "c", "-f", form, "-o", "f")
        assert code == 0
        text = Path(done["done"][0]["out"]).read_text()
        assert "First.\\nThen." in text, form


def test_a_summary_is_made(folder, server):
    code, _ = told("create", "river.txt", "--type", "summary", "-o", "g", *at(server))
    assert code == 0
    assert json.loads(Path("g/river_summary.json").read_text()) == {
        "summary": "The river."
    }


def test_the_summaries_of_a_long_document_become_one(folder, server, model):
    text = "\n\n".join(f"Fact {n} is so. " * 90 for n in range(5))
    (folder / "long.txt").write_text(text)
    (folder / "config.yaml").write_text("generation: {chunk_size: 1600}")
    code, done = told(
        "create", "long.txt", "--type", "summary", "-c", "config.yaml", *at(server)
    )
    assert (code, done["done"][0]["summaries"]) == (0, 1)
    asked = [user for _, user in model.seen]
    assert len(asked) == done["done"][0]["rows read"] + 1
    assert asked[-1].count("The river.") == done["done"][0]["rows read"]


def test_what_a_reader_must_know_of_a_document_is_told(folder):
    (folder / "old.txt").write_bytes(
        "schöne Grüße aus Köln, über größere Städte. ".encode("cp1252") * 9
    )
    result = call("ingest", "old.txt", "-o", "out")
    assert result.exit_code == 0
    assert "which is a guess" in result.stderr


def test_pairs_that_exist_are_enhanced(folder, server):
    pairs = [{"question": f"Q{n}?", "answer": CODE} for n in range(3)]
    (folder / "p.json").write_text(json.dumps({"qa_pairs": pairs}))
    code, done = told(
        "create", "p.json", "--type", "cot-enhance", "-o", "g", *at(server)
    )
    assert (code, done["done"][0]["conversations"]) == (0, 3)
    value = json.loads(Path("g/p_enhanced.json").read_text())
    for number, one in enumerate(value):
        assert one["conversations"][1]["content"] == f"Q{number}?"
        assert one["conversations"][-1]["content"] == f"Because.\n\n{CODE}"


def test_fault_7_braces_of_a_document_are_text(folder, server, model):
    (folder / "b.txt").write_text('Use {name} and {{ row }} and {% if %}: {"a": 1}.')
    code, _ = told("create", "b.txt", "-n", "1", *at(server))
    assert code == 0
    assert 'Use {name} and {{ row }} and {% if %}: {"a": 1}.' in model.seen[0][1]


def test_fault_8_documents_of_one_name_do_not_overwrite_each_other(folder):
    (folder / "in").mkdir()
    (folder / "in" / "a.md").write_text("One.")
    (folder / "in" / "a.html").write_text("<p>Two.</p>")
    code, done = told("ingest", "in", "-o", "out")
    assert code == 0
    texts = {Path(d["out"]).read_text().strip() for d in done["done"]}
    assert texts == {"One.", "Two."}


def test_one_file_may_be_named_and_one_of_its_name_is_told_apart(folder):
    code, done = told("ingest", "river.txt", "-o", "there/text.txt")
    assert (code, done["done"][0]["out"]) == (0, str(Path("there/text.txt")))
    assert Path("there/text.txt").read_text() == RIVER


@pytest.mark.parametrize("verb", ["ingest", "create", "curate", "save-as"])
def test_fault_9_nothing_there_is_told_at_once(folder, server, verb):
    (folder / "empty").mkdir()
    more = at(server) if verb in {"create", "curate"} else ()
    for source, text in (("none", "no file or folder none"), ("empty", "in empty")):
        code, done = told(verb, source, *more)
        assert code == 1
        assert text in done["message"]
    assert server.stats.requests == 0


def test_fault_10_an_empty_result_can_be_saved_in_every_format(folder, server):
    (folder / "p.json").write_text(json.dumps({"summary": "", "qa_pairs": []}))
    for form in ("jsonl", "alpaca", "ft", "chatml"):
        code, done = told("save-as", "p.json", "-f", form)
        assert (code, done["done"][0]["rows"]) == (0, 0)
        text = Path(done["done"][0]["out"]).read_text()
        assert text.strip() in {"", "[]"}
    code, done = told("curate", "p.json", *at(server))
    assert (code, done["done"][0]["kept"]) == (0, 0)


def test_fault_11_the_status_is_0_only_when_all_went_well(folder, server):
    (folder / "in").mkdir()
    (folder / "in" / "good.txt").write_text(RIVER)
    (folder / "in" / "bad.pdf").write_bytes(b"no pdf at all")
    code, done = told("create", "in", "-n", "1", *at(server))
    assert code == 1
    assert [Path(d["file"]).name for d in done["done"]] == ["good.txt"]
    assert [Path(d["file"]).name for d in done["failed"]] == ["bad.pdf"]
    shown = call("create", "in", "-n", "1", *at(server)).stdout
    assert "1 done, 1 failed" in shown
    assert call("check", "127.0.0.1:9").exit_code == 1


def test_a_preview_writes_and_asks_nothing(folder, server):
    before = sorted(folder.rglob("*"))
    code, done = told("create", "river.txt", "--preview", *at(server))
    assert code == 0
    assert done["done"] == [
        {"file": "river.txt", "out": str(Path("data/generated/river_qa_pairs.json"))}
    ]
    assert sorted(folder.rglob("*")) == before
    assert server.stats.requests == 0


def test_the_files_provider_and_settings_are_used(folder, server, model):
    (folder / "config.yaml").write_text(
        f"llm: {{provider: api-endpoint}}\napi-endpoint: {{api_base: '{server.base_url}',"
        " model: fault-model}\npaths: {output: {generated: there}}\n"
        "generation: {num_pairs: 1}\nprompts: {qa_generation: 'From {text}'}"
    )
    result = call("create", "river.txt", "-c", "config.yaml", "--verbose")
    assert result.exit_code == 0
    assert "From {{ text }}" in result.stdout
    assert "The prompts of the file are not used" in result.stdout
    assert Path("there/river_qa_pairs.json").exists()
    assert len(model.seen) == 1


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("create", "river.txt", "--type", "dpo"), "--type dpo"),
        (("save-as", "river.txt", "-f", "xml"), "--format xml"),
        (("save-as", "river.txt", "-f", "ft", "--storage", "s3"), "--storage s3"),
        (("create", "river.txt", "-c", "none.yaml"), "none.yaml cannot be read"),
        (("create", "river.txt"), "no model was named"),
    ],
)
def test_a_wrong_option_is_told_with_the_right_ones(folder, arguments, text):
    result = call(*arguments)
    assert result.exit_code == 1
    assert text in result.stderr

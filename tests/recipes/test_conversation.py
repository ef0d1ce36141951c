from __future__ import annotations

import json

import pytest

import synthnb as sn
from synthnb.errors import ConfigError
from synthnb.recipes import Conversation, Recipe
from synthnb.records import Completion, Status
from synthnb.testing import FaultServer

TEXT = "The Danube is 2,850 km long. It flows through ten countries."
ROW = {"text": TEXT}
FIRST = {
    "evidence": "The Danube is 2,850 km long.",
    "question": "How long?",
    "answer": "ü {a}",
}
SECOND = {
    "evidence": "It flows through ten countries.",
    "question": "And?",
    "answer": "Ten.",
}


def parse(value, recipe=None, reason="stop"):
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return (recipe or Conversation(turns=2)).parse(
        ROW, Completion(text, finish_reason=reason), ()
    )


def test_the_prompt():
    recipe = Conversation(turns=2, persona="a nurse", language="German", style="short")
    assert isinstance(recipe, Recipe)
    request = recipe.request(ROW, (), 0)
    system, user = (m.content for m in request.messages)
    assert "The person asks 2 questions one after the other" in system
    assert system.endswith("Write in German. Style: the person is a nurse; short.")
    assert '{"turns": [{"evidence"' in system
    assert user == f"<passage>\n{TEXT}\n</passage>"
    assert request.sampling.max_tokens == 600
    assert recipe.request(ROW, (parse({}),), 0) is None
    assert recipe.request({"text": " "}, (), 0) is None


def test_turns_become_messages_with_their_evidence():
    parsed = parse({"turns": [FIRST, SECOND]}, Conversation(turns=2, system="Help."))
    assert parsed.status is Status.OK
    (item,) = parsed.items
    assert [(m["role"], m["content"]) for m in item["messages"]] == [
        ("system", "Help."), ("user", "How long?"), ("assistant", "ü {a}"),
        ("user", "And?"), ("assistant", "Ten."),
    ]  # fmt: skip
    assert (item["turns"], item["grounded"]) == (2, True)


def test_one_turn_that_nothing_proves_is_seen():
    made_up = SECOND | {"evidence": "It is blue."}
    (item,) = parse({"turns": [FIRST, made_up]}).items
    assert item["grounded"] is False


def test_too_few_and_too_many_turns():
    parsed = parse({"turns": [FIRST, SECOND]}, Conversation(turns=5))
    assert (parsed.status, parsed.detail) == (Status.OK, "2 of 5 turns")
    assert parse({"turns": [FIRST, SECOND, FIRST]}).items[0]["turns"] == 2


@pytest.mark.parametrize(
    ("value", "reason", "status"),
    [
        ({"turns": [FIRST]}, "stop", Status.SCHEMA),
        ({"turns": [FIRST, SECOND | {"answer": " "}, SECOND]}, "stop", Status.SCHEMA),
        ({"turns": []}, "stop", Status.SCHEMA),
        ("Let us talk.", "stop", Status.NO_JSON),
        ("", "stop", Status.NO_JSON),
        ("no", "content_filter", Status.REFUSED),
        (json.dumps({"turns": [FIRST, SECOND]})[:130], "length", Status.TRUNCATED),
    ],
)
def test_what_is_no_conversation_is_a_status(value, reason, status):
    parsed = parse(value, reason=reason)
    assert parsed.status is status
    assert parsed.items == ()
    assert parsed.detail


def test_a_conversation_that_was_cut_keeps_its_whole_turns_and_says_so():
    text = json.dumps({"turns": [FIRST, SECOND, FIRST | {"question": "Third?"}]})
    parsed = parse(text[:-60], Conversation(turns=3), reason="length")
    assert parsed.status is Status.TRUNCATED
    assert parsed.items[0]["turns"] == 2
    assert parsed.detail == "cut off at max_tokens; 2 of 3 turns"


@pytest.mark.parametrize("turns", [1, 0, 21])
def test_a_number_out_of_range_is_refused(turns):
    with pytest.raises(ConfigError, match="turns must be 2 to 20"):
        Conversation(turns=turns)


async def test_it_goes_from_the_model_into_every_chat_format(tmp_path):
    said = json.dumps({"turns": [FIRST, SECOND]}, ensure_ascii=False)
    async with FaultServer(f"<think>hm [1]</think>```json\n{said}\n```") as server:
        provider = sn.Provider(server.base_url, "fault-model")
        recipe = Conversation(turns=2)
        df = await sn.generate(recipe, [ROW], provider, name="talk")
        await sn.generate(recipe, [ROW], provider, name="talk")
        assert server.stats.requests == 1
    assert list(df["status"]) == ["ok"]
    sn.export(df, tmp_path / "c.jsonl", "chatml", system="Be kind.")
    messages = json.loads((tmp_path / "c.jsonl").read_text("utf-8"))["messages"]
    assert [m["role"] for m in messages] == ["system", *["user", "assistant"] * 2]
    assert messages[2]["content"] == "ü {a}"
    sn.export(df, tmp_path / "s.json", "sharegpt", include_provenance=True)
    (one,) = json.loads((tmp_path / "s.json").read_text("utf-8"))
    assert [t["from"] for t in one["conversations"]] == ["human", "gpt"] * 2
    assert one["metadata"]["record_id"] == df["record_id"][0]
    sn.export(df, tmp_path / "t.parquet")


@pytest.mark.model
async def test_on_the_built_in_model(tmp_path):
    provider = sn.Provider.local()
    run = sn.generate(Conversation(turns=2), [ROW], provider, folder=tmp_path / "run")
    df = await run
    assert len(df) == 1
    assert df["status"][0] == "ok" or df["detail"][0]

"""The rule checks: each finds its fault, leaves the like of it alone, and says why."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthnb.curation import (
    CHECKS,
    Check,
    Pair,
    apply_checks,
    keep,
    locate_evidence,
)
from synthnb.errors import ConfigError, FrameError

# Pairs labelled by hand: ``written`` ones are faults that were made up to be typical,
# ``model`` ones are all that SmolLM2-135M wrote about six texts in 70 calls, a reader
# would keep 3 of them; ``held-out`` ones came after the checks were made, from other
# texts and in 60 calls, a reader would keep none.
LABELLED = json.loads(Path(__file__).with_name("labelled.json").read_text("utf-8"))
TEXTS = LABELLED["texts"]


def rows(origin="written"):
    return [
        {"record_id": f"r{i}", "status": "ok"} | pair | {"text": TEXTS[pair["text"]]}
        for i, pair in enumerate(LABELLED["pairs"])
        if pair["origin"] == origin
    ]


def judged(origin):
    checked = apply_checks(locate_evidence(pd.DataFrame(rows(origin))))
    kept, good = checked["checks_ok"].astype(bool), checked["good"]
    both = (kept & good).sum()
    missed = set(checked.loc[kept & ~good, "note"])
    return both / kept.sum(), both / good.sum(), missed


RIVER = TEXTS["danube"]
LENGTH = "It is 2,850 km long and flows through ten countries, more than any other."


def reason(check, question="How long is the Danube?", answer="2,850 km", **more):
    more = {"evidence": LENGTH, "text": RIVER} | more
    return CHECKS[check][0](Pair(question, answer, **more))


def test_typical_faults_are_told_from_good_pairs():
    precision, recall, missed = judged("written")
    assert precision >= 0.95
    assert recall >= 0.95
    # What slips through needs a judge: rules see no meaning.
    assert missed == {"the number of another fact"}


def test_what_a_small_model_wrote_is_told_apart():
    precision, recall, missed = judged("model")
    assert precision >= 0.5
    assert recall == 1.0
    assert missed == {"what for who"}  # "What was the last keeper?" "Ada Trelawney"


def test_what_it_wrote_later_is_dropped_too():
    checked = apply_checks(locate_evidence(pd.DataFrame(rows("held-out"))))
    assert len(checked) == 60
    assert checked["checks_ok"].sum() <= 2


@pytest.mark.parametrize(
    ("check", "pair", "said"),
    [
        ("question_form", {"question": "?!"}, "empty"),
        ("question_form", {"question": "How long is the Danube"}, "no question mark"),
        (
            "question_form",
            {"question": "The Danube is a long one?"},
            "no question word",
        ),
        (
            "question_form",
            {"question": RIVER.split(",")[0] + "?"},
            "sentence of the text",
        ),
        (
            "question_form",
            {
                "question": "What the Danube is the second-longest river in Europe, after?"
            },
            "sentence of the text",
        ),
        (
            "question_form",
            {"question": "Why the river is so long?"},
            "no verb after 'why'",
        ),
        (
            "question_form",
            {"question": "Die Donau ist lang?", "text": TEXTS["wasser"]},
            "no",
        ),
        ("question_grounded", {"question": "What is it about?"}, "names nothing"),
        (
            "question_grounded",
            {"question": "Who won the chess match?"},
            "of the question's",
        ),
        (
            "question_grounded",
            {"question": "What of the Danube in 1999?"},
            "number 1999",
        ),
        ("stands_alone", {"question": "What does the passage say?"}, "'the passage'"),
        ("stands_alone", {"question": "What is in this document?"}, "document"),
        ("stands_alone", {"question": "Was steht im Text?"}, "im Text"),
        ("stands_alone", {"question": "Que dit le texte ?"}, "le texte"),
        ("stands_alone", {"question": "¿Qué dice el texto?"}, "el texto"),
        ("stands_alone", {"question": "What is mentioned above?"}, "mentioned above"),
        ("length", {"question": "What?"}, "the question has 1 words"),
        ("length", {"question": "what " * 41}, "more than 40"),
        ("length", {"answer": "…"}, "the answer is empty"),
        ("length", {"answer": "word " * 151}, "more than 150"),
        ("repetition", {"answer": "the river river river"}, "repeats 'river'"),
        ("repetition", {"answer": "a b c d, a b c d, a b c d"}, "3 times"),
        ("repetition", {"answer": "It is very long. It is very long!"}, "the sentence"),
        ("repetition", {"question": "How how how long?"}, "the question repeats"),
        ("answer_refuses", {"answer": "I don't know."}, "don't"),
        ("answer_refuses", {"answer": "It is not mentioned."}, "not mentioned"),
        ("answer_refuses", {"answer": "N/A"}, "N/A"),
        ("answer_breaks_off", {"answer": "It flows through the"}, "after 'the'"),
        ("answer_copies_question", {"answer": "How long is the Danube"}, "again"),
        ("answer_copies_question", {"answer": "Is it long?"}, "is a question"),
        (
            "answer_in_question",
            {"answer": "The Danube is long."},
            "stands in the question",
        ),
        ("answer_kind", {"answer": "The Black Sea"}, "asks for a number"),
        (
            "answer_kind",
            {"question": "When was it founded?", "answer": "Vienna"},
            "a time",
        ),
        ("answer_kind", {"question": "Who founded it?", "answer": "1948"}, "a person"),
        ("answer_kind", {"question": "What is it?", "answer": "Yes."}, "yes or no"),
        (
            "answer_kind",
            {"question": "In what year?", "answer": "Long ago"},
            "a number",
        ),
        ("answer_grounded", {"answer": "2,851 km"}, "number 2,851"),
        (
            "answer_grounded",
            {"answer": "longer, wider and cleaner"},
            "0% of the answer's",
        ),
        (
            "answer_copies_evidence",
            {"evidence": "w " * 16, "answer": "w " * 16},
            "16 words",
        ),
        (
            "evidence_supports",
            {"answer": "Vienna and Belgrade"},
            "stand in its evidence",
        ),
        (
            "answer_kind",
            {
                "question": "Who invented the ICPDR?",
                "answer": "International Commission for the Protection of the Danube River",
            },
            "what 'ICPDR' stands for",
        ),
    ],
)
def test_a_fault_is_found_and_said(check, pair, said):
    assert said in (reason(check, **pair) or "")


@pytest.mark.parametrize(
    ("check", "pair"),
    [
        ("question_form", {"question": "In the end, how long is it?"}),
        ("question_form", {"question": "If it is cold, do ferries stop?"}),
        ("question_form", {"question": "The Danube flows into which sea?"}),
        ("question_form", {"question": "Describe the delta."}),
        ("question_form", {"question": "When the river freezes, what happens?"}),
        (
            "question_form",
            {"question": "¿Es largo el río?", "text": "El río es largo."},
        ),
        ("question_form", {"question": "多瑙河有多长？", "text": "多瑙河很长。"}),
        ("question_form", {"question": "这条河有多少公里", "text": "这条河很长。"}),
        ("question_form", {"question": "ما طول النهر؟", "text": "النهر طويل"}),
        (
            "question_form",  # a question that the text asks itself, as a FAQ does
            {"question": "Can I borrow a boat?", "text": "Can I borrow a boat? Yes."},
        ),
        (
            "question_form",
            {"question": "Who wrote it?", "text": "The man who wrote it."},
        ),
        (
            "question_form",
            {
                "question": "What is the boiling point of water?",
                "text": "The boiling point of water is 100 degrees at sea level.",
            },
        ),
        ("question_grounded", {"question": "What is the purpose of the Commission?"}),
        ("question_grounded", {"question": "Anything?", "text": ""}),
        ("stands_alone", {"question": "What is the section of the river called?"}),
        ("length", {"question": "多瑙河有多长？", "answer": "长"}),
        ("repetition", {"answer": "1 cup of flour, 1 cup of milk, 1 cup of sugar"}),
        ("answer_refuses", {"answer": "The answer to that is 42."}),
        ("answer_breaks_off", {"answer": "Vitamin A."}),
        ("answer_in_question", {"question": "Is it hot or cold?", "answer": "Cold"}),
        ("answer_in_question", {"question": "Is it long?", "answer": "Yes"}),
        ("answer_kind", {"answer": "Several days"}),
        (
            "answer_kind",
            {"question": "Who described MMLU?", "answer": "Dan Hendrycks"},
        ),
        ("answer_kind", {"question": "How many are there?", "answer": "A few"}),
        (
            "answer_kind",
            {"question": "When does it stop?", "answer": "in cold winters"},
        ),
        ("answer_kind", {"question": "Who may enter?", "answer": "the administrator"}),
        ("answer_kind", {"question": "Is it long?", "answer": "Yes"}),
        ("answer_kind", {"question": "Hot or cold, which is it?", "answer": "no"}),
        ("answer_kind", {"question": "?", "answer": "x"}),
        ("answer_grounded", {"answer": "10 countries and 2850 km"}),
        ("answer_grounded", {"answer": "No"}),
        ("answer_grounded", {"answer": "anything", "text": "", "evidence": ""}),
        ("answer_copies_evidence", {"evidence": "w " * 15, "answer": "w " * 15}),
        (
            "answer_copies_evidence",
            {"question": "Why so?", "evidence": "w " * 30, "answer": "w " * 30},
        ),
        ("evidence_supports", {"answer": "anything", "evidence": ""}),
        ("evidence_fits_question", {"question": "Where does the Danube end?"}),
        ("evidence_fits_question", {"question": "What is it?"}),
    ],
)
def test_what_is_like_a_fault_and_none_is_left_alone(check, pair):
    assert reason(check, **pair) is None


def test_columns_hold_the_reason_the_names_and_the_verdict():
    frame = pd.DataFrame(rows()[:2]).assign(answer=["2,850 km", "9 km"])
    checked = apply_checks(frame)
    assert checked["checks_ok"].tolist() == [True, False]
    assert checked["checks_failed"].tolist() == [
        "",
        "answer_grounded, evidence_supports",
    ]
    assert checked["check_answer_grounded"].tolist() == [
        *("", "the number 9 does not stand in the text"),
    ]
    assert [n for n in checked.columns if n.startswith("check_")] == [
        f"check_{name}" for name in CHECKS
    ]
    assert "checks_ok" not in frame.columns


def test_only_rows_that_are_ok_are_judged():
    frame = pd.DataFrame(rows()[:3]).assign(status=["ok", "truncated", None])
    checked = apply_checks(frame)
    assert checked["checks_ok"].isna().tolist() == [False, True, True]
    assert checked["checks_failed"].isna().tolist() == [False, True, True]
    assert checked["check_length"].isna().tolist() == [False, True, True]


def test_checks_whose_columns_are_missing_do_not_run_unless_they_are_asked_for():
    frame = pd.DataFrame({"question": ["Is it?"], "answer": [None]})
    checked = apply_checks(frame)
    assert "check_answer_grounded" not in checked.columns
    assert checked.loc[0, "check_length"] == "the question has 2 words, fewer than 3"
    with pytest.raises(
        FrameError, match="check answer_grounded needs the column 'text'"
    ):
        apply_checks(frame, checks=["answer_grounded"])
    with pytest.raises(FrameError, match="'answer'"):
        apply_checks(frame[["question"]])


def test_columns_of_other_names_can_be_judged():
    frame = pd.DataFrame(
        {"q": ["How long is it?"], "a": ["endless"], "chunk": ["It is 5 m."]}
    )
    checked = apply_checks(frame, question="q", answer="a", text="chunk")
    assert "answer_kind" in checked.loc[0, "checks_failed"]
    assert "answer_grounded" in checked.loc[0, "checks_failed"]


def test_a_check_of_one_s_own_sees_the_whole_row_and_may_raise():
    checks = [
        Check("source", lambda row: None if row["source"] == "a.md" else "other file"),
        Check("broken", lambda row: row["nothing"]),
        "length",
    ]
    frame = pd.DataFrame(rows()[:2]).assign(source=["a.md", "b.md"])
    checked = apply_checks(frame, checks=checks)
    assert checked["check_source"].tolist() == ["", "other file"]
    assert checked.loc[0, "check_broken"] == "check raised KeyError: 'nothing'"
    assert checked["checks_failed"].tolist() == ["broken", "source, broken"]


def test_unknown_and_repeated_checks_are_refused():
    frame = pd.DataFrame(rows()[:1])
    with pytest.raises(ConfigError, match=r"no check is named 'lengths'\n.*length"):
        apply_checks(frame, checks=["lengths"])
    with pytest.raises(ConfigError, match="two checks"):
        apply_checks(frame, checks=["length", Check("length", lambda _: None)])


def test_no_rows_give_the_columns_with_their_types():
    checked = apply_checks(pd.DataFrame(columns=["question", "answer", "text"]))
    assert str(checked["checks_ok"].dtype) == "boolean"
    assert str(checked["checks_failed"].dtype) == "string"
    assert len(checked) == 0


text = st.text(max_size=60)


@settings(deadline=None)
@given(text, text, text, text)
def test_no_text_makes_a_check_fail(question, answer, evidence, chunk):
    pair = Pair(question, answer, evidence, chunk)
    for check, _ in CHECKS.values():
        found = check(pair)
        assert found is None or found


def test_a_filtered_frame_keeps_its_own_verdicts():
    df = pd.DataFrame(
        {
            "question": ["x", "How long is the Nile?", "The Nile"],
            "answer": ["y", "6,650 kilometres", "long"],
        }
    )
    checked = apply_checks(df.iloc[[2, 1]])
    assert checked["checks_ok"].tolist() == [False, True]
    assert keep(checked)["question"].tolist() == ["How long is the Nile?"]


@pytest.mark.parametrize(
    ("question", "answer", "text"),
    [
        ("多瑙河有多长？", "2850公里", "多瑙河全长2850公里，是欧洲第二长河。"),
        ("长城是什么时候修建的？", "公元前7世纪", "长城始建于公元前7世纪。"),
        ("富士山はどこにありますか。", "静岡県と山梨県", "富士山は静岡県と山梨県にまたがる日本最高峰の山です。"),
        ("한국의 수도는 어디입니까?", "서울", "서울은 한국의 수도이다."),
        ("كم عدد الدول التي يمر بها نهر الدانوب؟", "عشر دول", "يمر نهر الدانوب بعشر دول."),
        ("Кто открыл пенициллин?", "Александр Флеминг", "Пенициллин был открыт в 1928 году Александром Флемингом."),
        ("Quem descobriu a penicilina?", "Alexander Fleming", "A penicilina foi descoberta em 1928 por Alexander Fleming."),
        ("Hoe lang is de Donau?", "2850 kilometer", "De Donau is 2850 kilometer lang."),
        ("In welcher Stadt wurde Mozart geboren?", "In Salzburg", "Wolfgang Amadeus Mozart wurde 1756 in Salzburg geboren."),
        ("Qui a découvert la pénicilline ?", "Alexander Fleming", "La pénicilline a été découverte en 1928 par Alexander Fleming."),
    ],
)  # fmt: skip
def test_good_pairs_of_other_languages_are_kept(question, answer, text):
    row = {"question": question, "answer": answer, "evidence": text, "text": text}
    checked = apply_checks(pd.DataFrame([row]))
    assert checked["checks_failed"].tolist() == [""]


def test_a_pair_from_nowhere_is_found_in_a_language_without_a_list():
    text = "多瑙河全长2850公里，是欧洲第二长河。"
    row = {"question": "谁发明了电话？", "answer": "亚历山大贝尔", "text": text}
    failed = apply_checks(pd.DataFrame([row]))["checks_failed"][0]
    assert "question_grounded" in failed
    assert "answer_grounded" in failed

"""Question-answer pairs from a chunk, each with its evidence in the document."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from synthnb.errors import ConfigError
from synthnb.fingerprint import content_hash
from synthnb.recipes import qa_prompts, qa_requests
from synthnb.recipes.base import Parsed
from synthnb.recipes.evidence import candidates, locate, normal
from synthnb.recipes.parsing import as_text, excerpt, find_json, items, read_answer
from synthnb.records import Completion, Request, Row, Sampling, Status

MAX_PAIRS = 50
_FORM_TEMPERATURE = {"sentence": 0.0, "passage": 0.7}
_TEXTS = ("question", "answer")
_SENTENCE_NUMBER = re.compile(r"(?:[^\W\d]{1,12}\s*)?[\[(#]*(\d{1,6})[\])]*\.?0?")
_NUMBERED = re.compile(r"^\[\d{1,6}\]\s*")


@dataclass(frozen=True, slots=True)
class QA:
    """Question-answer pairs, ``pairs`` of them from *each* chunk.

    Evidence by construction: where the server enforces a JSON schema, the model can
    take its evidence only from the chunk's own sentences, and writes it first, then the
    question (a question word first, ``?`` last, for English), then the answer. What
    comes back is checked against the chunk in any case: ``grounded`` tells whether the
    evidence was found, ``evidence_start`` and ``evidence_end`` say where, in characters
    of the document.

    ``form``; by default the built-in model gets the first, every other the second:

    * ``"sentence"`` (measured best for small models): one pair a request. The model
      sees one sentence, the most factual ones first, with a few worked examples, and
      chooses the answer among the sentence's phrases.
    * ``"passage"`` (for models of some billion parameters): all pairs in one request
      over the whole chunk, free answers; each pair has its own share of the sentences.

    Args:
        pairs: wanted pairs a chunk.
        form: see above.
        evidence: for passages, how the model names its evidence: ``"text"`` (copies the
            sentence), ``"number"`` (gives its number: fewer tokens, for larger models)
            or ``"check"`` (writes it freely, and it is looked up).
        top_ups: further requests, at most, for pairs that are missing.
        temperature: ``None`` takes 0 for sentences, 0.7 for passages.
        max_tokens: for one answer; ``None`` takes a cap that fits the form. A model that
            reasons needs more.
        language: of the questions and answers; ``None`` = that of the text.
        seed: of the first sample; ``None`` sends none.
        instructions: added to the system prompt.
    """

    pairs: int = 3
    form: Literal["sentence", "passage"] | None = None
    evidence: Literal["text", "number", "check"] = "text"
    top_ups: int = 2
    temperature: float | None = None
    max_tokens: int | None = None
    language: str | None = None
    seed: int | None = None
    instructions: str = ""

    step: ClassVar[str] = "qa"
    needs: ClassVar[tuple[str, ...]] = ("text",)
    fields: ClassVar[tuple[str, ...]] = (
        "question",
        "answer",
        "evidence",
        "evidence_start",
        "evidence_end",
        "grounded",
    )

    def __post_init__(self) -> None:
        """Check the arguments.

        Raises:
            ConfigError: a value that is not allowed.
        """
        if not 1 <= self.pairs <= MAX_PAIRS:
            raise ConfigError(
                f"pairs must be 1 to {MAX_PAIRS}, not {self.pairs}",
                hint="it is the number for each chunk, not for the document",
            )
        if self.top_ups < 0:
            raise ConfigError(f"top_ups must not be negative, got {self.top_ups}")
        if self.form is not None and self.form not in _FORM_TEMPERATURE:
            raise ConfigError(f"form must be sentence or passage, not {self.form!r}")
        if self.evidence not in {"text", "number", "check"}:
            raise ConfigError(
                f"evidence must be text, number or check, not {self.evidence!r}"
            )

    def suited(self, *, small: bool) -> QA:
        """Return the recipe with its form settled for a small model or another one."""
        if self.form is not None:
            return self
        return dataclasses.replace(self, form="sentence" if small else "passage")

    @property
    def wanted(self) -> int:
        """Return the number of pairs that a chunk should give."""
        return self.pairs

    def request(
        self, row: Row, earlier: Sequence[Parsed], sample_index: int
    ) -> Request | None:
        """Return the request for the pairs that are missing; ``None`` when done."""
        text = str(row.get("text") or "")
        missing = self.pairs - sum(len(parsed.items) for parsed in earlier)
        if missing <= 0 or len(earlier) >= self._max_requests or not text.strip():
            return None
        if earlier and earlier[-1].status is Status.REFUSED:
            return None  # a content filter stops the same text again, at the same price
        made = qa_requests.make(self, text, earlier, missing, sample_index)
        return Request(
            messages=made.messages,
            sampling=Sampling(
                temperature=self._temperature,
                max_tokens=self.max_tokens or made.max_tokens,
                seed=self.seed,
            ),
            schema=made.schema,
            schema_name="qa_pair" if self.form == "sentence" else "qa_pairs",
        )

    def parse(
        self, row: Row, completion: Completion, earlier: Sequence[Parsed]
    ) -> Parsed:
        """Return the pairs of one answer, with their evidence looked up."""
        answer = read_answer(completion)
        found = find_json(answer, every=True)
        if isinstance(found, Parsed):
            return found
        reader = _Reader(self, row, earlier)
        reader.read(items(found.value, (*_TEXTS, "evidence")))
        detail = reader.detail
        if found.truncated or answer.truncated:
            status = Status.TRUNCATED
            detail = "; ".join(filter(None, ("the answer was cut off", detail)))
        elif reader.pairs:
            status = Status.OK
        else:
            status = Status.SCHEMA
            detail = detail or f"no pair in the JSON: {excerpt(answer.text)}"
        return Parsed(
            status,
            items=tuple(reader.pairs),
            repaired=found.repaired or reader.repaired,
            detail=detail,
            reasoning=answer.reasoning,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the recipe as plain JSON values, with the hash of its prompts."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return {"recipe": "qa", **values, "prompts": content_hash(qa_prompts.ALL)}

    @property
    def _temperature(self) -> float:
        if self.temperature is not None:
            return self.temperature
        return _FORM_TEMPERATURE[self.form or "passage"]

    @property
    def _max_requests(self) -> int:
        return self.top_ups + (self.pairs if self.form == "sentence" else 1)


class _Reader:
    """Collects the pairs of one answer, and counts what it had to leave out."""

    def __init__(self, recipe: QA, row: Row, earlier: Sequence[Parsed]) -> None:
        self.pairs: list[dict[str, Any]] = []
        self.repaired = False
        self._text = str(row.get("text") or "")
        start = row.get("start")
        # A column that once held a missing value has its numbers as floats.
        self._offset = 0
        if isinstance(start, int | float) and start == start // 1:
            self._offset = int(start)
        self._asked = [normal(i["question"]) for p in earlier for i in p.items]
        self._missing = recipe.pairs - len(self._asked)
        self._numbers = recipe.form != "sentence" and recipe.evidence == "number"
        self._first = 1
        self._incomplete = self._repeated = self._surplus = 0

    @property
    def detail(self) -> str:
        """What was left out, in words."""
        counts = (
            (self._incomplete, "without a question or an answer"),
            (self._repeated, "asked before"),
            (self._surplus, "more than asked for"),
        )
        return "; ".join(f"{count} {what}" for count, what in counts if count)

    def read(self, listed: Sequence[Mapping[str, Any]]) -> None:
        """Take the items of the answer."""
        if self._numbers:
            # A sentence number 0 shows that the model counts from 0.
            numbers = [_number(as_text(item.get("evidence"))[0]) for item in listed]
            self._first = 0 if 0 in numbers else 1
        for item in listed:
            self.add(item)

    def add(self, item: Mapping[str, Any]) -> None:
        """Take one item of the answer, unless it is incomplete, repeated or surplus."""
        question, changed_question = as_text(item.get("question"))
        answer, changed_answer = as_text(item.get("answer"))
        key = normal(question)
        if not key or not answer.strip():
            self._incomplete += 1
        elif key in self._asked:
            self._repeated += 1
        elif len(self.pairs) >= self._missing:
            self._surplus += 1
        else:
            self._asked.append(key)
            self.repaired |= changed_question or changed_answer
            pair = {"question": question.strip(), "answer": answer.strip()}
            self.pairs.append(pair | self._evidence(item.get("evidence")))

    def _evidence(self, value: Any) -> dict[str, Any]:
        span = self._span(value)
        if span is None:
            quote = as_text(value)[0].strip() or None
            return {
                "evidence": quote,
                "evidence_start": None,
                "evidence_end": None,
                "grounded": False,
            }
        start, end = span
        return {
            "evidence": self._text[start:end],
            "evidence_start": self._offset + start,
            "evidence_end": self._offset + end,
            "grounded": True,
        }

    def _span(self, value: Any) -> tuple[int, int] | None:
        text = as_text(value)[0].strip()
        number = _number(text) if self._numbers else None
        if number is not None:
            sentences = candidates(self._text)
            place = number - self._first
            if 0 <= place < len(sentences):
                return sentences[place].start, sentences[place].end
            return None
        if self._numbers:  # the sentence itself, its number in front
            text = _NUMBERED.sub("", text)
        return locate(text, self._text)


def _number(text: str) -> int | None:
    """Return the number in "3", "[3]", "3." or "Sentence 3"; ``None`` for a text."""
    found = _SENTENCE_NUMBER.fullmatch(text.strip())
    return int(found[1]) if found else None

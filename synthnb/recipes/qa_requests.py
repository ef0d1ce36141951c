"""Messages and schema of one request for question-answer pairs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from synthnb.recipes import qa_prompts
from synthnb.recipes.answers import Task, tasks
from synthnb.recipes.base import Parsed
from synthnb.recipes.english import QUESTION_WORDS, is_english
from synthnb.recipes.evidence import candidates, normal, one_line
from synthnb.recipes.sentences import Sentence
from synthnb.records import JsonSchema, Message

if TYPE_CHECKING:
    from synthnb.recipes.qa import QA

MAX_ENUM_CHARS = 12_000
"""OpenAI's strict mode takes 15,000 characters of long enums in one schema."""
_PLAIN = r'[^?"\\\n\r\t]'
_NO_COMMA = r'[^?,"\\\n\r\t]'
"""Small models string two questions together with a comma."""
_ANY_QUESTION = r'^[^?？؟"\\\n\r\t]{4,160}[?？؟]$'
_CLOSING = re.compile("</passage", re.IGNORECASE)
_SENTENCE_TOKENS = 512
_PASSAGE_TOKENS = 512


@dataclass(frozen=True, slots=True)
class Made:
    """The parts of a request that depend on the form."""

    messages: tuple[Message, ...]
    schema: JsonSchema
    max_tokens: int


def make(
    recipe: QA, text: str, earlier: Sequence[Parsed], missing: int, sample_index: int
) -> Made:
    """Return the request for ``missing`` more pairs of ``text``."""
    sentences = candidates(text)
    if recipe.form == "sentence":
        index = sample_index * recipe.pairs + len(earlier)
        return _sentence(recipe, text, sentences, index)
    return _passage(recipe, text, sentences, earlier, missing)


def _sentence(
    recipe: QA,
    text: str,
    sentences: Sequence[Sentence],
    index: int,
) -> Made:
    """Return the request for the pair number ``index``; each asks something else."""
    shown = [one_line(sentence.text) for sentence in sentences] or [one_line(text)]
    english = _asks_in_english(recipe, text)
    if english:
        choices = tasks(shown)
        task = choices[index % len(choices)]
    else:
        task = Task(shown[index % len(shown)], (), (), 0)
    answer: JsonSchema = {"type": "string"}
    if task.answers:
        answer = {"type": "string", "enum": list(task.answers)}
    turns = [
        Message("system", _system(recipe, qa_prompts.SENTENCE_SYSTEM, english=english))
    ]
    for question, reply in qa_prompts.EXAMPLES:
        turns += [Message("user", question), Message("assistant", reply)]
    turns.append(Message("user", f"Text: {task.sentence}"))
    evidence = {"type": "string", "enum": [task.sentence]}
    schema = _pair(evidence, task.openings, answer, is_small=True)
    return Made(tuple(turns), schema, _SENTENCE_TOKENS + len(task.sentence))


def _passage(
    recipe: QA,
    text: str,
    sentences: Sequence[Sentence],
    earlier: Sequence[Parsed],
    missing: int,
) -> Made:
    openings = QUESTION_WORDS if _asks_in_english(recipe, text) else ()
    kind = _evidence_kind(recipe, sentences)
    unused = _unused(sentences, earlier)
    names = [f"pair_{number}" for number in range(1, missing + 1)]
    pairs: dict[str, Any] = {}
    for position, name in enumerate(names):
        share = unused[position::missing] or unused
        values = _evidence_values(kind, sentences, share)
        pairs[name] = _pair(values, openings, {"type": "string"})
    wanted = (
        qa_prompts.EVIDENCE_NUMBER if kind == "number" else qa_prompts.EVIDENCE_TEXT
    )
    system = _system(recipe, qa_prompts.PASSAGE_SYSTEM.format(evidence=wanted))
    user = _passage_message(kind, text, sentences, earlier, missing)
    return Made(
        (Message("system", system), Message("user", user)),
        _object(pairs),
        _PASSAGE_TOKENS * (missing + 1),
    )


def _passage_message(
    kind: str,
    text: str,
    sentences: Sequence[Sentence],
    earlier: Sequence[Parsed],
    missing: int,
) -> str:
    if kind == "number":
        lines = (f"[{n}] {one_line(s.text)}" for n, s in enumerate(sentences, 1))
        body = "\n".join(lines)
    else:
        body = text.strip()
    body = _CLOSING.sub("< /passage", body)
    asked = [item["question"] for parsed in earlier for item in parsed.items]
    already = "".join(f"\n- {question}" for question in asked)
    tail = f"\nAsked already, do not repeat:{already}" if asked else ""
    noun = "pair" if missing == 1 else "pairs"
    return f"<passage>\n{body}\n</passage>{tail}\nWrite {missing} {noun}."


def _evidence_kind(recipe: QA, sentences: Sequence[Sentence]) -> str:
    """Return the evidence form; texts that make too large a schema are only checked."""
    chars = sum(len(sentence.text) for sentence in sentences)
    if recipe.evidence == "text" and (not sentences or chars > MAX_ENUM_CHARS):
        return "check"
    return recipe.evidence


def _evidence_values(
    kind: str, sentences: Sequence[Sentence], share: Sequence[Sentence]
) -> JsonSchema:
    if kind == "number" and share:
        return {"type": "integer", "enum": [sentences.index(s) + 1 for s in share]}
    if kind == "text" and share:
        texts = dict.fromkeys(one_line(sentence.text) for sentence in share)
        return {"type": "string", "enum": list(texts)}
    return {"type": "string"}


def _unused(
    sentences: Sequence[Sentence], earlier: Sequence[Parsed]
) -> Sequence[Sentence]:
    # Compared by letters: what a model copied differs in its line breaks and marks.
    used = {
        normal(item["evidence"] or "") for parsed in earlier for item in parsed.items
    }
    return [s for s in sentences if normal(s.text) not in used] or sentences


def _asks_in_english(recipe: QA, text: str) -> bool:
    if recipe.language is None:
        return is_english(text)
    return recipe.language.lower() in {"en", "english"}


def _system(recipe: QA, prompt: str, *, english: bool = False) -> str:
    if recipe.language:
        language = qa_prompts.LANGUAGE.format(language=recipe.language)
    else:  # the worked examples are English, and so is the text: nothing to say
        language = "" if english else qa_prompts.SAME_LANGUAGE
    return "\n".join(filter(None, (prompt, language, recipe.instructions)))


def _pair(
    evidence: JsonSchema,
    openings: Sequence[str],
    answer: JsonSchema,
    *,
    is_small: bool = False,
) -> dict[str, Any]:
    pattern = _ANY_QUESTION
    if openings:
        inner = _NO_COMMA if is_small else _PLAIN
        pattern = rf"^({'|'.join(openings)}) {inner}{{8,120}}\?$"
    question = {"type": "string", "pattern": pattern}
    return _object({"evidence": evidence, "question": question, "answer": answer})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }

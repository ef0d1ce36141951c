"""What happened to one row, in words: each attempt, and why its record is as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from hashlib import blake2b
from itertools import islice

from synthnb.engine.replay import FINAL_REFUSAL, read_stored
from synthnb.engine.troubles import next_step
from synthnb.errors import RunError
from synthnb.fingerprint import canonical
from synthnb.recipes.base import Parsed, Recipe
from synthnb.records import Status
from synthnb.store import AttemptRow, RunStore
from synthnb.store.cache import CACHED
from synthnb.store.history import PastSlot, samples, slots_of_row

_RECORD_ID = re.compile("[0-9a-f]{16}")
_NEAR = 5_000
"""Row ids that are looked at for one that is spelled alike."""
_NOTES = {
    "json_object": "asked for JSON without a schema, which the server does not take",
    "prompt_only": "asked for JSON in the prompt, for the server takes no format",
    "plain_schema": "the schema was sent without what the server does not know",
    "system_folded": "the system message was put in front of the user's",
    "surrogates_replaced": "broken characters were replaced",
    "answer_from_reasoning": "the answer stood where the reasoning belongs",
    "prompt_cut_by_server": "the server cut the prompt without saying so",
    CACHED: "an earlier run's answer to the very same request, taken from the cache",
}


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """The history of one row; print it, or read its parts.

    Attributes:
        row_id: of the row.
        sample_index: the sample that was asked about; ``None`` for all of them.
        attempts: every call, oldest first.
        lines: the whole as text.
    """

    row_id: str
    sample_index: int | None
    attempts: tuple[AttemptRow, ...]
    lines: tuple[str, ...]

    def __repr__(self) -> str:
        """Return the history as text."""
        return "\n".join(self.lines)


def explain(recipe: Recipe, store: RunStore, key: str) -> Explanation:
    """Explain a record or a row, from the ledger alone.

    Args:
        recipe: reads the answers.
        store: the ledger.
        key: a ``record_id``, or a ``row_id`` for all its samples.

    Raises:
        RunError: there is no such record or row.
    """
    row_id, sample = key, None
    slots = slots_of_row(store, recipe.step, key)
    if not slots:
        row_id, sample = _find(recipe, store, key)
        slots = slots_of_row(store, recipe.step, row_id)
    chosen = [s for s in slots if sample is None or s.sample_index == sample]
    lines = [f"row {row_id!r}" + ("" if sample is None else f", sample {sample}")]
    for index in dict.fromkeys(slot.sample_index for slot in chosen):
        rounds = [slot for slot in chosen if slot.sample_index == index]
        if sample is None:
            lines.append(f"sample {index}")
        lines += _sample(recipe, store, row_id, rounds)
    attempts = tuple(a for slot in chosen for a in slot.attempts)
    return Explanation(row_id, sample, attempts, tuple(lines))


def _find(recipe: Recipe, store: RunStore, key: str) -> tuple[str, int]:
    """Return the row and sample that a record belongs to: its id is a hash of them.

    Every slot is looked at until it is found: 3 to 4 s for a million slots of three records
    (measured), where a row's id is found at once by the table's index.
    """
    if _RECORD_ID.fullmatch(key):
        for row_id, sample in samples(store, recipe.step):
            if _is_of(key, recipe.step, row_id, sample, recipe.wanted):
                return row_id, sample
    some = dict.fromkeys(r for r, _ in islice(samples(store, recipe.step), _NEAR))
    close = get_close_matches(key, some, n=3)
    msg = f"run {store.folder.name!r} has no record or row {key!r}"
    hint = f"Did you mean {' or '.join(map(repr, close))}? " if close else ""
    raise RunError(msg, hint=f"{hint}Ids stand in df['record_id'] and df['row_id'].")


def _is_of(key: str, step: str, row_id: str, sample: int, wanted: int) -> bool:
    """Whether a record is one of a slot's: ``record_id`` for each item, four times faster.

    What the ids of a slot's items have in common is hashed once.
    """
    start = b"[%b,%b,%d," % (canonical(step), canonical(row_id), sample)
    common = blake2b(start, digest_size=8)
    for item in range(wanted):
        own = common.copy()
        own.update(b"%d]" % item)
        if own.hexdigest() == key:
            return True
    return False


def _sample(
    recipe: Recipe, store: RunStore, row_id: str, rounds: list[PastSlot]
) -> Iterator[str]:
    row = store.inputs([row_id]).get(row_id, {})
    earlier: list[Parsed] = []
    for slot in rounds:
        name = "first request" if not slot.round else f"top-up request {slot.round}"
        calls = len(slot.attempts)
        yield f"  {name}: {calls} {'call' if calls == 1 else 'calls'}"
        yield from _calls(slot)
        if slot.result is None:
            yield from _open(slot)
            continue
        parsed = read_stored(recipe, row, slot.result, earlier)
        earlier.append(parsed)
        yield from _reading(slot, parsed)


def _calls(slot: PastSlot) -> Iterator[str]:
    before: AttemptRow | None = None
    for number, attempt in enumerate(slot.attempts, 1):
        waited = _between(before, attempt)
        if waited is not None and waited >= 0.05:  # noqa: PLR2004 - what a person would notice
            yield f"       waited {waited:.1f} s"
        yield f"    {number}. {attempt.started_at[11:23]} {_outcome(slot, attempt)}"
        before = attempt


def _outcome(slot: PastSlot, attempt: AttemptRow) -> str:
    parts = [f"{attempt.status}, {attempt.seconds:.2f} s"]
    if attempt.http_status is not None:
        parts.append(f"HTTP {attempt.http_status}")
    if attempt.prompt_tokens is not None or attempt.completion_tokens is not None:
        parts.append(
            f"{_number(attempt.prompt_tokens)} + "
            f"{_number(attempt.completion_tokens)} tokens"
        )
    elif attempt.http_status is not None and attempt.status == "ok":
        parts.append("tokens unknown")
    parts.append(f"at {attempt.endpoint}" if attempt.endpoint else "nothing was sent")
    if attempt.request_key != slot.request_key:
        parts.append("for an earlier prompt")
    if attempt.detail:
        parts.append(attempt.detail)
    return ", ".join(parts)


def _number(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def _between(before: AttemptRow | None, attempt: AttemptRow) -> float | None:
    if before is None:
        return None
    try:
        ended = datetime.fromisoformat(before.started_at).timestamp() + before.seconds
        return datetime.fromisoformat(attempt.started_at).timestamp() - ended
    except ValueError:
        return None


def _open(slot: PastSlot) -> Iterator[str]:
    if not slot.attempts:
        yield "       not asked yet"
        return
    status = Status(slot.attempts[-1].status)
    yield f"       no answer so far; the same cell asks again. {next_step(status)}"


def _reading(slot: PastSlot, parsed: Parsed) -> Iterator[str]:
    result = slot.result
    assert result is not None
    if result.finish_reason == FINAL_REFUSAL:
        yield f"       final: {parsed.detail or parsed.status}. {next_step(parsed.status)}"
        return
    number = len(parsed.items)
    read = f"{number} {'item' if number == 1 else 'items'}"
    model = f" by {result.model}" if result.model else ""
    end = f", ended by {result.finish_reason!r}" if result.finish_reason else ""
    yield f"       answered{model}{end}: {read}, {parsed.status}"
    if parsed.detail:
        yield f"       {parsed.detail}"
    if parsed.repaired:
        yield "       its JSON was repaired"
    for note in filter(None, result.adapted.split(",")):
        yield f"       {_NOTES.get(note, note)}"
    if parsed.status is not Status.OK:
        yield f"       → {next_step(parsed.status)}"

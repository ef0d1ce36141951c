"""From stored answers to records. Reading them again is free, so nothing parsed is kept.

The engine and ``Run.frame`` read an answer through the same two functions, so what the
monitor counts and what the frame shows cannot differ.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from synthnb.fingerprint import record_id
from synthnb.frames import INPUT
from synthnb.recipes.base import Parsed, Recipe
from synthnb.records import Completion, Request, Row, Status, Usage
from synthnb.store import RunStore, StoredResult, StoredSlot

CUT_PROMPT = "prompt_cut_by_server"
"""Mark of the client in ``Completion.adapted``: fewer prompt tokens than were sent."""

FINAL_REFUSAL = "error"
"""``finish_reason`` of a result that stands for a final error, not for an answer."""

_BATCH = 256


def next_request(
    recipe: Recipe, row: Row, earlier: Sequence[Parsed], sample_index: int
) -> Request | None:
    """Ask the recipe for the next request, each sample with a seed of its own.

    Five samples of one prompt with one seed would be the same answer five times.
    """
    request = _checked_request(recipe.request(row, earlier, sample_index))
    if request is None or not sample_index or request.sampling.seed is None:
        return request
    seed = request.sampling.seed + sample_index
    sampling = dataclasses.replace(request.sampling, seed=seed)
    return dataclasses.replace(request, sampling=sampling)


def _checked_request(request: Any) -> Request | None:
    if request is None or isinstance(request, Request):
        return request
    msg = f"request() gave a {type(request).__name__}, not a Request or None"
    raise TypeError(msg)


def read_answer(
    recipe: Recipe, row: Row, completion: Completion, earlier: Sequence[Parsed]
) -> Parsed:
    """Let the recipe parse an answer; a recipe that raises costs this row only.

    An answer to a prompt that the server cut without a word is none to what was asked.
    """
    try:
        parsed = _checked(recipe.parse(row, completion, earlier))
    except Exception as error:  # noqa: BLE001 - user code: any failure is this row's
        detail = f"the recipe's parse raised {type(error).__name__}: {error}"
        return Parsed(Status.SCHEMA, detail=detail)
    if CUT_PROMPT not in completion.adapted:
        return parsed
    cut = Status.CONTEXT
    detail = "the server cut the prompt to its context without saying so"
    return dataclasses.replace(parsed, status=cut, items_status=cut, detail=detail)


def _checked(parsed: Any) -> Parsed:
    """Find here, and not when the frame is built, what a recipe's own parse got wrong.

    Raises:
        TypeError: it is no ``Parsed``, or its items are no mappings.
    """
    if not isinstance(parsed, Parsed):
        msg = f"it gave a {type(parsed).__name__}, not a Parsed"
        raise TypeError(msg)
    items: Any = parsed.items
    if not isinstance(items, tuple | list):
        msg = f"its items are a {type(items).__name__}, not a tuple"
        raise TypeError(msg)
    for item in items:
        if not isinstance(item, Mapping):
            msg = f"an item is a {type(item).__name__}, not a mapping of fields"
            raise TypeError(msg)
    return parsed


def stored_form(completion: Completion, parsed: Parsed) -> StoredResult:
    """Return an answer as the ledger keeps it; ``completion_of`` is the way back."""
    return StoredResult(
        status=str(parsed.status),
        detail=parsed.detail,
        text=completion.text,
        reasoning=completion.reasoning,
        finish_reason=completion.finish_reason,
        model=completion.model,
        request_id=completion.request_id,
        prompt_tokens=completion.usage.prompt_tokens,
        completion_tokens=completion.usage.completion_tokens,
        estimated=completion.usage.estimated,
        adapted=",".join(completion.adapted),
    )


def completion_of(stored: StoredResult) -> Completion:
    """Return the stored answer as it came."""
    return Completion(
        text=stored.text,
        reasoning=stored.reasoning,
        finish_reason=stored.finish_reason,
        usage=Usage(
            stored.prompt_tokens, stored.completion_tokens, bool(stored.estimated)
        ),
        model=stored.model,
        request_id=stored.request_id,
        adapted=tuple(filter(None, stored.adapted.split(","))),
    )


def read_stored(
    recipe: Recipe, row: Row, stored: StoredResult, earlier: Sequence[Parsed]
) -> Parsed:
    """Parse a stored answer; a final refusal has no text and stays what it was."""
    if stored.finish_reason == FINAL_REFUSAL:
        return Parsed(Status(stored.status), detail=stored.detail)
    return read_answer(recipe, row, completion_of(stored), earlier)


def count_last(earlier: Sequence[Parsed], wanted: int) -> int:
    """Return how many items the last answer adds to what a slot has, up to ``wanted``."""
    before = sum(len(parsed.items) for parsed in earlier[:-1])
    return max(0, min(len(earlier[-1].items), wanted - before))


def count_items(earlier: Sequence[Parsed], wanted: int) -> Counter[str]:
    """Return how a slot's items are counted by status, ``wanted`` of them at most."""
    counts: Counter[str] = Counter()
    for parsed in earlier:
        if items := min(len(parsed.items), wanted - counts.total()):
            counts[str(parsed.items_status)] += items
    return counts


def count_missing(earlier: Sequence[Parsed], wanted: int) -> int:
    """Return how many rows a finished slot did not give."""
    return max(0, wanted - sum(len(parsed.items) for parsed in earlier))


def shortfall(earlier: Sequence[Parsed], items: int, wanted: int) -> tuple[Status, str]:
    """Return why a slot gave fewer items than wanted: its last answer's reason."""
    for parsed in reversed(earlier):
        if parsed.status is not Status.OK:
            return parsed.status, parsed.detail
    return Status.SCHEMA, f"{items} of {wanted} items in {len(earlier)} answers"


def replay(recipe: Recipe, store: RunStore, *, final: bool) -> Iterator[dict[str, Any]]:
    """Yield the records of the last ``generate`` call, in the order of its rows.

    Args:
        recipe: the recipe that reads the answers.
        store: the ledger.
        final: whether the run has ended, so that a slot whose calls all failed is a
            failed row rather than one still being tried.
    """
    slots = store.slots(recipe.step)
    grouped = groupby(slots, key=lambda slot: (slot.ordinal, slot.sample_index))
    batch: list[list[StoredSlot]] = []
    for _, rounds in grouped:
        batch.append(list(rounds))
        if len(batch) == _BATCH:
            yield from _records_of(recipe, store, batch, final=final)
            batch = []
    yield from _records_of(recipe, store, batch, final=final)


def count_interrupted(
    recipe: Recipe, store: RunStore, interrupted: Mapping[tuple[str, int], int]
) -> Counter[str]:
    """Count the rows that ``replay`` shows of slots that a stop left half-way.

    Args:
        recipe: the recipe that reads the answers.
        store: the ledger.
        interrupted: (row id, sample) → items that are counted already.
    """
    counts: Counter[str] = Counter()
    keys = list(interrupted)
    for at in range(0, len(keys), _BATCH):
        ids = list(dict.fromkeys(row_id for row_id, _ in keys[at : at + _BATCH]))
        slots = store.slots(recipe.step, row_ids=ids)
        grouped = groupby(slots, key=lambda slot: (slot.row_id, slot.sample_index))
        batch = [list(rounds) for key, rounds in grouped if key in interrupted]
        seen: Counter[tuple[str, int]] = Counter()
        for record in _records_of(recipe, store, batch, final=True):
            key = record["row_id"], record["sample_index"]
            seen[key] += 1
            if seen[key] > interrupted[key]:
                counts[str(record["status"])] += 1
    return counts


def _records_of(
    recipe: Recipe, store: RunStore, batch: list[list[StoredSlot]], *, final: bool
) -> Iterator[dict[str, Any]]:
    inputs = store.inputs([rounds[0].row_id for rounds in batch]) if batch else {}
    for rounds in batch:
        row = inputs.get(rounds[0].row_id, {})
        yield from _slot_records(recipe, row, rounds, final=final)


def _slot_records(
    recipe: Recipe, row: Row, rounds: list[StoredSlot], *, final: bool
) -> Iterator[dict[str, Any]]:
    earlier: list[Parsed] = []
    number = 0
    base = {
        "step": recipe.step,
        "row_id": rounds[0].row_id,
        "sample_index": rounds[0].sample_index,
        INPUT: row,
    }
    last = rounds[0]
    for last in rounds:
        if last.result is None:
            break
        parsed = read_stored(recipe, row, last.result, earlier)
        earlier.append(parsed)
        for item in parsed.items[: recipe.wanted - number]:
            call = _call_columns(last, parsed)
            yield _record(base, number, item, {"status": parsed.items_status, **call})
            number += 1
    if number >= recipe.wanted:
        return
    if last.result is None:
        if not final or last.last_status is None:
            return
        status, detail = Status(last.last_status), last.last_detail or ""
    else:
        status, detail = shortfall(earlier, number, recipe.wanted)
    call = _call_columns(last, earlier[-1] if earlier else None)
    columns = {**call, "status": status, "detail": detail}
    for missing in range(number, recipe.wanted):
        yield _record(base, missing, {}, columns)


def _call_columns(slot: StoredSlot, parsed: Parsed | None) -> dict[str, Any]:
    result = slot.result
    columns: dict[str, Any] = {"attempts": slot.attempts}
    if parsed is not None:
        columns |= {
            "detail": parsed.detail,
            "repaired": parsed.repaired,
            "reasoning": parsed.reasoning,
        }
    if result is not None:
        columns |= {
            "finish_reason": result.finish_reason,
            "model": result.model,
            "prompt_tokens": result.prompt_tokens,
            "completion_tokens": result.completion_tokens,
            "tokens_estimated": bool(result.estimated),
            "adapted": result.adapted,
        }
        if result.reasoning and not columns.get("reasoning"):
            columns["reasoning"] = result.reasoning
    return columns


def _record(
    base: Mapping[str, Any],
    number: int,
    item: Mapping[str, Any],
    columns: Mapping[str, Any],
) -> dict[str, Any]:
    key = record_id(base["step"], base["row_id"], base["sample_index"], number)
    record = {"record_id": key, **base, **item, **columns}
    if "reasoning" in item:
        # The recipe's product goes before what the model thought while it made it.
        record["reasoning"] = item["reasoning"]
    return record

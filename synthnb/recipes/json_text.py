"""Find the JSON in what a model wrote; the least invasive way that works is taken.

1. the whole text, strictly; 2. a fenced block; 3. the first balanced object or array in
the prose; 4. what was cut off: its whole items only, and ``truncated``; 5. json_repair,
and ``repaired``. The contents of strings are not touched after the parser has read
them: newlines, code and escapes stay as written. The one exception are lone surrogates,
which no file can hold: they become U+FFFD, and ``repaired`` says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from synthnb.recipes.json_scan import Scan, scan

_MAX_CHARS = 1_000_000
_MAX_REPAIR_CHARS = 200_000
"""Longer broken text is not repaired: the time grows faster than the length."""
_MAX_WORK = 4_000_000
"""Characters that are scanned for balanced brackets, over all starts together."""
_FENCE = re.compile(r"```[ \t]*[\w+-]*[ \t]*\r?\n(.*?)\n?[ \t]*```", re.DOTALL)
_START = re.compile(r"\{\s*\"|\[\s*\{")
_LOOSE_START = re.compile(r"\{\s*[\"'“\w]|\[\s*\{")
_BETWEEN = re.compile(r"[\s,;]*")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Extracted:
    """JSON found in a text.

    ``repaired``: it was not valid JSON as it stood. ``truncated``: it was cut off, and
    ``value`` is the list of the objects that were whole (perhaps none).
    """

    value: Any
    repaired: bool = False
    truncated: bool = False


def extract_json(
    text: str, *, finished: bool = False, every: bool = False
) -> Extracted | None:
    """Return the JSON in ``text``, or ``None``; never raises for what a model wrote.

    Only an object, or an array of objects, counts: "[1] see" in prose is none.

    Args:
        text: the answer, reasoning already taken out.
        finished: the server said that the model stopped by itself, so a text with open
            brackets and not one whole object is broken, not cut off, and may be
            repaired.
        every: of several values with prose between them, take the objects of all, not
            the first value alone.
    """
    text = text[:_MAX_CHARS].lstrip("\ufeff").strip()
    found = _first_valid(text)
    if found is not None and every and not found.truncated:
        found = _all_valid(text) or found
    if found is None:
        cut = _salvaged(text)
        if cut is not None and (cut.value or not finished):
            found = cut
        else:
            found = _repaired(text)
    return _without_surrogates(found) if found is not None else None


def is_wanted(value: Any) -> bool:
    """Tell whether ``value`` is an object, or an array of objects that is not empty."""
    if isinstance(value, dict):
        return True
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) for item in value)
    )


def _first_valid(text: str) -> Extracted | None:
    for candidate in (text, *(match[1].strip() for match in _FENCE.finditer(text))):
        found = _parsed(candidate)
        if found is not None:
            return found
    for start, end in _balanced(text):
        found = _parsed(text[start:end])
        if found is not None:
            return _with_followers(found, text, end)
    return None


def _all_valid(text: str) -> Extracted | None:
    """Return the objects of all values in the text; ``None`` for fewer than two."""
    values: list[Any] = []
    repaired, count, last = False, 0, 0
    for start, end in _balanced(text):
        found = _parsed(text[start:end]) if start >= last else None
        if found is None:
            continue
        values += found.value if isinstance(found.value, list) else [found.value]
        repaired, count, last = repaired or found.repaired, count + 1, end
    return Extracted(values, repaired) if count > 1 else None


def _refuse_constant(name: str) -> NoReturn:
    msg = f"{name} is no JSON"
    raise ValueError(msg)


def _load(text: str, *, strict: bool) -> Any:
    return json.loads(text, strict=strict, parse_constant=_refuse_constant)


def _parsed(text: str) -> Extracted | None:
    """Return ``text`` parsed; raw control characters in strings count as a repair."""
    if not text.startswith(("{", "[")):
        return None
    for strict in (True, False):
        try:
            value = _load(text, strict=strict)
        except (ValueError, RecursionError):
            continue
        return Extracted(value, repaired=not strict) if is_wanted(value) else None
    return None


def _balanced(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of balanced brackets in ``text``, each from a likely start."""
    work = 0
    for match in _START.finditer(text):
        result = scan(text, match.start())
        work += result.reached - match.start()
        if result.end is not None:
            yield match.start(), result.end
        if work > _MAX_WORK or (result.is_cut and _is_outer(match, text)):
            return


def _is_outer(match: re.Match[str], text: str) -> bool:
    """Tell whether cut-off JSON begins here: whole objects in it are the salvage's."""
    before = text[: match.start()].rstrip()
    return not before or before.endswith((":", "```json", "```"))


def _with_followers(found: Extracted, text: str, end: int) -> Extracted:
    """Add the objects right behind the first one: JSON lines, or a list without [ ]."""
    if not isinstance(found.value, dict):
        return found
    values, repaired = [found.value], found.repaired
    while True:
        gap = _BETWEEN.match(text, end)
        start = gap.end() if gap else end
        result = scan(text, start) if text.startswith("{", start) else None
        if result is None:
            break
        if result.end is None:
            return Extracted(values, repaired, truncated=True)
        follower = _parsed(text[start : result.end])
        if follower is None:
            break
        values.append(follower.value)
        repaired, end = repaired or follower.repaired, result.end
    return Extracted(values if len(values) > 1 else found.value, repaired)


def _salvaged(text: str) -> Extracted | None:
    """Return the whole objects of JSON that was cut off; ``None`` if nothing was cut."""
    match = _START.search(text) or re.search(r"[{\[]\s*\Z", text)
    if match is None:
        return None
    result = scan(text, match.start())
    if not result.is_cut:
        return None
    values, repaired = _whole(text, result)
    return Extracted(values, repaired, truncated=True)


def _whole(text: str, result: Scan) -> tuple[list[Any], bool]:
    """Return the whole objects in the outermost open array, else in an open object."""
    frames = sorted(result.open_frames, key=lambda frame: frame.opener != "[")
    for frame in frames:
        values: list[Any] = []
        repaired = False
        for start, end in frame.children:
            found = _parsed(text[start:end])
            if found is not None:
                inner = found.value
                values += inner if isinstance(inner, list) else [inner]
                repaired = repaired or found.repaired
        if values:
            return values, repaired
    return [], False


def _repaired(text: str) -> Extracted | None:
    """Return what json_repair makes of the text from the first likely bracket on."""
    match = _LOOSE_START.search(text)
    if match is None or ":" not in text or len(text) > _MAX_REPAIR_CHARS:
        return None
    end = scan(text, match.start()).end
    from json_repair import loads

    try:
        value = loads(text[match.start() : end], skip_json_loads=True)
    except Exception:  # noqa: BLE001 - whatever it stumbles over, there is no JSON then
        return None
    return Extracted(value, repaired=True) if value and is_wanted(value) else None


def _without_surrogates(found: Extracted) -> Extracted:
    dumped = json.dumps(found.value, ensure_ascii=False)
    if not _SURROGATE.search(dumped):
        return found
    value = json.loads(_SURROGATE.sub("\ufffd", dumped))
    return Extracted(value, repaired=True, truncated=found.truncated)

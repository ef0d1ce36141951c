"""A profile's page: figures in, one tree of ``markup`` out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from synthnb.records import Status
from synthnb.widgets.markup import Node, clip
from synthnb.widgets.profile_blocks import (
    LINE,
    QUIET,
    bars,
    bin_name,
    histogram,
    number,
    percent,
    spread,
    table,
    tile,
)
from synthnb.widgets.profile_strips import coverage_block
from synthnb.widgets.status_kinds import kind_of

Figures: TypeAlias = Mapping[str, Any]

_LISTED = 8
_NAME = 60
_ROOT = (
    "box-sizing:border-box;max-width:100%;padding:12px 16px;line-height:1.5;"
    "font-family:var(--jp-ui-font-family,system-ui,sans-serif);"
    "font-size:var(--jp-ui-font-size1,13px);color:var(--jp-ui-font-color1,inherit);"
    f"font-variant-numeric:tabular-nums;border:1px solid {LINE};border-radius:3px"
)
_GRID = (
    "display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,20em),1fr));"
    "gap:24px 32px;align-items:start"
)


def page(found: Figures, *, live: bool = False) -> Node:
    """Return the whole page.

    Args:
        found: what ``curation.profiling.figures`` gave.
        live: whether the cells of the strips can be pressed.
    """
    tiles = [drawn for draw in _TILES if (drawn := draw(found)) is not None]
    tiles[2:2] = [_length(name, f) for name, f in found["lengths"].items()]
    coverage = found["coverage"]
    return (
        "div",
        {"class": "snb-profile", "style": _ROOT},
        ("p", {"style": "margin:0 0 10px"}, ("strong", {}, "Profile"), f" {kept_line(found)}"),
        _headline(found),
        *([coverage_block(coverage, live=live)] if coverage else []),
        ("div", {"style": _GRID}, *tiles),
        *[("p", {"style": f"margin:16px 0 0;{QUIET}"}, line) for line in notes(found)],
    )  # fmt: skip


def kept_line(found: Figures) -> str:
    """Return ``210 rows, 179 kept (status ok, not rejected)``."""
    rows = f"{found['rows']:,} row{'' if found['rows'] == 1 else 's'}"
    if not found["kept_means"]:
        return f"{rows}; no column says which of them are kept"
    return f"{rows}, {found['kept']:,} kept ({', '.join(found['kept_means'])})"


def notes(found: Figures) -> list[str]:
    """Return what a reader must know of the figures, one line each."""
    said = []
    if found["missing"]:
        said.append(f"Not in this frame, so left out: {', '.join(found['missing'])}.")
    if found["repeated"]:
        names = ", ".join(clip(name, _NAME) for name in found["repeated"][:_LISTED])
        said.append(f"Columns that stand twice, the first was read: {names}.")
    return said


def _headline(found: Figures) -> Node:
    usage, coverage = found["usage"], found["coverage"]
    parts = [("rows", f"{found['rows']:,}")]
    if found["kept_means"]:
        parts.append(("kept", f"{found['kept']:,}"))
    if coverage:
        parts.append(("documents", f"{coverage['documents']:,}"))
        parts.append(
            ("chunks covered", f"{coverage['with_kept']:,} of {coverage['chunks']:,}")
        )
    if usage:
        parts.append(("tokens", f"{usage['prompt'] + usage['completion']:,}"))
        parts.append(("tokens a kept row", number(usage["per_kept_row"])))
    big = "font-size:1.6em;line-height:1.3;white-space:nowrap"
    drawn: list[Node] = [
        ("div", {}, ("div", {"style": big}, figure), ("div", {"style": QUIET}, f" {name}"))
        for name, figure in parts
    ]  # fmt: skip
    style = f"display:flex;flex-wrap:wrap;gap:8px 40px;margin:0 0 16px;padding:0 0 12px;border-bottom:1px solid {LINE}"
    return ("div", {"style": style}, *drawn)


def _status(found: Figures) -> Node | None:
    counted = found["status"]
    if counted is None:
        return None
    names = [name for name, _ in counted["values"]]
    ok = sum(n for name, n in counted["values"] if name == Status.OK)
    line = f"{ok:,} of {found['rows']:,} are ok"
    kinds = {name: kind_of(name) for name in names}
    return _tallied("Status", counted, found["rows"], line=line, kinds=kinds)


def _decision(found: Figures) -> Node | None:
    counted, rows = found["decision"], found["rows"]
    if counted is None:
        return None
    line = f"{rows - counted['missing']:,} of {rows:,} are decided"
    return _tallied("Decision", counted, rows, line=line, missing="undecided")


def _finish(found: Figures) -> Node | None:
    line = "why the model stopped, in its server's word"
    return _tallied("Finish reason", found["finish_reason"], found["rows"], line=line)


def _model(found: Figures) -> Node | None:
    line = "as the server says it"
    return _tallied("Model", found["model"], found["rows"], line=line)


def _tallied(
    title: str,
    counted: Figures | None,
    rows: int,
    *,
    line: str,
    missing: str = "missing",
    kinds: Mapping[str, str] | None = None,
) -> Node | None:
    if counted is None:
        return None
    pairs = [(name, n) for name, n in counted["values"]]
    shown, rest = pairs[:_LISTED], pairs[_LISTED:]
    if others := len(rest) + counted["others"]:
        rows_of_others = sum(n for _, n in rest) + counted["other_rows"]
        shown.append((f"{others:,} others", rows_of_others))
    if counted["missing"]:
        shown.append((missing, counted["missing"]))
        pairs.append((missing, counted["missing"]))
    listed = table(
        (title.lower(), "rows", "share"),
        [(name, f"{n:,}", percent(n, rows)) for name, n in pairs],
    )
    return tile(title, line, bars(f"{title}, rows", shown, rows, kinds), listed)


def _rating(found: Figures) -> Node | None:
    rating = found["rating"]
    if rating is None:
        return None
    return _spread_tile("Rating", rating, "", missing="not rated")


def _length(name: str, found: Figures) -> Node:
    title = f"Length of {clip(name, _NAME)}"
    return _spread_tile(title, found, "characters", missing="empty")


def _answer_tokens(found: Figures) -> Node | None:
    usage = found["usage"]
    if usage is None or not usage["answers"]["n"]:
        return None
    return _spread_tile(
        "Tokens of a call's answer", usage["answers"], "tokens", missing="unknown"
    )


def _spread_tile(title: str, found: Figures, unit: str, *, missing: str) -> Node:
    line = spread(found, unit)
    if found["missing"]:
        line += f"; {found['missing']:,} {missing}"
    keys = ("n", "missing", "min", "median", "mean", "p90", "max")
    names = ("values", missing, "least", "median", "mean", "90 % are up to", "most")
    rows = [(n, number(found.get(k))) for n, k in zip(names, keys, strict=True)]
    rows += [(bin_name(part), f"{part['n']:,}") for part in found["bins"]]
    return tile(
        title,
        line,
        histogram(title, found, unit),
        table((unit or "value", "rows"), rows),
    )


def _duplicates(found: Figures) -> Node | None:
    duplicates = found["duplicates"]
    if duplicates is None:
        return None
    rows, groups, total = duplicates["rows"], duplicates["groups"], found["rows"]
    line = "none found"
    if rows:
        line = f"{rows:,} repeat another row, in {groups:,} group{'' if groups == 1 else 's'}; the largest has {duplicates['largest']:,}"
    pairs = [("unlike all others", total - rows), ("repeats another", rows)]
    listed = [("rows that repeat another", f"{rows:,}"), ("groups", f"{groups:,}"),
              ("rows in the largest group", f"{duplicates['largest']:,}")]  # fmt: skip
    return tile(
        "Duplicates",
        line,
        bars("Duplicates, rows", pairs, total),
        table(("what", "count"), listed),
    )


def _language(found: Figures) -> Node | None:
    language = found["language"]
    if language is None or not language["of"]:
        return None
    looked, of = language["looked_at"], language["of"]
    line = "guessed from frequent words and script"
    if looked < of:
        line += f", {looked:,} of {of:,} rows looked at"
    pairs = [(name, n) for name, n in language["values"]]
    rest = sum(n for _, n in pairs[_LISTED:])
    shown = [*pairs[:_LISTED], *([("others", rest)] if rest else [])]
    rows = [(name, f"{n:,}", percent(n, looked)) for name, n in pairs]
    return tile(
        "Language",
        line,
        bars("Language, rows", shown, looked),
        table(("language", "rows", "share"), rows),
    )


def _shares(found: Figures) -> Node | None:
    shares = found["shares"]
    if not shares:
        return None
    title = "How the answers came"
    rows = [
        (name, f"{s['yes']:,}", f"{s['known']:,}", percent(s["yes"], s["known"]))
        for name, s in shares.items()
    ]
    line = "; ".join(f"{name}: {_MEANING[name]}" for name in shares)
    pairs = [(name, s["yes"]) for name, s in shares.items()]
    drawn = bars(f"{title}, rows", pairs, found["rows"])
    return tile(title, line, drawn, table(("what", "rows", "of", "share"), rows))


_MEANING = {
    "repaired": "its JSON was mended",
    "adapted": "sent differently",
    "grounded": "its evidence stands in the chunk",
}


def _tokens(found: Figures) -> Node | None:
    usage = found["usage"]
    if usage is None:
        return None
    total = usage["prompt"] + usage["completion"]
    pairs = [("prompt", usage["prompt"]), ("completion", usage["completion"])]
    return tile(
        "Tokens",
        usage_line(usage),
        bars("Tokens", pairs, total),
        table(("what", "tokens"), usage_rows(usage)),
    )


def usage_line(usage: Figures) -> str:
    """Return what the tokens were counted from, and that no price is known."""
    calls = f"{usage['calls']:,} call{'' if usage['calls'] == 1 else 's'}"
    base = (
        f"each row taken for a call ({calls})"
        if usage["by_row"]
        else f"{calls}, each counted once"
    )
    parts = [base]
    if usage["estimated"]["calls"]:
        parts.append(f"{usage['estimated']['calls']:,} estimated")
    if usage["unknown"]:
        parts.append(f"{usage['unknown']:,} unknown")
    return f"{', '.join(parts)}; no prices are known here, so the cost is in tokens"


def usage_rows(usage: Figures) -> list[tuple[str, str]]:
    """Return the token figures, named."""
    guessed = usage["estimated"]
    return [
        ("prompt", f"{usage['prompt']:,}"),
        ("completion", f"{usage['completion']:,}"),
        ("prompt, estimated part", f"{guessed['prompt']:,}"),
        ("completion, estimated part", f"{guessed['completion']:,}"),
        ("calls", f"{usage['calls']:,}"),
        ("calls without a count", f"{usage['unknown']:,}"),
        ("tokens a kept row", number(usage["per_kept_row"])),
    ]


_TILES: tuple[Callable[[Figures], Node | None], ...] = (
    _status, _decision, _answer_tokens, _rating, _duplicates, _finish, _language,
    _shares, _model, _tokens,
)  # fmt: skip

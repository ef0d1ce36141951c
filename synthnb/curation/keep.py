"""What is kept of a frame, and how many rows each filter dropped, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from synthnb.errors import FrameError
from synthnb.frames import require, rows_of

if TYPE_CHECKING:
    import pandas as pd

_Reason = Callable[[Mapping[str, Any]], str | None]
_CARRIED = ("run_folder", "fields", "rating_scale")
"""What a frame tells of its run: where decisions are kept, what is reviewed."""


def keep(
    df: pd.DataFrame,
    *,
    status: str | None = "ok",
    checks: bool = True,
    min_rating: float | None = None,
    duplicates: bool = False,
    decision: str | None = None,
) -> pd.DataFrame:
    """Return the rows that pass every filter, and count what each of them dropped.

    The filters are applied in this order, and a row counts under the first that drops
    it: status, checks, rating, decision, duplicates. Duplicates come last, so that of
    each group one row stays even where the record that was to stay fell out before.

    Args:
        df: records.
        status: the status to keep; ``None`` keeps all.
        checks: keep only rows that passed ``apply_checks``.
        min_rating: keep ratings from here up; a row without a rating is dropped.
        duplicates: whether to keep the rows that ``deduplicate`` marked.
        decision: keep only rows with this decision, e.g. ``"accept"``.

    Returns:
        A new frame with a fresh index. ``attrs`` holds ``dropped`` (reason → count, in
        order), ``kept`` and ``of``, which add up, and ``not_applied``: the filters that
        had no column to look at.

    Raises:
        FrameError: ``min_rating`` or ``decision`` is given and the column is not there,
            or a rating is no number.
    """
    require(df, (), "keep")
    if min_rating is not None:
        require(df, ["rating"], "keep(min_rating=...)")
    if decision is not None:
        require(df, ["decision"], "keep(decision=...)")
    wanted: list[tuple[str, str, bool, _Reason]] = [
        ("status", "status", status is not None, _by_status(status)),
        ("checks", "checks_ok", checks, _by_checks),
        ("rating", "rating", min_rating is not None, _by_rating(min_rating or 0.0)),
        ("decision", "decision", decision is not None, _by_decision(decision)),
    ]
    chosen = [reason for _, col, on, reason in wanted if on and col in df.columns]
    rows = list(rows_of(df))
    reasons = [next(filter(None, (r(row) for r in chosen)), None) for row in rows]
    if not duplicates and "duplicate_of" in df.columns:
        _mark_duplicates(rows, reasons)
    places = [i for i, reason in enumerate(reasons) if reason is None]
    kept = df.iloc[places].reset_index(drop=True)
    counts = Counter(reason for reason in reasons if reason is not None)
    missing = [name for name, col, on, _ in wanted if on and col not in df.columns]
    if not duplicates and "duplicate_of" not in df.columns:
        missing.append("duplicates")
    kept.attrs = {
        **{name: df.attrs[name] for name in _CARRIED if name in df.attrs},
        "dropped": dict(sorted(counts.items(), key=lambda item: _place(item[0]))),
        "kept": len(kept),
        "of": len(df),
        "not_applied": missing,
    }
    return kept


def dropped_report(df: pd.DataFrame) -> str:
    """Return as text what ``keep`` dropped from the frame that it returned.

    Raises:
        FrameError: ``df`` does not come from ``keep``.
    """
    if "dropped" not in df.attrs:
        require(df, ["attrs['dropped']"], "dropped_report")
    lines = [f"kept {df.attrs['kept']} of {df.attrs['of']}"]
    width = max((len(reason) for reason in df.attrs["dropped"]), default=0)
    lines += [f"  {reason:<{width}}  {n}" for reason, n in df.attrs["dropped"].items()]
    if df.attrs["not_applied"]:
        lines.append(f"  not applied: {', '.join(df.attrs['not_applied'])}")
    return "\n".join(lines)


_ORDER = (
    "status",
    "check",
    "no rating",
    "rating",
    "no decision",
    "decision",
    "duplicate",
)


def _place(reason: str) -> int:
    return next(i for i, start in enumerate(_ORDER) if reason.startswith(start))


def _by_status(status: str | None) -> _Reason:
    def reason(row: Mapping[str, Any]) -> str | None:
        found = row["status"]
        return None if found == status else f"status {found or 'missing'}"

    return reason


def _by_checks(row: Mapping[str, Any]) -> str | None:
    if row["checks_ok"] is None:
        return "check not run"
    if row["checks_ok"]:
        return None
    return f"check {str(row.get('checks_failed') or 'failed').partition(', ')[0]}"


def _by_rating(least: float) -> _Reason:
    def reason(row: Mapping[str, Any]) -> str | None:
        if row["rating"] is None:
            return "no rating"
        try:
            rating = float(row["rating"])  # a frame read back may hold "8"
        except (TypeError, ValueError):
            raise FrameError(
                f"the rating {row['rating']!r} is no number",
                hint="df['rating'] = pd.to_numeric(df['rating'], errors='coerce')",
            ) from None
        return None if rating >= least else f"rating below {least:g}"

    return reason


def _by_decision(decision: str | None) -> _Reason:
    def reason(row: Mapping[str, Any]) -> str | None:
        found = row["decision"]
        if found is None:
            return "no decision"
        return None if found == decision else f"decision {found}"

    return reason


def _mark_duplicates(rows: list[dict[str, Any]], reasons: list[str | None]) -> None:
    """Drop all but one of each group's remaining rows: its leader, else its first."""
    alive = [i for i, reason in enumerate(reasons) if reason is None]
    leaders = {
        str(
            rows[i]["record_id"]
        )  # duplicate_of is text; a person's own ids may be numbers
        for i in alive
        if rows[i].get("record_id") is not None and rows[i]["duplicate_of"] is None
    }
    for i in alive:
        group = rows[i]["duplicate_of"]
        if group is None:
            continue
        if group in leaders:
            reasons[i] = "duplicate"
        leaders.add(group)

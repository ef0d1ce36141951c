"""What a review shows: its state, its rows, one record, the judge beside the person."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synthnb.curation.decided_frame import doubts
from synthnb.curation.identity import record_key
from synthnb.errors import ConfigError, StoreError
from synthnb.reviewing.fields import field_columns
from synthnb.reviewing.gesture import Records
from synthnb.reviewing.live import live_log
from synthnb.reviewing.where import log_folder
from synthnb.reviewing.who import decider
from synthnb.widgets.review_filter import SORTS, Filter
from synthnb.widgets.review_judge import first_threshold, judge, scale
from synthnb.widgets.review_order import Order
from synthnb.widgets.review_record import card, duplicate_key
from synthnb.widgets.review_rows import Rows
from synthnb.widgets.review_text import mended, text_of
from synthnb.widgets.review_words import step_words

if TYPE_CHECKING:
    import pandas as pd

_log = logging.getLogger(__name__)

Answer = dict[str, Any]
Changed = Callable[[Answer], None]

_PAGE = 1_000
"""The most rows of one answer."""
_PUSHED = 200
"""The most rows that a push names; of more it says "many"."""
_NAMES = 1_000
"""The most names of a filter."""


class ReviewReading:
    """Holds a frame as it was, the log of decisions, and a view of filter and sort.

    Every method may be called from any thread; all that use one log in this process take
    turns.

    Attributes:
        live: the log with its replay.
        by: who decides here.
        order: what is shown.
    """

    def __init__(
        self,
        df: pd.DataFrame,
        *,
        name: str | None = None,
        folder: str | Path | None = None,
        by: str | None = None,
        fields: Iterable[str] | None = None,
        changed: Changed | None = None,
    ) -> None:
        """Take a snapshot of ``df``.

        Args:
            df: records, as in ``review``.
            name: the run's name, where its log lies.
            folder: where the log lies, in place of ``name``.
            by: who decides; default: the system's user.
            fields: the columns under review; default: the recipe's.
            changed: told the content of a ``changed`` push after each step, whoever
                made it. It must not wait for this model.

        Raises:
            FrameError: the frame cannot be reviewed.
            StoreError: the log cannot be read.
        """
        records = Records(df, "review")
        chosen = field_columns(records.df, fields)
        records.df = records.df.copy()
        self.records = records
        self.by = decider(by)
        self.live = live_log(
            log_folder(records.df, records.keys, name=name, folder=folder)
        )
        self.changed = changed
        with self.live.lock:
            self.live.sync()
            self._rows = Rows(records, self.live.book, chosen)
            self.live.subscribe(self._heard)
            self.order = Order(self._rows)
        self._current: int | None = None

    def open(self) -> Answer:
        """Return all that a page needs to begin."""
        with self.live.lock:
            self._try_sync()
            rows = self._rows
            threshold = first_threshold(rows)
            statuses, sources = self._names("status"), self._names("source")
            return {
                "state": self.state(),
                "filter": self.order.filter.to_json(),
                "selected": self.order.selected(self._current),
                "fields": [mended(name) for name in rows.fields],
                "options": {
                    "statuses": statuses,
                    "sorts": self._sorts(),
                    "sources": sources,
                },
                "has": {
                    "rating": threshold is not None,
                    "duplicates": bool(rows.duplicate.any()),
                    "evidence": rows.has("evidence"),
                    "status": bool(statuses),
                },
                "scale": scale(rows),
                "judge": None
                if threshold is None
                else judge(rows, self.order.places, threshold),
                "problem": self.problem(),
            }

    def state(self) -> Answer:
        """Return the counts, what an undo would take back, and where the log lies."""
        import numpy as np

        with self.live.lock:
            last = self.live.book.last_standing(self.by)
            todo, accept, reject = np.bincount(
                self._rows.decision, minlength=3
            ).tolist()
            return {
                "total": self._rows.n,
                "matching": len(self.order),
                "counts": {"accept": accept, "reject": reject, "todo": todo},
                "undo": None if last is None else step_words(last, self._rows),
                "by": mended(self.by),
                "log": _short(self.live.path),
                "version": self.order.version,
            }

    def rows(self, start: int, end: int) -> Answer:
        """Return the rows from ``start`` up to before ``end`` of the view."""
        with self.live.lock:
            self._try_sync()
            start = max(0, whole(start, "start"))
            end = min(whole(end, "end"), start + _PAGE)
            places = self.order.places[start:end].tolist()
            listed = [self._rows.row(p, i) for i, p in enumerate(places, start)]
            return {"version": self.order.version, "rows": listed}

    def record(
        self, i: int | None = None, record_id: Any = None, looked_at: Any = None
    ) -> Answer:
        """Return one record, by its place in the view or its id.

        Args:
            i: its place in the view.
            record_id: its id, in place of ``i``.
            looked_at: the record that the person sees meanwhile, where this one is only
                fetched ahead.

        Raises:
            ConfigError: no such place in the view.
            FrameError: no such record.
        """
        with self.live.lock:
            self._try_sync()
            place = (
                self.order.at(whole(i, "i"))
                if record_id is None
                else self._place(record_id)
            )
            self._current = place if looked_at is None else self._place(looked_at)
            at = self.order.index(place)
            told = card(self._rows, place)
            return {
                "i": at,
                **told,
                "row": self._rows.row(place, at),
                "duplicate": self._duplicate(place),
            }

    def next(self, start: int | None = None, *, back: bool = False) -> Answer:
        """Return the next undecided place of the view, round the end if need be."""
        with self.live.lock:
            self._try_sync()
            return {"i": self.order.next(place_or_none(start), back=back)}

    def judge(self, threshold: float | None = None) -> Answer:
        """Return what the ratings and the person's decisions say about a threshold.

        Raises:
            ConfigError: no row is rated.
        """
        with self.live.lock:
            self._try_sync()
            return judge(self._rows, self.order.places, self._threshold(threshold))

    def sync(self) -> Answer:
        """Take up what other processes wrote.

        Raises:
            StoreError: the log cannot be read.
        """
        with self.live.lock:
            self.live.sync()
            return {"state": self.state()}

    def set_filter(self, values: Mapping[str, Any]) -> Answer:
        """Change what is shown; what is not named stays as it is.

        Raises:
            ConfigError: an unknown name or a value that it cannot have.
        """
        with self.live.lock:
            self._try_sync()
            self.order.change(values)
            return {
                "state": self.state(),
                "filter": self.order.filter.to_json(),
                "selected": self.order.selected(self._current),
            }

    def reset_filter(self, values: Mapping[str, Any]) -> None:
        """Show what ``values`` say and nothing else, on every page too.

        Raises:
            ConfigError: as ``set_filter``.
        """
        with self.live.lock:
            wanted = Filter().changed(values).to_json()
            answer = self.set_filter(wanted)
            self._tell({**answer, "rows": None})

    def first_rows(
        self, most: int, fields: int
    ) -> tuple[list[str], list[tuple[str | None, list[str]]]]:
        """Return the first fields' names, and decision and texts of the first rows."""
        with self.live.lock:
            names = self._rows.fields[:fields]
            rows = [
                (
                    self._rows.word(place),
                    [mended(text_of(self._rows.shown(place, name))) for name in names],
                )
                for place in range(min(most, self._rows.n))
            ]
            return [mended(name) for name in names], rows

    def problem(self) -> str | None:
        """Return what a person should know before they begin."""
        if told := self.live.problem():
            return told
        with self.live.lock:
            return "\n".join(doubts(self.records.df, self.live.book)) or None

    def _heard(self, touched: set[str]) -> None:
        """Take what anybody said; called under the log's lock."""
        places = self._rows.update(touched)
        if self.changed is None:
            return
        rows = None
        if len(places) <= _PUSHED:
            rows = [self._rows.row(place, self.order.index(place)) for place in places]
        self._tell({"state": self.state(), "rows": rows})

    def _tell(self, content: Answer) -> None:
        if self.changed is None:
            return
        try:
            self.changed(content)
        except Exception:  # noqa: BLE001 - logged, and the page asks again
            # The step is on disk: a page that cannot be told must not make it look lost.
            _log.exception("a view could not be told of a change")

    def _try_sync(self) -> None:
        """Take up what others wrote. Where it cannot be read, the next decision says so."""
        with suppress(StoreError):
            self.live.sync()

    def _known(self, key: str) -> int | None:
        return self.records.places.get(key)

    def _place(self, record_id: Any) -> int:
        return self.records.places[self.records.key(record_id)]

    def _threshold(self, value: Any) -> float:
        if value is None:
            value = first_threshold(self._rows)
        if value is None:
            raise ConfigError(
                "no row has a rating", hint="Rate them first: sn.rate(df, provider)"
            )
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ConfigError(f"the threshold is a number, not {value!r}")
        return float(value)

    def _names(self, column: str) -> list[list[Any]]:
        import numpy as np

        codes, names = self._rows.names(column)
        counts = np.bincount(codes[codes >= 0], minlength=len(names)).tolist()
        pairs = sorted(zip(counts, names, strict=True), key=lambda pair: -pair[0])
        return [[name, n] for n, name in pairs[:_NAMES]]

    def _sorts(self) -> list[list[str]]:
        needs = {"rating": self._rows.has("rating"), "source": self._rows.has("source")}
        return [[key, label] for key, label in SORTS.items() if needs.get(key, True)]

    def _duplicate(self, place: int) -> Answer | None:
        key = record_key(duplicate_key(self._rows, place))
        if key is None:
            return None
        other = self._known(key)
        if other is None:
            return {"id": key, "i": None, "title": f"record {key}, not in this frame"}
        return {
            "id": key,
            "i": self.order.index(other),
            "title": self._rows.title(other),
        }


def whole(value: Any, name: str) -> int:
    """Return a whole number that came from a page.

    Raises:
        ConfigError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise ConfigError(f"{name} is a whole number, not {value!r}")
    return value


def place_or_none(value: Any) -> int | None:
    """Return a place that came from a page, which may have named none."""
    return None if value is None else whole(value, "from")


def _short(path: Path) -> str:
    """Return a path as people say it: from here, or from home."""
    for base, sign in ((Path.cwd(), ""), (Path.home(), "~/")):
        with suppress(ValueError, RuntimeError):
            return mended(f"{sign}{path.relative_to(base).as_posix()}")
    return mended(os.fspath(path))

"""The ledger of one run: a folder with ``run.sqlite`` and ``recipe.json``."""

from __future__ import annotations

import json
import math
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from synthnb import forked
from synthnb.errors import StoreError
from synthnb.store import schema
from synthnb.store.connection import connect, journal_mode, translate
from synthnb.store.files import prepare_folder
from synthnb.store.lock import RunLock
from synthnb.store.manifest import Manifest
from synthnb.store.rows import (
    AttemptRow,
    ResultRow,
    SlotRow,
    StoredResult,
    StoredSlot,
)
from synthnb.store.writer import Entry, Statements, Writer

Results = dict[str, StoredResult]
"""The answers of a slot by request key."""


def _nothing(_: Any) -> None:
    """Stand in for a callback that nobody asked for."""


class RunStore:
    """Append-only ledger; one writer, many readers.

    Reading methods work before, during and after the run, from any thread; each opens
    its own connection, so it sees a consistent snapshot of what was committed.
    """

    def __init__(self, folder: Path) -> None:
        """Name the folder; ``open`` makes and takes it."""
        self.folder = folder
        self.path = folder / "run.sqlite"
        self._lock = RunLock(folder)
        self._writer: Writer | None = None
        self._is_copy = False
        self._next_id = 1
        self.generation = 0
        self.fresh = True
        """Whether there was nothing in the ledger when it was opened."""
        self.missing = ""
        """What was saved once and was not there when it was opened, in words."""
        forked.guard(self)

    def forked(self) -> None:
        """Write no more in a forked child: thread, database and lock are its parent's."""
        if self._writer is not None:
            forked.keep(self._writer, self._lock)
            self._writer, self._is_copy = None, True

    def open(
        self,
        *,
        on_commit: Callable[[list[Any]], None] = _nothing,
        on_trouble: Callable[[StoreError | None], None] = _nothing,
    ) -> None:
        """Take the folder and start the writer.

        Raises:
            StoreError: it cannot be written, is locked, damaged or too new.
        """
        prepare_folder(self.folder)
        self._lock.acquire()
        try:
            manifest = Manifest(self.path)
            try:
                writer = self._writer_of(manifest, on_commit, on_trouble)
            except BaseException:
                manifest.close()
                raise
        except BaseException:
            self._lock.release()
            raise
        self._writer = writer
        writer.start()
        self.put_meta("generation", str(self.generation))

    def _writer_of(
        self,
        manifest: Manifest,
        on_commit: Callable[[list[Any]], None],
        on_trouble: Callable[[StoreError | None], None],
    ) -> Writer:
        if manifest.must_come_first:
            manifest.check()
        writer = Writer(
            self.path,
            manifest=manifest,
            may_write=self._lock.check,
            on_commit=on_commit,
            on_trouble=on_trouble,
        )
        try:
            self._take_up(manifest)
        except BaseException:
            writer.discard()
            raise
        return writer

    def _take_up(self, manifest: Manifest) -> None:
        with self.reading() as db:
            self.missing = manifest.missing(db)
            highest = db.execute("SELECT coalesce(max(id), 0) FROM slot").fetchone()[0]
        self.fresh = highest == 0
        self._next_id = highest + 1
        self.generation = self.last_generation() + 1

    def close(self) -> None:
        """Write what is queued and give the folder back; harmless when repeated.

        Waits for room on a full disk unless ``abandon`` was or is called meanwhile.

        Raises:
            StoreError: something could not be written.
        """
        try:
            if self._writer is not None:
                self._writer.close()
        finally:
            self._writer = None
            self._lock.release()

    def abandon(self) -> None:
        """Give up what cannot be written now; ``close`` then says how much that was."""
        if self._writer:
            self._writer.abandon()

    # writing ---------------------------------------------------------------------------

    @property
    def pending(self) -> int:
        """Entries handed over and not yet committed."""
        return self._writer.pending if self._writer else 0

    @property
    def has_failed(self) -> bool:
        """Whether writing has ended for good; ``close`` then says why."""
        return self._writer is not None and self._writer.error is not None

    def new_slot_id(self) -> int:
        """Return the next free slot id; ids rise, so inserts append to the table."""
        slot_id, self._next_id = self._next_id, self._next_id + 1
        return slot_id

    def put_slot(self, slot: SlotRow, row: Mapping[str, Any] | None) -> None:
        """Record that an answer is wanted, with its input row where it is new."""
        self._put(Entry(_slot_statements, values=(slot, row)))

    def put_attempt(
        self, attempt: AttemptRow, result: ResultRow | None, ticket: Any = None
    ) -> None:
        """Record a call, and in the same transaction the answer it gave, if any.

        The first answer of a slot wins: a later one adds its attempt only.
        """
        statements: list[tuple[str, tuple[Any, ...]]] = [(schema.PUT_ATTEMPT, attempt)]
        if result is not None:
            statements.append((schema.PUT_RESULT, _flat(result)))
        self._put(Entry(statements, ticket))

    def put_answer(
        self,
        build: Callable[..., tuple[AttemptRow, ResultRow]],
        *values: Any,
        ticket: Any,
    ) -> None:
        """Record a call that was answered; ``build`` runs in the writer's thread."""
        self._put(Entry(_answer_statements, ticket, (build, values)))

    def put_result(self, result: ResultRow) -> None:
        """Record a final refusal, whose attempt is already recorded."""
        self._put(Entry([(schema.PUT_RESULT, _flat(result))]))

    def put_meta(self, key: str, value: str) -> None:
        """Record a fact about the run as a whole."""
        self._put(Entry([(schema.PUT_META, (key, value))]))

    def flush(self) -> None:
        """Wait until everything handed over is on disk.

        Raises:
            StoreError: the ledger is damaged, or writing has failed for good.
        """
        self._check_owner()
        if self._writer:
            self._writer.flush()

    def _put(self, entry: Entry) -> None:
        if self._writer is None:
            self._check_owner()
            msg = f"the run in {self.folder} is closed"
            raise StoreError(msg, hint="Start it again with the same cell.")
        if self._writer.error:
            raise self._writer.error
        self._writer.put(entry)

    def _check_owner(self) -> None:
        if self._is_copy:
            raise forked.refusal(f"the ledger {self.path}")

    def write_recipe(self, description: Mapping[str, Any]) -> None:
        """Write ``recipe.json`` (frozen recipe, model, versions; no secret) whole.

        Raises:
            StoreError: there is no room, or the folder cannot be written.
        """
        text = json.dumps(
            description, ensure_ascii=False, indent=2, sort_keys=True, default=str
        )
        target = self.folder / "recipe.json"
        try:
            _write_whole(target, text + "\n")
        except OSError as error:
            msg = f"{target} cannot be written: {error.strerror or error}"
            hint = "Free some space or check the folder's permissions, then run again."
            raise StoreError(msg, hint=hint) from error

    # reading ---------------------------------------------------------------------------

    def journal_mode(self) -> str:
        """Return ``WAL`` or ``DELETE``: what the file system allows."""
        return journal_mode(self.path)

    def last_generation(self) -> int:
        """Return the number of the last ``generate`` call on this ledger, from 1."""
        with self.reading() as db:
            query = "SELECT value FROM meta WHERE key = 'generation'"
            found = db.execute(query).fetchone()
        return int(found[0]) if found else 0

    def known(
        self, step: str, row_ids: Sequence[str], samples: Sequence[int] | None = None
    ) -> dict[tuple[str, int, int], tuple[int, Results]]:
        """Return what the ledger has for some rows, of all or of some samples.

        Returns:
            (row_id, sample_index, round) → (slot id, results by request key).
        """
        marks, only = ",".join("?" * len(row_ids)), ""
        values: tuple[Any, ...] = (step, *row_ids)
        if samples is not None:
            only = f" AND s.sample_index IN ({','.join('?' * len(samples))})"
            values += tuple(samples)
        with self.reading() as db:
            slots = db.execute(
                schema.KNOWN_SLOTS.format(marks=marks) + only, values
            ).fetchall()
            found = db.execute(
                schema.KNOWN_RESULTS.format(marks=marks) + only, values
            ).fetchall()
        results: dict[int, Results] = {}
        for slot_id, key, *columns in found:
            results.setdefault(slot_id, {})[key] = StoredResult(*columns)
        return {
            (row_id, sample, round_): (slot_id, results.get(slot_id, {}))
            for slot_id, row_id, sample, round_ in slots
        }

    def slots(
        self,
        step: str,
        generation: int | None = None,
        *,
        row_ids: Sequence[str] | None = None,
    ) -> Iterator[StoredSlot]:
        """Yield the slots of one ``generate`` call in the order of its rows.

        The rounds of a slot follow each other. Default: the last call, all its rows.
        """
        only, ids = "", tuple(row_ids or ())
        if row_ids is not None:
            only = f" AND s.row_id IN ({','.join('?' * len(ids))})"
        query = schema.GENERATION_SLOTS.format(only=only)
        wanted = self.last_generation() if generation is None else generation
        with self.reading() as db:
            for row in db.execute(query, (wanted, step, *ids)):
                result = StoredResult(*row[9:]) if row[9] is not None else None
                yield StoredSlot._make((*row[:6], result, *row[6:9]))

    def inputs(self, row_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return the input rows with these ids."""
        marks = ",".join("?" * len(row_ids))
        query = f"SELECT row_id, data FROM input WHERE row_id IN ({marks})"  # noqa: S608 - only question marks are put in
        with self.reading() as db:
            return {key: json.loads(data) for key, data in db.execute(query, row_ids)}

    def pace(self) -> tuple[int, float, float, float] | None:
        """Return what answers took so far; ``None`` before any.

        Returns:
            (answers, mean answer tokens, mean seconds, answers a slot).
        """
        query = (
            "SELECT count(*), avg(a.completion_tokens), avg(a.seconds),"
            " count(*) * 1.0 / max(1, sum(s.round = 0))"
            " FROM attempt a JOIN slot s ON s.id = a.slot_id"
            " WHERE a.completion_tokens IS NOT NULL"
        )
        if not self.path.exists():
            return None
        with self.reading() as db:
            answers, tokens, seconds, calls = db.execute(query).fetchone()
        return (answers, tokens, seconds, calls) if answers else None

    def cost(self) -> tuple[int, int, int]:
        """Return (calls, prompt tokens, completion tokens) of all attempts ever made."""
        query = (
            "SELECT count(*), coalesce(sum(prompt_tokens), 0),"
            " coalesce(sum(completion_tokens), 0) FROM attempt WHERE endpoint <> ''"
        )
        with self.reading() as db:
            calls, prompt, completion = db.execute(query).fetchone()
        return calls, prompt, completion

    def reading(self) -> _Reading:
        """Return a read-only connection for the length of a ``with`` block."""
        return _Reading(self.path)


class _Reading:
    """A read-only connection for the length of a ``with`` block."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> sqlite3.Connection:
        if not self._path.exists():
            msg = f"there is no run at {self._path.parent}"
            raise StoreError(msg, hint="Look at the names in the runs/ folder.")
        self._db = connect(self._path, write=False)
        return self._db

    def __exit__(
        self, kind: object, error: BaseException | None, trace: object
    ) -> None:
        self._db.close()
        if isinstance(error, sqlite3.Error):
            raise translate(error, self._path) from error


def _slot_statements(slot: SlotRow, row: Mapping[str, Any] | None) -> Statements:
    statements: list[tuple[str, tuple[Any, ...]]] = [(schema.PUT_SLOT, slot)]
    if row is not None:
        statements.append((schema.PUT_INPUT, (slot.row_id, _as_json(row))))
    return statements


def _answer_statements(
    build: Callable[..., tuple[AttemptRow, ResultRow]], values: tuple[Any, ...]
) -> Statements:
    attempt, result = build(*values)
    return (schema.PUT_ATTEMPT, attempt), (schema.PUT_RESULT, _flat(result))


def _as_json(row: Mapping[str, Any]) -> str:
    try:
        text = orjson.dumps(row, default=str).decode()
    except orjson.JSONEncodeError:  # a lone surrogate, a very large integer
        return json.dumps(dict(row), ensure_ascii=False, default=str)
    if "null" in text and _has_infinite(row):  # which orjson writes as null
        return json.dumps(dict(row), ensure_ascii=False, default=str)
    return text


def _has_infinite(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_infinite, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_has_infinite, value))
    return isinstance(value, float) and math.isinf(value)


def _write_whole(target: Path, text: str) -> None:
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".recipe-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _flat(result: ResultRow) -> tuple[Any, ...]:
    return (result.slot_id, result.request_key, *result.answer, result.created_at)

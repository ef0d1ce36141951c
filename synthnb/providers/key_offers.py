"""Where a key for a server may be had - environment, ``.env``, keyring - and whether it may.

A key belongs to a server. One that surely belongs to the server in question is *bound*: it
may be taken without asking. Any other is offered and waits for a person's choice; one that
belongs to another server is not offered at all.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from synthnb.errors import ConfigError
from synthnb.providers.origins import KEY_VARIABLE, URL_VARIABLE
from synthnb.providers.presets import preset_at
from synthnb.providers.secrets import Key
from synthnb.providers.urls import is_loopback, normalise, origin_of

Source = Literal["environment", ".env", "keyring"]

KEYRING_SERVICE = "synthnb"
_MOST_BYTES = 64 * 1024
_LINE = re.compile(r"(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*)", re.ASCII)
# Each character in one way only: else a line of backslashes takes for ever.
_QUOTED = re.compile(r"""(['"])((?:\\.|(?!\1)[^\\])*)\1\s*(?:#.*)?""")
_COMMENT = re.compile(r"(?:^|\s)#.*")


@dataclass(frozen=True, slots=True)
class KeyOffer:
    """A key that was found; its text and repr hold no character of it.

    Attributes:
        source: the kind of place.
        name: the variable, or for the keyring the server.
        key: the key, by reference where that is possible.
        bound: whether it surely belongs to the server that was asked for.
    """

    source: Source
    name: str
    key: Key = field(repr=False)
    bound: bool

    @property
    def id(self) -> str:
        """A name for this offer that tells it from the others."""
        return f"{self.source}:{self.name}"

    @property
    def label(self) -> str:
        """The place in words: ``environment OPENAI_API_KEY``, ``keyring``."""
        return "keyring" if self.source == "keyring" else f"{self.source} {self.name}"


@dataclass(frozen=True, slots=True)
class DotEnv:
    """What a ``.env`` file sets. It is never put into the process's environment."""

    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    warning: str = ""
    """What is wrong with the file, for a person; its lines are not repeated."""


@dataclass(frozen=True, slots=True)
class Offers:
    """The keys found for one server, in their order, and remarks for a person."""

    found: tuple[KeyOffer, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def named(self, offer_id: str) -> KeyOffer | None:
        """Return the offer of this id."""
        return next((offer for offer in self.found if offer.id == offer_id), None)

    @property
    def bound(self) -> KeyOffer | None:
        """The first one that may be taken without asking."""
        return next((offer for offer in self.found if offer.bound), None)


def offers_for(
    base_url: str,
    *,
    variable: str | None = None,
    dotenv: DotEnv | None = None,
    by_caller: bool = False,
) -> Offers:
    """Return the keys that the environment and ``.env`` hold for a server; no keyring.

    A preset's variable is bound to the preset's host (on this machine a port says too
    little about who listens: there it is only offered). ``SYNTHNB_API_KEY`` is bound to
    the ``SYNTHNB_BASE_URL`` beside it; where none stands beside it, to the URL that
    the caller names in code, and otherwise it is only offered.

    Args:
        base_url: the normalised URL.
        variable: the one that is surely this server's, whatever the presets say.
        dotenv: the file's values, if there is one.
        by_caller: whether code named the URL, not a person's typing.
    """
    collected = _Collected()
    if dotenv is not None and dotenv.warning:
        collected.warnings.append(dotenv.warning)
    known = preset_at(base_url)
    name = variable or (known.key_variable if known else None)
    sure = bool(variable) or not is_loopback(base_url)
    places: list[tuple[Source, Mapping[str, str]]] = [("environment", os.environ)]
    if dotenv is not None:
        places.append((".env", dotenv.values))
    for source, values in places:
        if name:
            collected.offer(source, values, name, bound=sure)
        if variable is None:  # a preset never gets the key of another server
            called = by_caller and source == "environment"
            collected.offer_ours(source, values, base_url, by_caller=called)
    return Offers(
        tuple(collected.found), tuple(collected.notes), tuple(collected.warnings)
    )


@dataclass(slots=True)
class _Collected:
    """Offers in the making."""

    found: list[KeyOffer] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def offer(
        self, source: Source, values: Mapping[str, str], name: str, *, bound: bool
    ) -> None:
        """Offer a variable's key, if it is set."""
        value = values.get(name, "")
        if not value.strip():
            return
        try:
            key = Key(f"env:{name}") if source == "environment" else _literal(value)
            key.reveal()
        except ConfigError as error:
            self.warnings.append(f"{source} {name} is no usable key: {error.message}")
            return
        self.found.append(KeyOffer(source, name, key, bound))

    def offer_ours(
        self,
        source: Source,
        values: Mapping[str, str],
        base_url: str,
        *,
        by_caller: bool,
    ) -> None:
        """Offer SYNTHNB_API_KEY, unless the URL beside it is another server's."""
        home = values.get(URL_VARIABLE, "").strip()
        if not home or _same_origin(home, base_url):
            bound = bool(home) or by_caller
            self.offer(source, values, KEY_VARIABLE, bound=bound)
        elif values.get(KEY_VARIABLE, "").strip():
            self.notes.append(
                f"{KEY_VARIABLE} of {source} belongs to the {URL_VARIABLE} there, "
                "another server: it is not sent here"
            )


def _literal(value: str) -> Key:
    """Return a key that stands in a file or keyring itself.

    Raises:
        ConfigError: it is none, or a reference: no file chooses among the variables of
            the environment.
    """
    if value.strip().lower().startswith("env:"):
        raise ConfigError("it refers to a variable of the environment")
    return Key(value)


def _same_origin(one: str, other: str) -> bool:
    try:
        return origin_of(normalise(one).base_url) == origin_of(other)
    except ConfigError:
        return False


def origin_text(base_url: str) -> str:
    """Return the server of a URL: ``https://api.example.com``, ``http://localhost:8000``.

    The loopback addresses are one server, as everywhere where keys are bound.
    """
    scheme, host, port = origin_of(base_url)
    shown = f"[{host}]" if ":" in host else host
    default = 443 if scheme == "https" else 80
    return f"{scheme}://{shown}" + ("" if port == default else f":{port}")


def read_dotenv(path: Path) -> DotEnv:
    """Read a ``.env`` file: ``NAME=value``, ``export``, quotes and comments.

    Nothing is substituted. A file that cannot be read is a warning, one that is not
    there is nothing.
    """
    if (
        not path.is_file()
    ):  # a folder is often a virtual environment; a pipe would block
        return DotEnv()
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            data = file.read(_MOST_BYTES + 1)
        text = data.decode("utf-8-sig")
    except FileNotFoundError:
        return DotEnv()
    except (OSError, UnicodeDecodeError) as error:
        return DotEnv(warning=f"{path.name} cannot be read ({type(error).__name__})")
    if len(data) > _MOST_BYTES:
        return DotEnv(warning=f"{path.name} is too large for a file of settings")
    warning = ""
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        warning = (
            f"{path.name} is open to other users of this machine: chmod 600 {path.name}"
        )
    return DotEnv(parse_dotenv(text), warning)


def parse_dotenv(text: str) -> dict[str, str]:
    """Return the names and values of a ``.env`` file's text; a later line wins."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        match = _LINE.fullmatch(line.strip())
        if match is None:
            continue
        name, raw = match.groups()
        quoted = _QUOTED.fullmatch(raw)
        if quoted is None:
            values[name] = _COMMENT.sub("", raw).strip()
        elif quoted[1] == "'":
            values[name] = quoted[2]
        else:
            values[name] = re.sub(r"\\(.)", r"\1", quoted[2])
    return values


def has_keyring() -> bool:
    """Tell whether the optional package ``keyring`` is installed; it is not loaded."""
    return "keyring" in sys.modules or find_spec("keyring") is not None


def keyring_offer(base_url: str) -> KeyOffer | None:
    """Return the keyring's key for a server, if there is one. May block: it may ask.

    It is kept there with ``keyring set synthnb https://api.example.com``.
    """
    if not has_keyring():
        return None
    user = origin_text(base_url)
    try:
        import keyring  # type: ignore[import-not-found,unused-ignore]

        backend: Any = keyring.get_keyring()
        if backend.priority <= 0:  # the backends that keep nothing: fail, null
            return None
        value = backend.get_password(KEYRING_SERVICE, user)
        return KeyOffer("keyring", user, _literal(value), bound=True) if value else None
    except Exception:  # noqa: BLE001 - a locked, broken or missing backend offers nothing
        return None

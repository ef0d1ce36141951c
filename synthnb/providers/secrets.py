"""Keys: held in plain memory, by reference where possible, and never shown."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable
from typing import Any, TypeAlias

from synthnb.errors import ConfigError

KeySource: TypeAlias = "str | Callable[[], str] | Key | None"
"""A key itself, ``"env:NAME"``, or a function that returns the key when it is needed."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_AGAIN = 'give it again, best by reference: api_key="env:NAME"'


class Key:
    """An API key, or where to find it. No text made from it holds a character of it.

    A pickled or deep-copied ``env:NAME`` reference still works; a key that was given
    itself (or by a function) stays behind, and asking for it then says how to give it.
    """

    __slots__ = ("_kind", "_name", "_source", "_whole")

    def __init__(self, source: KeySource = None, *, whole: bool = False) -> None:
        """Keep the source, checked as far as it can be without reading it.

        Args:
            source: the key, or where to find it.
            whole: it is a header's whole value, in which ``Basic xyz`` is right.

        Raises:
            ConfigError: no usable key or reference; the text does not repeat it.
        """
        self._kind = "none"
        self._name = ""
        self._whole = whole
        self._source: str | Callable[[], str] | None = None
        secret = getattr(source, "get_secret_value", None)  # pydantic's SecretStr
        value = secret() if callable(secret) else source
        if isinstance(value, Key):
            self._take(value)
        elif isinstance(value, str) and value.strip().lower().startswith("env:"):
            self._kind = "env"
            self._name = _variable_name(value)
        elif isinstance(value, str):
            self._source = clean_key(value, whole=whole) or None
            self._kind = "literal" if self._source else "none"
        elif callable(value):
            self._kind, self._source = "callable", value
        elif value is not None:
            raise ConfigError(
                f"api_key is a {type(value).__name__}, not a string",
                hint='give the key as str, "env:NAME", or a function returning it',
            )

    def _take(self, other: Key) -> None:
        self._kind, self._name = other._kind, other._name
        self._source = other._source

    @property
    def reference(self) -> str:
        """Where the key comes from: ``env:NAME``, ``callable``, ``literal``, ``none``."""
        if self._kind != "env":
            return self._kind
        # A key pasted behind "env:" by mistake looks like no variable's name.
        known = self._name.isupper() or self._name in os.environ
        return f"env:{self._name}" if known else "env:?"

    @property
    def is_set(self) -> bool:
        """Whether there is a key to send (a function is trusted to return one)."""
        if self._kind == "env":
            return bool(os.environ.get(self._name, "").strip())
        return self._kind in {"literal", "callable"}

    def reveal(self) -> str | None:
        """Return the key for the one header that carries it; ``None`` means keyless.

        Raises:
            ConfigError: the variable is not set, the function gave no usable key, or
                the key was left behind by a copy.
        """
        if self._kind == "none":
            return None
        if self._kind == "dropped":
            raise ConfigError("the API key did not travel with the copy", hint=_AGAIN)
        if self._kind == "env":
            value = clean_key(os.environ.get(self._name, ""), whole=self._whole)
            if not value:
                raise ConfigError(
                    f"the API key's variable {self.reference[4:]} is not set",
                    hint="set it before starting Jupyter, or with %env in a cell",
                )
            return value
        if isinstance(self._source, str):
            return self._source
        return self._called()

    def _called(self) -> str:
        assert callable(self._source)
        try:
            value: Any = self._source()
        except Exception as error:  # noqa: BLE001 - whatever the user's function raises
            raise ConfigError(
                f"the function given as api_key raised {type(error).__name__}",
                hint="call it yourself to see why",
            ) from None
        if inspect.isawaitable(value):
            if inspect.iscoroutine(value):
                value.close()  # else Python warns that nobody awaited it
            raise ConfigError(
                "the function given as api_key is asynchronous",
                hint="give one that returns the key itself: it is called for each run",
            )
        cleaned = clean_key(value, whole=self._whole) if isinstance(value, str) else ""
        if not cleaned:
            raise ConfigError(
                "the function given as api_key returned no key",
                hint="it takes no argument and returns a str",
            )
        return cleaned

    def __str__(self) -> str:
        state = "set" if self.is_set else "not set"
        if self._kind in {"env", "callable"}:
            return f"{state} ({self.reference})"
        return f"{state} (left behind by a copy)" if self._kind == "dropped" else state

    def __repr__(self) -> str:
        return f"<Key: {self}>"

    def __reduce__(
        self,
    ) -> tuple[Callable[[str, str, bool], Key], tuple[str, str, bool]]:
        kept = self._kind if self._kind in {"env", "none"} else "dropped"
        return _restored, (kept, self._name, self._whole)

    def __copy__(self) -> Key:
        return self


def _restored(kind: str, name: str, whole: bool) -> Key:
    key = Key(whole=whole)
    key._kind, key._name = kind, name  # noqa: SLF001 - this is Key's own second half
    return key


def _variable_name(value: str) -> str:
    name = value.strip()[4:].strip()
    if not _VARIABLE.fullmatch(name):
        raise ConfigError(
            "what follows env: is not the name of an environment variable",
            hint='write api_key="env:OPENAI_API_KEY" (the name, not the key)',
        )
    return name


def clean_key(value: str, *, whole: bool = False) -> str:
    """Return a pasted key without the white space, quotes and ``Bearer`` around it.

    Args:
        value: as pasted.
        whole: keep a scheme and spaces, which belong to a header's whole value.

    Raises:
        ConfigError: something inside it cannot stand in an HTTP header. The text does
            not repeat the key.
    """
    text = value.strip()
    if text[:1] == text[-1:] and text[:1] in {'"', "'"}:
        text = text[1:-1].strip()
    if text.lower().startswith("bearer ") and not whole:
        text = text[7:].strip()
    least = " " if whole else "!"
    if all(least <= character <= "~" for character in text):
        return text
    raise ConfigError(
        f"the API key holds {_what_is_wrong(text)}",
        hint="copy the key again, without anything around it",
    )


_KEYLIKE = re.compile(
    r"(?:sk|gsk|xai|pplx|nvapi|csk|fw|r8|tgp)[-_][A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{16,}"
    r"|AIza[A-Za-z0-9_-]{30,}|gh[pousr]_[A-Za-z0-9]{20,}"
)


def refuse_key(text: str, what: str) -> None:
    """Refuse a key that was put where anything is shown and saved.

    Raises:
        ConfigError: ``text`` looks like a well-known service's key; it is not repeated.
    """
    if _KEYLIKE.fullmatch(text.strip().strip("\"'")):
        raise ConfigError(
            f"what was given as the {what} looks like an API key",
            hint='Paste it into the key\'s field, or give api_key="env:NAME".',
        )


def _what_is_wrong(text: str) -> str:
    if any(c in "“”‘’„«»" for c in text):
        return "typographic quotes"
    if any(c.isspace() for c in text):
        return "a space or a line break"
    if any(ord(c) < 32 or ord(c) == 127 for c in text):  # noqa: PLR2004 - ASCII controls
        return "a control character"
    return "a character that is not ASCII"

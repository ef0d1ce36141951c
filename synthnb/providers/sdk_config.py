"""synthetic-data-kit's ``config.yaml``, read key by key, each value with its origin."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from synthnb.errors import ConfigError
from synthnb.providers.sdk_keys import KEYS, OLD_NAMES, SECRETS, name_of
from synthnb.providers.secrets import Key

KEY_VARIABLE = "API_ENDPOINT_KEY"
_MAX_BYTES = 1_000_000
_MOST_SETTINGS = 1_000
_DEPTH = 2
_HINT = "Give the config.yaml of synthetic-data-kit."
_SET = "(set)"


class SdkConfig(Mapping[str, Any]):
    """The settings of one file over the defaults, by dotted name.

    ``config["generation.num_pairs"]``; print it to see each value beside its origin. A key
    is never shown: it stands as ``(set)``.

    Attributes:
        path: the file.
        origins: dotted name → "argument", "environment API_ENDPOINT_KEY", "file" or
            "default".
        notes: what was in the file and is not used, in words.
        key: the key of the chosen section.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        changes: Mapping[str, Any] | None = None,
    ) -> None:
        """Read and check the file; nothing is contacted.

        Args:
            path: a YAML file; it may hold a part of the settings only, or be ``None``.
            changes: dotted name → value, which go before the file's.

        Raises:
            ConfigError: it cannot be read, or a value has a wrong type.
        """
        self.path = Path(path or "config.yaml").expanduser()
        self.notes: list[str] = []
        given = {} if path is None else dict(_flat(self.path, self.notes))
        wrong = [text for text in map(_wrong, given.items()) if text]
        changes = changes or {}
        wrong += [text for text in map(_wrong_change, changes.items()) if text]
        if wrong:
            raise ConfigError(
                f"{self.path}: {'; '.join(wrong)}", hint="Mend these lines of the file."
            )
        values = {name: kind.default for name, kind in KEYS.items()}
        origins = dict.fromkeys(KEYS, "default")
        for source, found in (("file", given), ("argument", changes)):
            values.update(found)
            origins.update(dict.fromkeys(found, source))
        self._values, self.origins = values, origins
        self.section = self._section()
        self.key = self._key()

    def _section(self) -> str:
        name: str = self._values["llm.provider"]
        if name not in {"vllm", "api-endpoint"}:
            msg = f"{self.path}: llm.provider is {name!r}"
            raise ConfigError(msg, hint="It is vllm or api-endpoint.")
        return name

    def _key(self) -> Key:
        name = f"{self.section}.api_key"
        from_file = self._values[name]
        for secret in SECRETS:
            if self._values[secret] is not None:
                self._values[secret] = _SET
        # Theirs is for the hosted endpoint; a server of one's own is not handed it.
        if self.section == "api-endpoint" and os.environ.get(KEY_VARIABLE, "").strip():
            self._values[name] = _SET
            self.origins[name] = f"environment {KEY_VARIABLE}"
            return Key(f"env:{KEY_VARIABLE}")
        return Key(from_file)

    @property
    def base_url(self) -> str:
        """The chosen section's URL; a ``vllm.port`` without a URL is one of this machine.

        Raises:
            ConfigError: a hosted endpoint is chosen and none is named.
        """
        url: str | None = self[f"{self.section}.api_base"]
        if url is None and self.section == "vllm":
            return f"http://localhost:{self['vllm.port']}/v1"
        if url is None:
            msg = f"{self.path}: api-endpoint.api_base is not there"
            raise ConfigError(
                msg, hint="Name the URL; no host is contacted that nobody named."
            )
        return url

    def of(self, name: str) -> Any:
        """Return a setting of the chosen provider section, e.g. ``of("model")``."""
        return self[f"{self.section}.{name}"]

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            raise KeyError(name)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        """Return a table: name, value, origin; the other provider's section is left out."""
        other = "vllm" if self.section == "api-endpoint" else "api-endpoint"
        shown = [n for n in self if not n.startswith(f"{other}.")]
        shown = [n for n in shown if self[n] is not None]
        width = max(map(len, shown))
        lines = [f"{n:<{width}}  {_short(self[n])}  ({self.origins[n]})" for n in shown]
        return "\n".join([f"{self.path}", *lines, *self.notes])


def _flat(path: Path, notes: list[str]) -> Iterator[tuple[str, Any]]:
    tree = _load(path)
    for number, (written, value) in enumerate(_leaves(tree, "")):
        if number == _MOST_SETTINGS:
            msg = f"{path} holds more than {_MOST_SETTINGS:,} settings"
            raise ConfigError(msg, hint=_HINT)
        section, _, rest = written.partition(".")
        new = OLD_NAMES.get(section, section)
        if new != section and new in tree:
            notes.append(f"{written}: not used, for there is {new} as well")
            continue
        name = f"{new}.{rest}" if rest else new
        if name in KEYS:
            yield name, value
            continue
        close = difflib.get_close_matches(name, KEYS, n=1)
        hint = f", did you mean {close[0]}?" if close else ""
        notes.append(f"{written}: not known{hint}")


def _leaves(tree: Mapping[Any, Any], before: str) -> Iterator[tuple[str, Any]]:
    # Not deeper than any setting lies: an alias of YAML may hold itself.
    for key, value in tree.items():
        name = f"{before}{key}"
        is_section = isinstance(value, dict) and name not in KEYS
        if is_section and before.count(".") < _DEPTH:
            yield from _leaves(value, f"{name}.")
        else:
            yield name, value


def _load(path: Path) -> dict[Any, Any]:
    import yaml

    hint = _HINT
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ConfigError(f"{path} is no configuration: it is too large", hint=hint)
        tree = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise ConfigError(f"{path} cannot be read: {why}", hint=hint) from error
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        # Not the parser's own words: they quote the file, which may hold a key.
        what = getattr(error, "problem", None) or "nested too deeply"
        raise ConfigError(f"{path}{where} is no YAML: {what}", hint=hint) from None
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise ConfigError(f"{path} holds no settings", hint=hint)
    return tree


def _wrong(item: tuple[str, Any]) -> str:
    name, value = item
    kind = KEYS[name]
    if kind.takes(value):
        return ""
    return f"{name}: expected {kind}, got {_name_of(value)}"


def _wrong_change(item: tuple[str, Any]) -> str:
    name, _ = item
    return _wrong(item) if name in KEYS else f"{name}: not known"


def _name_of(value: Any) -> str:
    return "null" if value is None else name_of(type(value))


def _short(value: Any) -> str:
    text = str(value).replace("\n", "⏎")
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004 - a line's width

"""Which value counts - argument, environment, preset - and where each came from."""

from __future__ import annotations

import os
from dataclasses import dataclass

from synthnb.errors import ConfigError
from synthnb.providers.presets import PRESETS
from synthnb.providers.secrets import Key, KeySource
from synthnb.providers.urls import normalise, origin_of

URL_VARIABLE = "SYNTHNB_BASE_URL"
MODEL_VARIABLE = "SYNTHNB_MODEL"
KEY_VARIABLE = "SYNTHNB_API_KEY"


@dataclass(frozen=True, slots=True)
class Settings:
    """The three values of an endpoint, and the origin of each in words."""

    base_url: str
    model: str | None
    key: Key
    origins: dict[str, str]
    notes: tuple[str, ...] = ()


def settle(base_url: str | None, model: str | None, api_key: KeySource) -> Settings:
    """Fill what was not given from the environment.

    A key is bound to an origin (scheme, host, port): ``SYNTHNB_API_KEY`` is used with
    ``SYNTHNB_BASE_URL``, or with the URL that the caller names if the environment names
    none or one of the same origin. It is never sent to a preset or a local server.

    Raises:
        ConfigError: there is no URL; the hint names the three ways to give one.
    """
    origins: dict[str, str] = {}
    from_environment = _environment(URL_VARIABLE)
    given = base_url if base_url is not None else from_environment
    if given is None:
        raise ConfigError(
            "no base URL was given",
            hint='Provider("http://localhost:8000/v1"), Provider.preset("openai", '
            f"model=...), or Provider.local(); or set {URL_VARIABLE}",
        )
    if given.strip().lower() in PRESETS:
        raise ConfigError(
            f"{given.strip()!r} is the name of a preset, not a URL",
            hint=f'Provider.preset("{given.strip().lower()}", model=...)',
        )
    url = normalise(given)
    origins["base_url"] = _origin(base_url, URL_VARIABLE)
    chosen = model or _environment(MODEL_VARIABLE)
    origins["model"] = _origin(model or None, MODEL_VARIABLE) if chosen else "default"
    key, origins["api_key"] = _key(api_key, url.base_url, from_environment)
    return Settings(url.base_url, chosen, key, origins, url.notes)


def _key(api_key: KeySource, base_url: str, env_url: str | None) -> tuple[Key, str]:
    if api_key is not None:
        key = Key(api_key)
        kind = key.reference
        return key, "argument" if kind in {"literal", "none"} else f"argument {kind}"
    if _environment(KEY_VARIABLE) is None:
        return Key(), "default"
    if env_url and origin_of(normalise(env_url).base_url) != origin_of(base_url):
        return Key(), f"default ({KEY_VARIABLE} belongs to {URL_VARIABLE}: not sent)"
    return Key(f"env:{KEY_VARIABLE}"), f"environment {KEY_VARIABLE}"


def _environment(name: str) -> str | None:
    return os.environ.get(name, "").strip() or None


def _origin(argument: str | None, variable: str) -> str:
    return "argument" if argument is not None else f"environment {variable}"

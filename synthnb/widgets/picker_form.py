"""The picker's fields: what is filled in, what is missing, which provider that makes."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from synthnb.errors import ConfigError, SynthnbError
from synthnb.local import Provider
from synthnb.providers.origins import KEY_VARIABLE, MODEL_VARIABLE, URL_VARIABLE
from synthnb.providers.presets import PRESETS, Preset, preset_named
from synthnb.providers.servers import ListedModel
from synthnb.providers.urls import is_loopback, normalise
from synthnb.widgets.picker_keys import Chosen, KeyChoices, Target

Way = Literal["builtin", "url", "hosted"]

BLANK = "RESOURCE"
_RESOURCE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?")
_STATUS = re.compile(r"\(\d{3}\)")
_TITLES = {
    "azure": "Azure OpenAI", "deepinfra": "DeepInfra", "deepseek": "DeepSeek",
    "gemini": "Google Gemini", "huggingface": "Hugging Face", "mistral": "Mistral AI",
    "nvidia": "NVIDIA", "openai": "OpenAI", "openrouter": "OpenRouter",
    "together": "Together AI", "xai": "xAI",
}  # fmt: skip
HOSTED = tuple(p for p in PRESETS.values() if not is_loopback(p.base_url))
"""Presets that are no server of one's own."""


class MissingError(ConfigError):
    """A field that must be filled before there is a provider."""

    def __init__(self, field_name: str, message: str, hint: str) -> None:
        """Name the field of the form beside the message and the next step."""
        super().__init__(message, hint=hint)
        self.field = field_name


@dataclass(slots=True)
class Form:
    """The values of the fields. Nothing here asks the network."""

    way: Way = "builtin"
    url: str = ""
    url_from: str = ""
    """Where the URL came from, if nobody typed it."""
    preset: str = ""
    resource: str = ""
    given: tuple[str, tuple[str, str]] = ("", ("", ""))
    """The model that code named, and the URL or preset that it is for."""
    by_caller: str | None = None
    """The URL that code named."""
    keys: KeyChoices = field(default_factory=KeyChoices)
    models: dict[str, str] = field(default_factory=dict)
    """The model chosen at each base URL."""

    @classmethod
    def filled(
        cls,
        url: str | None,
        model: str | None,
        preset: str | None,
        env_file: str | Path | None,
    ) -> Form:
        """Fill the form as ``ProviderPicker`` was asked to.

        Raises:
            ConfigError: both a URL and a preset, an unknown preset, no such file.
        """
        if url is not None and preset is not None:
            raise ConfigError(
                "url= and preset= name two servers", hint="give one of them"
            )
        form = cls(keys=KeyChoices(_env_file(env_file)))
        if preset is not None:
            form._fill_preset(preset_named(preset))
        elif url is not None:
            form.way, form.url = "url", url.strip()
            form.by_caller = form.url
        elif named := os.environ.get(URL_VARIABLE, "").strip():
            form.way, form.url = "url", named
            form.url_from = f"environment {URL_VARIABLE}"
        form.given = (model or "", form._named())
        return form

    def _fill_preset(self, preset: Preset) -> None:
        if preset in HOSTED:
            self.way, self.preset = "hosted", preset.name
        else:
            self.way, self.url = "url", preset.base_url
            self.url_from = f"preset {preset.name}"

    def _named(self) -> tuple[str, str]:
        """Return what names the server, as it was filled in."""
        return self.way, {"url": self.url, "hosted": self.preset}.get(self.way, "")

    @property
    def local_model(self) -> str | None:
        """The built-in model that code named."""
        model, (way, _) = self.given
        return model if model and way == "builtin" else None

    @property
    def chosen_preset(self) -> Preset | None:
        """The hosted API that is chosen."""
        return PRESETS.get(self.preset)

    @property
    def wants_resource(self) -> bool:
        """Whether the preset's URL has a blank that a person must fill."""
        chosen = self.chosen_preset
        return self.way == "hosted" and chosen is not None and BLANK in chosen.base_url

    def base_url(self) -> str:
        """Return the normalised URL of the server that is named.

        Raises:
            MissingError: it is missing or cannot be read.
        """
        if self.way == "hosted":
            return self._hosted_url()
        if not self.url:
            raise MissingError(
                "url",
                "the picker's URL is empty",
                "type the server's URL, e.g. localhost:8000, or choose another way",
            )
        if known := PRESETS.get(self.url.lower()):
            hint = f"did you mean {known.base_url}?"
            if known in HOSTED:
                hint = f"choose Hosted API above, and {title_of(known)} there"
            raise MissingError("url", f"{self.url!r} is a name, not a URL", hint)
        try:
            return normalise(self.url).base_url
        except ConfigError as error:
            raise MissingError("url", error.message, error.hint) from None

    def _hosted_url(self) -> str:
        chosen = self.chosen_preset
        if chosen is None:
            raise MissingError(
                "preset",
                "no hosted API is chosen",
                'choose one in the picker, or ProviderPicker(preset="openai")',
            )
        if not self.wants_resource:
            return normalise(chosen.base_url).base_url
        # A name only, so that the host stays below the preset's own domain.
        if not _RESOURCE.fullmatch(self.resource):
            what = (
                "holds more than letters, digits and hyphens"
                if self.resource
                else ("is missing")
            )
            raise MissingError(
                "resource",
                f"the resource's name {what}",
                f"it is the {BLANK} in {chosen.base_url}",
            )
        return normalise(chosen.base_url.replace(BLANK, self.resource)).base_url

    def target(self) -> Target | None:
        """Return the server that a key would be for; ``None`` while it is not named."""
        if self.way == "builtin":
            return None
        try:
            base_url = self.base_url()
        except MissingError:
            return None
        preset = self.chosen_preset if self.way == "hosted" else None
        variable = preset.key_variable if preset else None
        by_caller = self.way == "url" and self.url == self.by_caller
        return Target(base_url, variable, by_caller)

    def chosen_key(self) -> Chosen | None:
        """Return the key for the server that is named."""
        target = self.target()
        return None if target is None else self.keys.of(target)

    def chosen_model(self, listed: tuple[ListedModel, ...] | None = None) -> str:
        """Return the model's id; ``""`` if none is chosen.

        A list of one model chooses it by itself. ``SYNTHNB_MODEL`` counts for a URL, as
        it does in ``Provider``, unless the server is known not to have it.
        """
        target = self.target()
        if target is None:
            return self.local_model or ""
        if chosen := self._named_model(target.base_url):
            return chosen
        if listed and len(listed) == 1:
            return listed[0].id
        named = os.environ.get(MODEL_VARIABLE, "").strip() if self.way == "url" else ""
        there = not listed or any(model.id == named for model in listed)
        return named if there else ""

    def _named_model(self, base_url: str) -> str:
        """Return the model that a person chose here, else the one that code named."""
        model, place = self.given
        return self.models.get(base_url, model if place == self._named() else "")

    def mark(self) -> object:
        """Return what a result rests on; another mark makes the result stale."""
        target = self.target()
        if target is None:
            return self.way, self.url, self.preset, self.resource, self.local_model
        model = self._named_model(target.base_url)
        return self.way, target.base_url, model, self.keys.of(target).tag

    def provider(
        self,
        listed: tuple[ListedModel, ...] | None = None,
        *,
        with_model: bool = True,
        local: Mapping[str, Any] = MappingProxyType({}),
    ) -> Provider:
        """Make the provider that the form describes.

        Args:
            listed: the server's models, where they are known.
            with_model: whether a model must be known (not to ask which there are).
            local: options for the built-in model.

        Raises:
            MissingError: names the field, and the next step.
        """
        if self.way == "builtin":
            return self._builtin(local)
        base_url = self.base_url()
        target = self.target()
        assert target is not None
        chosen = self.keys.of(target)
        preset = self.chosen_preset if self.way == "hosted" else None
        if preset is not None and not chosen.is_set:
            raise _no_key(preset)
        model = self.chosen_model(listed)
        if with_model and not model:
            self._may_be_unnamed(base_url, listed)
        if preset is None or self.wants_resource:
            # Always with a key object: without one, Provider would look for its own.
            return Provider(base_url, model or None, chosen.key)
        # Unnamed, the variable is taken as the preset's own, and the provider says so.
        by_itself = chosen.choice == f"environment:{target.variable}"
        key = None if by_itself else chosen.key
        return Provider.preset(preset.name, model or None, key)

    def _builtin(self, options: Mapping[str, Any]) -> Provider:
        if problem := builtin_problem():
            raise MissingError("builtin", *problem)
        try:
            return Provider.local(self.local_model, **options)
        except SynthnbError as error:
            raise MissingError("builtin", error.message, error.hint) from None

    def _may_be_unnamed(
        self, base_url: str, listed: tuple[ListedModel, ...] | None
    ) -> None:
        """Refuse a missing model, unless the server may have just one."""
        if listed is None and self.way == "url":
            return
        how = "type its id"
        if listed:
            how = f"choose one of the {len(listed):,} that {base_url} lists"
        raise MissingError(
            "model", "no model is chosen", f"{how}, in the picker or with model=…"
        )

    def refused(self, message: str) -> tuple[str, str]:
        """Return what a refused key comes to, and the next step in the form."""
        target, chosen = self.target(), self.chosen_key()
        if target is not None and chosen is not None and chosen.is_set:
            return message, f"the key is {chosen.label}: set the right one above"
        variable = (target and target.variable) or KEY_VARIABLE
        # The server's own words about a key that was never sent would only mislead.
        status = _STATUS.search(message)
        code = f" {status[0]}" if status else ""
        return (
            f"this server wants a key{code}",
            f"paste it above and press Set, or set {variable} and press Check",
        )


def builtin_problem() -> tuple[str, str] | None:
    """Return what keeps the built-in model from starting, and the next step."""
    if find_spec("xllamacpp") is not None:
        return None
    return (
        "the built-in model needs xllamacpp, which is not installed",
        '%pip install "synthnb[local]", then restart the kernel; or choose another way',
    )


def _no_key(preset: Preset) -> MissingError:
    return MissingError(
        "key",
        f"the key for {title_of(preset)} is missing",
        f"set {preset.key_variable} (environment or .env), or paste the key in the "
        "picker and press Set",
    )


def title_of(preset: Preset) -> str:
    """Return a preset's name as its owner writes it."""
    return _TITLES.get(preset.name, preset.name.capitalize())


def _env_file(path: str | Path | None) -> Path:
    if path is None:
        return Path.cwd() / ".env"
    chosen = Path(path).expanduser()
    if not chosen.is_file():
        raise ConfigError(
            f"there is no file {chosen}", hint="name an existing .env file, or none"
        )
    return chosen.absolute()

"""The view model of the picker: what a person does to it, and what the page shows.

Whoever calls - the view's worker, a cell, a test - only changes values and returns at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from synthnb.errors import ConfigError
from synthnb.local import Provider
from synthnb.providers.secrets import Key, refuse_key
from synthnb.widgets.picker_fields import builtin_state, hosted_state, url_state
from synthnb.widgets.picker_form import HOSTED, Form, MissingError, Way
from synthnb.widgets.picker_inquiry import Inquiry
from synthnb.widgets.picker_keys import Target


class PickerModel:
    """The picker without its page: fields, key, models, check, and the provider.

    Args:
        url: a server's URL, as pasted.
        model: the model's id.
        preset: the name of a preset.
        env_file: read instead of ``.env`` in the working folder.
        changed: called after each change, from any thread.
    """

    def __init__(
        self,
        url: str | None = None,
        model: str | None = None,
        preset: str | None = None,
        env_file: str | Path | None = None,
        *,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._form = Form.filled(url, model, preset, env_file)
        self._lock = threading.RLock()
        self._changed = changed
        self._inquiry = Inquiry(self._form, self._lock, changed)
        self._key_error = ("", "")
        self._version = 0

    # what a person does ----------------------------------------------------------

    def open(self) -> None:
        """Take note that somebody looks: a server that is named is asked what it has."""
        self._inquiry.look()

    def choose_way(self, way: str) -> None:
        """Choose among the built-in model, a URL and a hosted API.

        Raises:
            ConfigError: there is no such way.
        """
        ways: dict[str, Way] = {"builtin": "builtin", "url": "url", "hosted": "hosted"}
        if way not in ways:
            raise ConfigError(f"there is no way {way!r}", hint=", ".join(ways))
        self._set(way=ways[way])

    def set_url(self, text: str) -> None:
        """Take the URL that was typed or pasted, and ask that server what it has.

        Raises:
            ConfigError: it looks like a key; it is not kept.
        """
        refuse_key(text, "URL")
        same = text.strip() == self._form.url
        self._set(again=same, way="url", url=text.strip(), url_from="")

    def choose_preset(self, name: str) -> None:
        """Choose a hosted API by its name.

        Raises:
            ConfigError: it is not on the list.
        """
        if name not in {preset.name for preset in HOSTED}:
            raise ConfigError(
                f"{name!r} is no hosted API of the list", hint="choose one"
            )
        self._set(way="hosted", preset=name)

    def set_resource(self, text: str) -> None:
        """Fill the blank in the preset's URL."""
        self._set(resource=text.strip())

    def choose_model(self, model: str) -> None:
        """Choose a model by its id, listed or not.

        Raises:
            ConfigError: no server is named yet, or it looks like a key.
        """
        refuse_key(model, "model")
        with self._lock:
            self._form.models[self._target().base_url] = model.strip()
        self._after()

    def choose_key(self, choice: str) -> None:
        """Choose where the key comes from: an offer's id, ``"typed"`` or ``"none"``.

        Raises:
            ConfigError: no server is named, or that key is not there.
        """
        with self._lock:
            self._form.keys.choose(self._target(), choice)
        self._after()

    def type_key(self, value: str, seen: Mapping[str, str] | None = None) -> None:
        """Take a typed key, for the server that the form names now, and no other.

        What is wrong with it stands in the state; no error holds a part of it.

        Args:
            value: the key as pasted.
            seen: the fields as the page showed them to who typed it.
        """
        try:
            with self._lock:
                self._same_server(seen or {})
                self._form.keys.type(self._target(), Key(value))
        except ConfigError as error:
            self._key_error = (error.message, error.hint)
            self._changed()
            return
        self._after()

    def forget_key(self) -> None:
        """Drop the key that was typed for this server.

        Raises:
            ConfigError: no server is named yet.
        """
        with self._lock:
            self._form.keys.forget(self._target())
        self._after()

    def list_models(self) -> None:
        """Ask the server for its models again."""
        self._inquiry.look(again=True)

    def check(self) -> None:
        """Start a check; one that runs already is cancelled."""
        self._inquiry.check()

    def stop_check(self) -> None:
        """Cancel the check that runs."""
        self._inquiry.stop()
        self._changed()

    def close(self) -> None:
        """Cancel all that runs."""
        self._inquiry.close()

    def _set(self, *, again: bool = False, **values: Any) -> None:
        with self._lock:
            for name, value in values.items():
                setattr(self._form, name, value)
        self._after(again=again)

    def _after(self, *, again: bool = False) -> None:
        """Stop what no longer fits the form, look again, tell everybody."""
        with self._lock:
            self._key_error = ("", "")
            self._inquiry.stop_outdated()
        self._inquiry.look(again=again)
        self._changed()

    def _same_server(self, seen: Mapping[str, str]) -> None:
        """Refuse a key that was typed when the form named another server."""
        now = {
            name: getattr(self._form, name)
            for name in ("way", "url", "preset", "resource")
        }
        if any(now.get(name) != value for name, value in seen.items()):
            raise ConfigError(
                "the form was changed elsewhere while the key was typed: it was thrown away",
                hint="look at the fields, and paste the key again",
            )

    def _target(self) -> Target:
        target = self._form.target()
        if target is None:
            raise ConfigError("no server is named yet", hint="name the server first")
        return target

    # what others see -------------------------------------------------------------

    @property
    def provider(self) -> Provider:
        """The provider that the form describes now; later changes do not touch it.

        Raises:
            ConfigError: a field is missing; it names the field and the next step.
        """
        try:
            with self._lock:
                return self._form.provider(self._inquiry.listed)
        except MissingError as error:  # the field's name is for the page only
            raise ConfigError(error.message, hint=error.hint) from None

    def describe(self) -> str:
        """Return the provider in one line, or what is missing; no character of a key."""
        try:
            return repr(self.provider)
        except ConfigError as error:
            return f"not complete: {error.message}"

    def models(self) -> list[list[str]]:
        """Return ``[id, parent]`` of each listed model; only adapters have a parent."""
        with self._lock:
            listed = self._inquiry.listed or ()
        return [[model.id, model.parent or ""] for model in listed]

    def state(self) -> dict[str, Any]:
        """Return all that the page shows, as plain values; never a key."""
        with self._lock:
            form = self._form
            self._version += 1
            message, hint = self._key_error
            key = form.keys.state(form.target(), needed=form.way == "hosted")
            checked = self._inquiry.checked
            check = checked and checked.state(form.mark())
            model = self._model_state()
            if check and check["problem"] and not check["stale"]:
                model |= {"error": "", "hint": ""}  # the check says it already
            return {
                "version": self._version,
                "way": form.way,
                "builtin": builtin_state(form.local_model),
                "url": url_state(form),
                "hosted": hosted_state(form),
                "key": {**key, "error": message, "hint": hint},
                "model": model,
                "check": check,
                "problem": self._problem(),
            }

    def _model_state(self) -> dict[str, Any]:
        listing, listed = self._inquiry.listing, self._inquiry.listed
        chosen = self._form.chosen_model(listed)
        message, hint = listing.error if listing else ("", "")
        known = {model.id for model in listed or ()}
        return {
            "chosen": chosen,
            "total": len(listed or ()),
            "adapters": sum(1 for model in listed or () if model.parent),
            "state": listing.state if listing else "unknown",
            "list": listing.number if listing else 0,
            "unlisted": bool(known and chosen and chosen not in known),
            "error": message,
            "hint": hint,
        }

    def _problem(self) -> dict[str, str] | None:
        try:
            self._form.provider(self._inquiry.listed)
        except MissingError as error:
            return {"field": error.field, "message": error.message, "hint": error.hint}
        except ConfigError as error:
            return {"field": "", "message": error.message, "hint": error.hint}
        return None

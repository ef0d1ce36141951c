"""The picker's fields as the page shows them: plain values, no key."""

from __future__ import annotations

from typing import Any

from synthnb.errors import ConfigError
from synthnb.providers.urls import normalise
from synthnb.runtimes.weights import locate
from synthnb.widgets.picker_form import (
    BLANK,
    HOSTED,
    Form,
    MissingError,
    builtin_problem,
    title_of,
)


def builtin_state(model: str | None) -> dict[str, Any]:
    """Return what the page shows of the built-in model."""
    try:
        file = locate(model)
    except ConfigError as error:
        return {"text": "", "error": error.message, "hint": error.hint}
    place = "on this machine" if file.path else "fetched once, when it is first needed"
    text = f"{file.name} · {file.license} · {file.size / 1e6:.0f} MB, {place}"
    message, hint = builtin_problem() or ("", "")
    return {"text": text, "error": message, "hint": hint}


def url_state(form: Form) -> dict[str, Any]:
    """Return what the page shows of the URL: as it was typed, and what it stands for."""
    state = {"text": form.url, "from": form.url_from, **preview(form.url)}
    if form.way == "url" and form.url:
        try:
            form.base_url()
        except MissingError as error:
            state |= {"base_url": "", "error": error.message, "hint": error.hint}
    return state


def preview(text: str) -> dict[str, Any]:
    """Return what a URL would stand for; nothing is kept."""
    state: dict[str, Any] = {"base_url": "", "notes": [], "error": "", "hint": ""}
    if not text.strip():
        return state
    try:
        found = normalise(text)
    except ConfigError as error:
        return state | {"error": error.message, "hint": error.hint}
    return state | {"base_url": found.base_url, "notes": list(found.notes)}


def hosted_state(form: Form) -> dict[str, Any]:
    """Return what the page shows of the hosted APIs."""
    preset = form.chosen_preset
    state: dict[str, Any] = {
        "presets": [[p.name, title_of(p)] for p in HOSTED],
        "preset": form.preset,
        "resource": form.resource,
        "wants_resource": form.wants_resource,
        "error": "",
        "base_url": "",
        "variable": "",
    }
    if preset is None:
        return state
    state["variable"] = preset.key_variable or ""
    state["base_url"] = preset.base_url.replace(BLANK, form.resource or BLANK)
    if form.wants_resource and form.resource:
        try:
            form.base_url()
        except MissingError as error:
            state |= {"error": error.message, "base_url": preset.base_url}
    return state

"""``ProviderPicker``: choose and try a provider in a cell, with no key in any file."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from synthnb.local import Provider
from synthnb.widgets.channel import Message, View
from synthnb.widgets.markup import Node, to_html
from synthnb.widgets.picker_fields import preview
from synthnb.widgets.picker_model import PickerModel

_LONGEST_KEY = 64 * 1024
_STYLE = (
    "font-family:var(--jp-ui-font-family,sans-serif);"
    "font-size:var(--jp-ui-font-size1,13px);line-height:1.5"
)


class ProviderPicker(View, module="picker"):
    """A form for a provider: the built-in model, a server's URL, or a hosted API.

    ::

        picker = sn.ProviderPicker()
        picker  # the last line of a cell shows the form

        run = sn.generate(recipe, chunks, picker.provider)  # in a later cell

    The same without a page: ``sn.Provider(...)``, ``sn.Provider.preset(...)`` or
    ``sn.Provider.local()``.

    A key comes from the environment, the ``.env`` file of the working folder, the keyring
    (package ``keyring``, service ``synthnb``, the server such as
    ``https://api.openai.com`` as the user name), or is typed. It stays in this process's
    memory: no trait, output or file ever holds a character of it, and it is sent only to
    the server that it belongs to.
    """

    def __init__(
        self,
        url: str | None = None,
        model: str | None = None,
        preset: str | None = None,
        env_file: str | Path | None = None,
    ) -> None:
        """Fill the form; nothing is sent before the form is shown.

        Args:
            url: a server's URL, as pasted; by default ``SYNTHNB_BASE_URL``, if set.
            model: the model's id.
            preset: the name of a preset, such as ``"openai"``.
            env_file: a file to read instead of ``.env`` in the working folder.

        Raises:
            ConfigError: both a URL and a preset, an unknown preset, or no such file.
        """
        self._form = PickerModel(
            url, model, preset, env_file, changed=_announcer(weakref.ref(self))
        )
        super().__init__()
        self.on_msg(_key_receiver(weakref.ref(self)))

    @property
    def provider(self) -> Provider:
        """The provider that the form describes now; later changes do not touch it.

        Raises:
            ConfigError: a field is missing; it names the field and the next step.
        """
        self._settle()
        return self._form.provider

    def __repr__(self) -> str:
        """Return the provider, or what is missing; no character of a key."""
        return f"<ProviderPicker: {self._form.describe()}>"

    def close(self) -> None:
        """Take the form off the page and cancel what it asks."""
        if hasattr(self, "_form"):  # else the arguments were refused: there is nothing
            super().close()
            self._form.close()

    def on_open(self, _message: Message) -> Message:
        """Answer a page that shows the form."""
        self._form.open()
        return {"state": self._form.state()}

    def on_preview(self, message: Message) -> Message:
        """Say what a URL would stand for while it is typed."""
        return {"url": preview(_text(message))}

    def on_way(self, message: Message) -> None:
        """Choose one of the three ways."""
        self._form.choose_way(_text(message))

    def on_url(self, message: Message) -> None:
        """Take the URL."""
        self._form.set_url(_text(message))

    def on_preset(self, message: Message) -> None:
        """Choose a hosted API."""
        self._form.choose_preset(_text(message))

    def on_resource(self, message: Message) -> None:
        """Fill the blank in a preset's URL."""
        self._form.set_resource(_text(message))

    def on_key(self, message: Message) -> None:
        """Choose where the key comes from; the key itself never comes this way."""
        self._form.choose_key(_text(message))

    def on_typed(self, message: Message) -> None:
        """Take a key that ``_key_receiver`` has handed over."""
        typed = message.get("typed")
        if isinstance(typed, _Typed):
            seen = message.get("seen")
            self._form.type_key(typed.take(), seen if isinstance(seen, dict) else None)

    def on_forget(self, _message: Message) -> None:
        """Drop the typed key."""
        self._form.forget_key()

    def on_list(self, _message: Message) -> None:
        """Ask the server for its models again."""
        self._form.list_models()

    def on_models(self, _message: Message) -> Message:
        """Hand over the models that are known."""
        return {"models": self._form.models()}

    def on_model(self, message: Message) -> None:
        """Choose a model."""
        self._form.choose_model(_text(message))

    def on_check(self, _message: Message) -> None:
        """Start the check."""
        self._form.check()

    def on_stop(self, _message: Message) -> None:
        """Cancel the check."""
        self._form.stop_check()

    def _announce(self) -> None:
        self.push("state", state=self._form.state())

    def _settle(self) -> None:
        """Wait until what the page has sent so far is in the form (a few milliseconds)."""
        with contextlib.suppress(RuntimeError, TimeoutError):  # closed, or stuck
            if self._worker is not None:
                self._worker.submit(lambda: None).result(_SETTLE_SECONDS)

    def _repr_mimebundle_(
        self, **options: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Add what a saved notebook shows without a kernel."""
        bundle = super()._repr_mimebundle_(**options)
        assert bundle is not None
        data, metadata = bundle
        line = self._form.describe()
        tree: Node = (
            "div",
            {"style": _STYLE},
            ("strong", {}, "Model provider"),
            f" {line}",
        )
        data |= {"text/plain": repr(self), "text/html": to_html(tree)}
        return data, metadata


_SETTLE_SECONDS = 5.0


class _Typed:
    """A typed key on its way to the worker: no text of it shows the key, and it is taken once."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def take(self) -> str:
        value, self._value = self._value, ""
        return value


def _text(message: Message) -> str:
    value = message.get("value")
    return value if isinstance(value, str) else ""


def _announcer(view: weakref.ref[ProviderPicker]) -> Callable[[], None]:
    """Return what tells the pages of a change, and keeps no picker alive."""

    def announce() -> None:
        target = view()
        if target is not None:
            target._announce()  # noqa: SLF001 - the view's own other half

    return announce


def _key_receiver(
    view: weakref.ref[ProviderPicker],
) -> Callable[[Any, Any, Any], None]:
    """Return the handler of the one message that carries a key.

    The key is the message's binary buffer, not its content: with logging at DEBUG, the
    comm package and ipykernel write each content down - into the running cell's output,
    and so into the notebook.
    """

    def handle(_widget: Any, content: Any, buffers: Any) -> None:
        target = view()
        if (
            target is None
            or not isinstance(content, dict)
            or "typed_for" not in content
        ):
            return
        raw = bytes(buffers[0])[:_LONGEST_KEY] if buffers else b""
        typed = _Typed(raw.decode("utf-8", "replace"))
        target.receive({"op": "typed", "typed": typed, "seen": content["typed_for"]})

    return handle

"""What a picker finds out about its form's server, on the process's background loop.

The server's list of models, the check and the keyring take time; neither the kernel nor a
callback ever waits for them. A result belongs to the values of the form that it was asked
for: when those change it is dropped, or shown as out of date.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import partial
from typing import Any

from synthnb.engine.background import loop_in_thread
from synthnb.errors import AuthError, ConfigError, SynthnbError
from synthnb.local import Provider
from synthnb.providers.key_offers import has_keyring, keyring_offer
from synthnb.providers.redaction import Redactor
from synthnb.providers.report import CheckReport, Step
from synthnb.providers.servers import ListedModel
from synthnb.widgets.picker_check import CheckResult
from synthnb.widgets.picker_form import Form
from synthnb.widgets.picker_keys import Target
from synthnb.widgets.picker_server import extras, list_models

_log = logging.getLogger(__name__)
_STARTING = "starting the built-in model…"


class Listing:
    """A server's list of models, and the server and key that it was fetched with."""

    _count = 0

    def __init__(self, mark: object) -> None:
        """Begin to wait for the list."""
        Listing._count += 1
        self.number = Listing._count
        self.mark = mark
        self.state = "asking"
        self.models: tuple[ListedModel, ...] | None = None
        self.error = ("", "")

    def take(self, models: tuple[ListedModel, ...] | None) -> None:
        """Keep what the server said; ``None`` where it keeps no list."""
        self.models = models
        self.state = "none" if models is None else "listed"


class Inquiry:
    """The questions of one form that are under way, and their answers.

    Args:
        form: whose server is asked.
        lock: guards the form.
        changed: called, from any thread, when there is something new.
    """

    def __init__(
        self, form: Form, lock: threading.RLock, changed: Callable[[], None]
    ) -> None:
        self._form = form
        self._lock = lock
        self._changed = changed
        self._listing: Listing | None = None
        self._looked: set[str] = set()
        self._tasks: dict[str, Future[None]] = {}
        self.checked: CheckResult | None = None

    # models ----------------------------------------------------------------------

    @property
    def listing(self) -> Listing | None:
        """The list for the server and key that the form names now, if it was asked for."""
        listing = self._listing
        return listing if listing and listing.mark == self._list_mark() else None

    @property
    def listed(self) -> tuple[ListedModel, ...] | None:
        """The server's models, where they are known."""
        listing = self.listing
        return listing.models if listing else None

    def look(self, *, again: bool = False) -> None:
        """Ask for the server's models, unless they are known or cannot be asked for.

        Args:
            again: ask also where the answer is known.
        """
        with self._lock:
            target = self._form.target()
            if target is None:
                self._drop("list")
                if self._listing is not None and self._listing.state == "asking":
                    self._listing = None  # nobody will answer: asked again on return
                return
            self._ask_keyring(target, again=again)
            if self.listing is not None and not again:
                return
            try:
                provider = self._form.provider(with_model=False)
            except SynthnbError:  # the form says what is missing
                self._drop("list")
                self._listing = None
                return
            self._listing = Listing(self._list_mark())
            self._start("list", self._fetch(provider, self._listing))
        self._changed()

    async def _fetch(self, provider: Provider, listing: Listing) -> None:
        redact = self._redactor()
        try:
            listing.take(await list_models(provider))
        except SynthnbError as error:
            message, hint = error.message, in_form_words(error.hint)
            if isinstance(error, AuthError):
                message, hint = self._form.refused(message)
            listing.error = (redact(message), redact(hint))
            listing.state = "failed"
        if self._listing is listing:
            self._changed()

    def _list_mark(self) -> object:
        target = self._form.target()
        return target and (target.base_url, self._form.keys.of(target).tag)

    # keyring ---------------------------------------------------------------------

    def _ask_keyring(self, target: Target, *, again: bool) -> None:
        if not has_keyring() or (target.origin in self._looked and not again):
            return
        self._looked.add(target.origin)
        self._start(f"keyring {target.origin}", self._from_keyring(target))

    async def _from_keyring(self, target: Target) -> None:
        # It may be locked and ask its owner: on a thread, for as long as that takes.
        offer = await asyncio.to_thread(keyring_offer, target.base_url)
        with self._lock:
            self._form.keys.from_keyring(target, offer)
        if offer is not None:
            self.look()
            self._changed()

    # check -----------------------------------------------------------------------

    def check(self) -> None:
        """Start a check of the form's provider; one that runs already is cancelled."""
        with self._lock:
            self._drop("check")
            result = CheckResult(
                self._form.mark(),
                is_local=self._form.way == "builtin",
                redact=self._redactor(),
                advise=self._advise,
            )
            self.checked = result
            try:
                provider = self._provider(result)
            except ConfigError as error:
                result.running = False
                result.error = (error.message, error.hint)
            else:
                result.note = _STARTING if provider.is_local else ""
                work = self._run(provider, result, self._list_mark())
                self._start("check", work)
        self._changed()

    def _provider(self, result: CheckResult) -> Provider:
        if self._form.way != "builtin":
            return self._form.provider(self.listed)
        return self._form.provider(local={"progress": partial(self._fetching, result)})

    def stop(self) -> None:
        """Cancel the check that runs."""
        with self._lock:
            self._drop("check")
            if self.checked is not None:
                self.checked.running = False

    def stop_outdated(self) -> None:
        """Cancel the check that runs, if the form has changed since it began."""
        if self.checked is not None and self.checked.mark != self._form.mark():
            self.stop()

    async def _run(self, provider: Provider, result: CheckResult, mark: object) -> None:
        try:
            report = await provider.check(partial(self._step, result))
            if report.ok and not provider.is_local:
                result.version, result.metrics = await extras(provider, report.server)
            with self._lock:
                result.report = report
                self._learn(report, mark)
        except Exception as error:  # noqa: BLE001 - shown, where a log would be overlooked
            result.error = (f"{type(error).__name__}: {error}", "")
        finally:
            result.running = False
        if self.checked is result:
            self._changed()

    def _learn(self, report: CheckReport, mark: object) -> None:
        """Take the models that a check has listed, where they were not known."""
        if mark is None or not report.models or self.listed is not None:
            return
        parents = report.adapters
        self._listing = Listing(mark)
        self._listing.take(
            tuple(ListedModel(name, parents.get(name)) for name in report.models)
        )

    def _step(self, result: CheckResult, step: Step) -> None:
        result.steps[step.name] = step
        result.note = ""
        if self.checked is result:
            self._changed()

    def _fetching(self, result: CheckResult, what: str, done: int, total: int) -> None:
        note = f"{what} {done / total:.0%}" if total else what
        if note != result.note and self.checked is result:
            result.note = note
            self._changed()

    def _advise(self, step: Step) -> tuple[str, str]:
        if step.name == "key accepted":
            return self._form.refused(step.detail)
        if step.name == "model present" and "model=" in step.next_step:
            return "no model is chosen", "choose one in the Model field"
        return step.detail, in_form_words(step.next_step)

    # both ------------------------------------------------------------------------

    def _redactor(self) -> Redactor:
        chosen = self._form.chosen_key()
        try:
            secret = None if chosen is None else chosen.key.reveal()
        except ConfigError:
            secret = None
        return Redactor([secret] if secret else [])

    def _start(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        self._drop(name)
        future = asyncio.run_coroutine_threadsafe(work, loop_in_thread())
        future.add_done_callback(_log_failure)
        self._tasks[name] = future

    def _drop(self, name: str) -> None:
        former = self._tasks.pop(name, None)
        if former is not None:
            former.cancel()

    def close(self) -> None:
        """Cancel all that runs."""
        with self._lock:
            for name in list(self._tasks):
                self._drop(name)


def in_form_words(hint: str) -> str:
    """Return a hint in which a call is named as the field that does the same."""
    return hint.replace(
        "use the embedded model: Provider.local()", "choose Built-in model above"
    ).replace("Provider.local()", "Built-in model")


def _log_failure(future: Future[None]) -> None:
    if not future.cancelled() and (error := future.exception()) is not None:
        _log.error("a question of the picker failed", exc_info=error)

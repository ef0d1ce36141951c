"""What is known of a server and model, and how it is kept from one kernel to the next.

Nothing is believed for ever. A server whose kind or version changed is met anew; what was
learned is tried again after 30 days (one day on this machine, where a port may belong to
another server tomorrow); and a context's size that comes from an earlier kernel refuses
no request before the server has confirmed it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

from synthnb.providers import dialect_cache
from synthnb.providers.error_bodies import Failure
from synthnb.providers.forms import IDEAL, OPTIONAL, THIS_SCHEMA, Form, Structured
from synthnb.records import Request

_MOST_TOKENS = 100_000_000
_MOST_AT_ONCE = 100_000
REASONING_FIELDS = ("reasoning", "reasoning_content")
INLINE = "inline"
"""Reasoning stands in the text, between tags."""


class Dialect:
    """What is known about one server and model; shared by all clients of the process.

    Attributes:
        form: how requests are written down.
        context: tokens of prompt and answer together, where known.
        is_context_sure: whether the server itself told the context to this process.
        reasoning: the field in which it stands, or ``"inline"``; ``None`` until seen.
        sends_usage: ``None`` until the first answer.
        cuts_prompts: whether the server was seen to cut one in silence.
        settled: requests at once at which an earlier run settled.
        server: its kind and version; empty where it does not say.
        learned_at: when an earlier process learned it, in seconds since 1970; 0 if it
            comes from this one.
    """

    __slots__ = (
        "_is_on_disk",
        "_lock",
        "_place",
        "context",
        "cuts_prompts",
        "form",
        "is_context_sure",
        "learned_at",
        "reasoning",
        "sends_usage",
        "server",
        "settled",
    )
    max_steps = 10

    def __init__(
        self, form: Form = IDEAL, place: tuple[str, str] | None = None
    ) -> None:
        """Start from a form; the ideal one asks for all that a request wants.

        Args:
            form: where to start.
            place: base URL and model, under which it is kept on disk.
        """
        self.server = ""
        self._forget()
        self.form = form
        self._place = place
        self._lock = threading.Lock()
        self._is_on_disk = False
        if place is not None:
            self._recall(dialect_cache.load(*place))

    def _forget(self) -> None:
        self.form = IDEAL
        self.context: int | None = None
        self.is_context_sure = False
        self.reasoning: str | None = None
        self.sends_usage: bool | None = None
        self.cuts_prompts = False
        self.settled: int | None = None
        self.learned_at = 0.0

    def describe(self) -> tuple[str, ...]:
        """Return what was learned, for people."""
        notes = self.form.describe()
        if self.reasoning is not None:
            notes += (f"reasoning: {self.reasoning}",)
        if self.sends_usage is False:
            notes += ("usage: missing",)
        if self.cuts_prompts:
            notes += ("cuts_prompts",)
        return notes

    # learning ----------------------------------------------------------------------

    def meet(self, server: str) -> None:
        """Note which server this is; another one than before is met anew.

        Args:
            server: its kind and version, such as ``"vllm 0.14.1"``; empty = unknown.
        """
        if not server or server == self.server:
            return
        if self.server:
            self._forget()
        self.server = server
        self.keep()

    def learn(self, failure: Failure, request: Request, sent: Form) -> Form | None:
        """Return the form in which to send the refused request at once, if any.

        What says something about the server is remembered. A complaint about this very
        schema (too large, a keyword the grammar lacks) changes only this request.

        Args:
            failure: what the server said.
            request: the request that it refused.
            sent: the form in which it was sent; another task may have learned since.
        """
        following = sent.after(failure, request)
        if following is None:
            return None
        changed_format = following.structured != sent.structured
        if changed_format and THIS_SCHEMA.search(failure.message):
            return following
        before, self.form = self.form, self.form.union(following)
        if self.form != before:
            self.learned_at = 0.0
            self.keep()
        return self.form.union(following)

    def learn_context(self, tokens: int | None) -> None:
        """Note the context's size, as the server lists it or as a refusal told it."""
        if not tokens:
            return
        self.is_context_sure = True
        if tokens != self.context:
            self.context = tokens
            self.keep()

    def doubt_context(self) -> None:
        """Forget the context's size: the server took more than that."""
        self.context, self.is_context_sure = None, False
        self.keep()

    def learn_reasoning(self, where: str) -> None:
        """Note where reasoning stands in this server's answers."""
        self.reasoning = where
        self.keep()

    def learn_usage(self, *, is_sent: bool) -> None:
        """Note whether answers count their tokens."""
        changed = self.sends_usage is False or not is_sent
        self.sends_usage = is_sent
        if changed:
            self.keep()

    def learn_cut(self, context: int | None) -> None:
        """Note that a prompt was cut in silence, and at which size."""
        if not self.cuts_prompts:
            self.cuts_prompts = True
            self.keep()
        if self.context is None:
            self.learn_context(context)

    def learn_settled(self, at_once: int) -> None:
        """Note at how many requests at once a run settled."""
        if at_once != self.settled:
            self.settled = at_once
            self.keep()

    def ignores_response_format(self) -> None:
        """Note that the server takes ``response_format`` and does nothing with it."""
        self.form = self.form.union(Form(structured=Structured.PROMPT_ONLY))

    # the disk ----------------------------------------------------------------------

    def keep(self) -> None:
        """Write down what is known; off the loop where one runs."""
        if self._place is None or not (self._is_on_disk or self._lessons() != _NOTHING):
            return
        self._is_on_disk = True
        try:
            asyncio.get_running_loop().run_in_executor(None, self._save)
        except RuntimeError:  # no loop here, or one that is about to end
            self._save()
        except OSError:
            # No descriptor is left, not even to import the executor: what is remembered
            # is a courtesy, and must not fail a run.
            return

    def _lessons(self) -> dict[str, Any]:
        form = self.form
        return {
            "structured": int(form.structured),
            "completion_limit": form.completion_limit,
            "fold_system": form.fold_system,
            "plain_schema": form.plain_schema,
            "dropped": sorted(form.dropped),
            "context": self.context,
            "reasoning": self.reasoning,
            "sends_usage": None if self.sends_usage else self.sends_usage,
            "cuts_prompts": self.cuts_prompts,
            "settled": self.settled,
        }

    def _save(self) -> None:
        assert self._place is not None
        with self._lock:  # the state as it is now: saves may not overtake each other
            when = self.learned_at or time.time()
            about = {"learned_at": when, "server": self.server}
            dialect_cache.save(*self._place, about | self._lessons())

    def _recall(self, kept: dict[str, Any]) -> None:
        if not kept:
            return
        self._is_on_disk = True
        try:
            self.form = Form(
                Structured(kept["structured"]),
                kept["completion_limit"] is True,
                kept["fold_system"] is True,
                kept["plain_schema"] is True,
                frozenset(map(str, kept["dropped"])) & frozenset(OPTIONAL),
            )
            self.context = _whole(kept["context"], _MOST_TOKENS)
            self.settled = _whole(kept["settled"], _MOST_AT_ONCE)
            where = kept["reasoning"]
            self.reasoning = where if where in {*REASONING_FIELDS, INLINE} else None
            self.sends_usage = False if kept["sends_usage"] is False else None
            self.cuts_prompts = kept["cuts_prompts"] is True
            self.server = str(kept["server"])[:200]
            self.learned_at = float(kept["learned_at"])
        except (KeyError, TypeError, ValueError):
            self._forget()
            self.server = ""


def _whole(value: Any, most: int) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 < value <= most else None


_NOTHING = Dialect()._lessons()  # noqa: SLF001 - of this module
_known: dict[tuple[str, str], Dialect] = {}


def dialect_of(base_url: str, model: str, *, is_kept: bool = True) -> Dialect:
    """Return the process's one dialect of a server and model.

    Args:
        base_url: of the server.
        model: the model's id.
        is_kept: whether it is kept on disk; that of a server which this process
            launched on a free port would never be found again.
    """
    known = _known.get((base_url, model))
    if known is None:
        place = (base_url, model) if is_kept else None
        known = _known[base_url, model] = Dialect(place=place)
    return known


def forget_dialect(base_url: str, model: str | None = None) -> None:
    """Forget one server and model, here and on disk; all its models if none is named."""
    for place in list(_known):
        if place[0] == base_url and model in {None, place[1]}:
            del _known[place]
    dialect_cache.forget(base_url, model)


def forget_dialects() -> None:
    """Forget all that this process knows, as a new one would; the disk keeps it."""
    _known.clear()

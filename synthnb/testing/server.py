"""The fault server itself."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import tempfile
import threading
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Self

from synthnb.testing import certificates
from synthnb.testing.answers import ThinkForm
from synthnb.testing.capacity import Capacity
from synthnb.testing.certificates import TlsKind
from synthnb.testing.chat import Answerer, ChatScript, Latency, Refusal, echo
from synthnb.testing.exchange import Desk
from synthnb.testing.faults import Fault, FaultScript
from synthnb.testing.kinds import Kind, kind_of
from synthnb.testing.listener import Listener
from synthnb.testing.outages import Away, Outage
from synthnb.testing.overflow import OVERFLOWS
from synthnb.testing.refusals import IN_STRINGS, REFUSALS
from synthnb.testing.shapes import string_error
from synthnb.testing.stats import Stats


class FaultServer(Desk):
    """A scripted OpenAI-compatible server on 127.0.0.1. See ``synthnb.testing``.

    What is ``None`` here is as the kind of server has it.

    Args:
        answer: a text, or a function of the request's body that returns a text or an
            ``Answer``. It runs on the server's loop.
        kind: the server that this one is like (``FaultServer.like``): its paths, error
            shapes, metrics and refusals.
        latency: seconds before each chat answer, a function of the body, or ``Jitter``
            or ``LogNormal``, which give one request the same delay for every client.
        capacity: what it takes at once (``Capacity``); two may be given where one is a
            rate. ``server.capacity`` may be changed while it runs.
        faults: rules; the list ``server.faults`` may be changed while it runs.
        outages: when it is away; the list ``server.outages`` may be changed as well.
        seed: of the rules with a rate, and of the delays.
        models: ids that ``/v1/models`` lists.
        owned_by: what it says there; tells clients which server this is.
        max_model_len: requests over it are refused (a token = 4 characters).
        overflow: in which words, by a name of ``overflow.OVERFLOWS``; ``"cut"`` answers
            a prompt that it has cut in silence.
        strict_model: 404 for a model that is not listed; else any name is taken.
        require_key: 401 on ``/v1/*`` without this bearer key.
        keep_bodies: how many request bodies ``stats.bodies`` holds.
        port: 0 takes a free one; it is kept over ``close`` and ``start``.
        metrics: False has no ``/metrics`` (llama.cpp says 501, others 404).
        loading: True while its model loads; ``server.loading`` may be changed.
        thinking: of all answers that bring none of their own.
        think_form: where it stands (``Answer.form``).
        sends_usage: False leaves ``usage`` out.
        cuts_at_max_tokens: answers longer than the request's limit are cut, with the
            finish reason ``length``.
        tls: ``"self-signed"`` or ``"wrong-host"`` serves https with a new certificate
            (needs the ``openssl`` program), whose path is ``server.ca_file``.
        tls_files: https with this certificate and key.
        refusals: flags, each True to refuse with 400 what certain servers refuse:
            ``no_json_schema``, ``no_json_object``, ``no_text_format`` (in LM Studio's
            form), ``no_response_format``, ``no_max_tokens`` and ``no_temperature``
            (OpenAI's reasoning models), ``no_system_role``, ``needs_user_turn``;
            ``unknown_field_422`` for fields that are not OpenAI's.

    Raises:
        TypeError: there is no such flag.
        ValueError: there is no such kind, overflow or certificate.
        RuntimeError: a certificate was wanted and there is no ``openssl``.
    """

    def __init__(
        self, answer: Answerer | str = echo, *,
        kind: str = "plain", port: int = 0, seed: int = 0,
        latency: Latency = 0.0, capacity: Capacity | Sequence[Capacity] | None = None,
        faults: Iterable[Fault] = (), outages: Iterable[Outage] = (),
        models: Sequence[str] | None = None, owned_by: str | None = None,
        max_model_len: int | None = None, overflow: str | None = None,
        strict_model: bool | None = None, require_key: str | None = None,
        metrics: bool = True, loading: bool = False, keep_bodies: int = 100,
        thinking: str | None = None, think_form: ThinkForm | None = None,
        sends_usage: bool = True, cuts_at_max_tokens: bool = False,
        tls: TlsKind | None = None,
        tls_files: tuple[str | Path, str | Path] | None = None,
        **refusals: bool,
    ) -> None:  # fmt: skip
        like = kind_of(kind)
        script = _script(like, answer, latency, refusals)
        script.script = FaultScript.of(faults, seed)
        script.models = list(like.models if models is None else models)
        if max_model_len is not None:
            script.max_model_len = max_model_len
        if strict_model is not None:
            script.strict_model = strict_model
        script.overflow = _known(overflow or like.overflow)
        script.thinking, script.sends_usage = thinking, sends_usage
        script.think_form = think_form or like.think_form
        script.cuts_at_max_tokens = cuts_at_max_tokens
        stats = Stats(bodies=deque(maxlen=keep_bodies))
        owner = like.owned_by if owned_by is None else owned_by
        super().__init__(
            script, stats, owned_by=owner, key=require_key, has_metrics=metrics
        )
        self.ca_file, context = self._tls(tls, tls_files)
        self._listener = Listener(port, context)
        self.loading, self.capacity, self.outages = loading, capacity, list(outages)

    @classmethod
    def like(
        cls, kind: str, answer: Answerer | str = echo, **overrides: Any
    ) -> FaultServer:
        """Make a server that is like one of a kind.

        Args:
            kind: ``"vllm"``, ``"vllm-old"``, ``"kaito-vllm"``, ``"kaito-transformers"``,
                ``"sglang"``, ``"llama.cpp"``, ``"ollama"``, ``"lm-studio"``,
                ``"litellm"``, ``"openai"``, ``"openai-reasoning"``, ``"mistral"`` or
                ``"trtllm"``.
            answer: as of ``FaultServer``.
            overrides: any other option of ``FaultServer``.

        Raises:
            ValueError: there is no such kind.
        """
        return cls(answer, kind=kind, **overrides)

    @property
    def faults(self) -> list[Fault]:
        """The rules, in order; may be changed while the server runs."""
        return self.chat.script.rules

    @property
    def port(self) -> int:
        """The port; 0 before the start where a free one is wanted."""
        return self._listener.port

    @property
    def url(self) -> str:
        """The root, without ``/v1``."""
        return f"{'https' if self.ca_file else 'http'}://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        """What a client takes as its base URL, with ``/v1``."""
        return f"{self.url}/v1"

    # life ------------------------------------------------------------------------

    async def start(self) -> None:
        """Listen. After ``close`` it listens again on the same port.

        Raises:
            OSError: the port is in use.
        """
        self._away = None
        await self._listener.start(self)

    async def close(self) -> None:
        """Stop listening and cut every connection, as a killed server would."""
        self._forget_return()
        await self._listener.close()

    def down(self, how: Away = "refuse") -> None:
        """Go away now, from any thread. ``Outage.how`` says in which ways."""
        self._listener.call(partial(self._go, how))

    def up(self, *, model: str | None = None) -> None:
        """Come back, from any thread; with another model if one is named."""
        self._listener.call(partial(self._return, model))

    async def __aenter__(self) -> Self:
        """Start in the running loop."""
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        await self.close()

    @classmethod
    @contextmanager
    def in_thread(cls, *args: Any, **options: Any) -> Iterator[Self]:
        """Run a server in a loop and a thread of its own, for synchronous tests."""
        server = cls(*args, **options)
        loop = asyncio.new_event_loop()
        thread = threading.Thread(
            target=loop.run_forever, name="fault-server", daemon=True
        )
        thread.start()
        try:
            asyncio.run_coroutine_threadsafe(server.start(), loop).result(10)
            yield server
        finally:
            asyncio.run_coroutine_threadsafe(server.close(), loop).result(10)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(10)
            loop.close()

    def _tls(
        self, tls: TlsKind | None, files: tuple[str | Path, str | Path] | None
    ) -> tuple[Path | None, ssl.SSLContext | None]:
        if files is not None:
            cert, key = Path(files[0]), Path(files[1])
        elif tls is not None:
            # Kept as long as this server: a client may read it at any time.
            folder = tempfile.mkdtemp(prefix="fault-server-")
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            cert, key = certificates.make_certificate(Path(folder), tls)
        else:
            return None, None
        return cert, certificates.server_context(cert, key)


def _script(
    kind: Kind, answer: Answerer | str, latency: Latency, flags: dict[str, bool]
) -> ChatScript:
    return ChatScript(
        answer=answer,
        latency=latency,
        script=FaultScript([]),
        models=[],
        max_model_len=kind.context,
        strict_model=kind.strict_model,
        refusals=_refusals(kind, flags),
        kind=kind,
    )


def _known(overflow: str) -> str:
    if overflow not in OVERFLOWS:
        raise ValueError(f"{overflow!r} is no overflow; there are {list(OVERFLOWS)}")
    return overflow


def _refusals(kind: Kind, flags: dict[str, bool]) -> list[Refusal]:
    if unknown := set(flags) - set(REFUSALS):
        raise TypeError(f"FaultServer takes no {sorted(unknown)}")
    wanted = dict.fromkeys(kind.refusals, True) | flags
    shapes = {
        name: string_error
        if kind.name == "plain" and name in IN_STRINGS
        else kind.error
        for name in wanted
    }
    return [
        partial(REFUSALS[name], error=shapes[name]) for name, on in wanted.items() if on
    ]

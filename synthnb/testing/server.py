"""The fault server itself."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, Self

import orjson

from synthnb.testing import replies
from synthnb.testing.chat import Answerer, ChatScript, echo
from synthnb.testing.faults import Fault, FaultScript
from synthnb.testing.stats import Stats, prompt_key
from synthnb.testing.wire import HttpRequest, Reply, WatchedReader, read_request, send


class FaultServer:
    """A scripted OpenAI-compatible server on 127.0.0.1. See ``synthnb.testing``.

    Args:
        answer: a text, or a function of the request's body that returns a text or an
            ``Answer``. It runs on the server's loop.
        latency: seconds before each chat answer, or a function of the body.
        faults: rules; the list ``server.faults`` may be changed while it runs.
        seed: of the rules with a rate.
        models: ids that ``/v1/models`` lists.
        owned_by: what it says there; tells clients which server this is.
        max_model_len: listed there; requests over it get 400 (a token = 4 characters).
        strict_model: 404 for a model that is not listed; else any name is taken.
        require_key: 401 on ``/v1/*`` without this bearer key.
        keep_bodies: how many request bodies ``stats.bodies`` holds.
        port: 0 takes a free one; it is kept over ``close`` and ``start``.
        refusals: flags, each True to refuse with 400 what certain servers refuse:
            ``no_json_schema`` and ``no_json_object`` (in LM Studio's form),
            ``no_max_tokens`` and ``no_temperature`` (OpenAI's reasoning models),
            ``no_system_role``; ``unknown_field_422`` for fields that are not OpenAI's.
    """

    def __init__(
        self,
        answer: Answerer | str = echo,
        *,
        latency: float | Callable[[dict[str, Any]], float] = 0.0,
        faults: Iterable[Fault] = (),
        seed: int = 0,
        models: Sequence[str] = ("fault-model",),
        owned_by: str = "vllm",
        max_model_len: int | None = None,
        strict_model: bool = False,
        require_key: str | None = None,
        keep_bodies: int = 100,
        port: int = 0,
        **refusals: bool,
    ) -> None:
        if unknown := set(refusals) - set(replies.REFUSALS):
            raise TypeError(f"FaultServer takes no {sorted(unknown)}")
        self.chat = ChatScript(
            answer=answer,
            latency=latency,
            script=FaultScript.of(faults, seed),
            models=list(models),
            max_model_len=max_model_len,
            strict_model=strict_model,
            refusals=[replies.REFUSALS[name] for name, on in refusals.items() if on],
        )
        self.owned_by = owned_by
        self.port = port
        self.stats = Stats(bodies=deque(maxlen=keep_bodies))
        self._key = require_key
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def faults(self) -> list[Fault]:
        """The rules, in order; may be changed while the server runs."""
        return self.chat.script.rules

    @property
    def url(self) -> str:
        """The root, without ``/v1``."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        """What a client takes as its base URL, with ``/v1``."""
        return f"{self.url}/v1"

    # life ------------------------------------------------------------------------

    async def start(self) -> None:
        """Listen. After ``close`` it listens again on the same port."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: asyncio.StreamReaderProtocol(
                WatchedReader(loop), self._accept, loop=loop
            ),
            "127.0.0.1",
            self.port,
            backlog=1024,
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stop listening and cut every connection, as a killed server would."""
        if self._server is None:
            return
        self._server.close()
        # Repeated: a connection may have been accepted in this very moment.
        while self._writers or self._tasks:
            for writer in list(self._writers):
                writer.transport.abort()
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()
        self._server = None

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

    # connections -----------------------------------------------------------------

    def _accept(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        assert isinstance(reader, WatchedReader)
        task = asyncio.get_running_loop().create_task(self._talk(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _talk(self, reader: WatchedReader, writer: asyncio.StreamWriter) -> None:
        self.stats.connections += 1
        self._writers.add(writer)
        try:
            while (request := await read_request(reader)) is not None:
                reusable = await self._exchange(request, reader, writer)
                if request.closes or not reusable:
                    break
        except ConnectionError:
            pass  # the client left; that is its right
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _exchange(
        self, request: HttpRequest, reader: WatchedReader, writer: asyncio.StreamWriter
    ) -> bool:
        self.stats.paths[f"{request.method} {request.path}"] += 1
        self.stats.authorized += "authorization" in request.headers
        route = (request.method, request.path)
        if route == ("POST", "/v1/chat/completions"):
            reply = self._refuse_key(request)
            if reply is None:
                return await self._chat(request, reader, writer)
        else:
            reply = self._plain(route, request)
        self.stats.statuses[reply.status] += 1
        return await send(reply, None, reader, writer)

    def _plain(self, route: tuple[str, str], request: HttpRequest) -> Reply:
        if route == ("GET", "/health"):
            return Reply(200)
        if route == ("GET", "/__stats"):
            return Reply.json(200, self.stats.to_json())
        if route == ("GET", "/v1/models"):
            return self._refuse_key(request) or Reply.json(200, self._model_list())
        return Reply.json(404, {"detail": "Not Found"})

    def _refuse_key(self, request: HttpRequest) -> Reply | None:
        if self._key is None:
            return None
        if request.headers.get("authorization") == f"Bearer {self._key}":
            return None
        return replies.openai_error(401, "Incorrect API key", code="invalid_api_key")

    def _model_list(self) -> dict[str, Any]:
        limit = self.chat.max_model_len
        extra = {"max_model_len": limit} if limit else {}
        data = [
            {
                "id": name,
                "object": "model",
                "created": 0,
                "owned_by": self.owned_by,
                **extra,
            }
            for name in self.chat.models
        ]
        return {"object": "list", "data": data}

    async def _chat(
        self, request: HttpRequest, reader: WatchedReader, writer: asyncio.StreamWriter
    ) -> bool:
        try:
            body = orjson.loads(request.body)
            list(body["messages"])
        except (orjson.JSONDecodeError, KeyError, TypeError):
            self.stats.statuses[400] += 1
            reply = replies.openai_error(400, "the body is no chat request")
            return await send(reply, None, reader, writer)
        prompt = prompt_key(request.body, body)
        self.stats.header_names.update(request.headers.keys())
        number = self.stats.arrive(prompt, body)
        plan = self.chat.plan(number, request.body, body, prompt)
        try:
            if not await reader.pause(plan.latency):
                return False
            reply = plan.reply()
            if plan.fault is not None:
                self.stats.faults[plan.fault.name] += 1
            if plan.special_delivery:
                reusable = await send(reply, plan.fault, reader, writer)
                if reusable:
                    self._count(reply, prompt)
                return reusable
        finally:
            self.stats.in_flight -= 1
            self.stats.abandoned += reader.gone.done()
        # Counted before the client can see the answer and send its next request, so that
        # `max_in_flight` is never more than what the client had open.
        self._count(reply, prompt)
        return await send(reply, None, reader, writer)

    def _count(self, reply: Reply, prompt: str) -> None:
        self.stats.statuses[reply.status] += 1
        if reply.status == HTTPStatus.OK:
            self.stats.answered[prompt] += 1

"""A chat client that answers from a script: for tests, tutorials and dry runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from synthnb.errors import ConfigError
from synthnb.records import Completion, Request

ScriptedAnswer: TypeAlias = str | Completion | Exception
"""A text, a whole completion, or an error that is raised."""

Script: TypeAlias = (
    ScriptedAnswer
    | Sequence[ScriptedAnswer]
    | Callable[[Request], ScriptedAnswer]
    | Callable[[Request], Awaitable[ScriptedAnswer]]
)


class ScriptedClient:
    """Implements ``ChatClient`` without a network; the same calls give the same answers.

    Attributes:
        requests: every request, in the order in which it came.
        max_in_flight: the most requests that were waiting at once.
        closed: whether ``aclose`` was called.
    """

    def __init__(
        self,
        answers: Script,
        model: str = "scripted",
        delay: float = 0.0,
        *,
        concurrency: int = 8,
    ) -> None:
        """Take the script.

        Args:
            answers: one for all, or several that are given out in turn (from the start
                again when they are used up), or a function of the request.
            model: the id to answer under.
            delay: seconds that each answer takes.
            concurrency: the default for runs that name none.

        Raises:
            ConfigError: the script is empty.
        """
        if isinstance(answers, str | Completion | Exception):
            answers = (answers,)  # a text is one answer, not one for each letter
        if not callable(answers) and not answers:
            raise ConfigError("a scripted client needs at least one answer")
        self._answers = answers
        self._model = model
        self._delay = delay
        self._concurrency = concurrency
        self._in_flight = 0
        self.requests: list[Request] = []
        self.max_in_flight = 0
        self.closed = False

    @property
    def model(self) -> str:
        """The id given to the constructor."""
        return self._model

    @property
    def endpoint(self) -> str:
        """A URL that no one can mistake for a server."""
        return "scripted://"

    @property
    def default_concurrency(self) -> int:
        """The number given to the constructor."""
        return self._concurrency

    async def complete(self, request: Request) -> Completion:
        """Return the script's next answer.

        Raises:
            Exception: what the script holds in this place.
        """
        place = len(self.requests)
        self.requests.append(request)
        self._in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self._in_flight)
        try:
            await asyncio.sleep(self._delay)
            answer = await self._answer(request, place)
        finally:
            self._in_flight -= 1
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            return Completion(answer, finish_reason="stop", model=self._model)
        return answer

    async def _answer(self, request: Request, place: int) -> ScriptedAnswer:
        if not callable(self._answers):
            return self._answers[place % len(self._answers)]
        answer = self._answers(request)
        return await answer if isinstance(answer, Awaitable) else answer

    async def aclose(self) -> None:
        """Note that it was closed."""
        self.closed = True

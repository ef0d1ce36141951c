"""Trying a recipe on a few rows, apart from any run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from synthnb.engine.replay import next_request, read_answer
from synthnb.providers.protocol import ChatClient
from synthnb.recipes.base import Parsed, Recipe
from synthnb.records import Completion, Message, Request, Row


@dataclass(frozen=True, slots=True)
class Preview:
    """One row: what was sent, what came back, and what the recipe made of it."""

    row: Row
    requests: tuple[Request, ...]
    completions: tuple[Completion, ...]
    parsed: tuple[Parsed, ...]

    @property
    def items(self) -> tuple[Mapping[str, Any], ...]:
        """The usable items of all answers."""
        return tuple(item for parsed in self.parsed for item in parsed.items)

    def __str__(self) -> str:
        """Return prompts and answers as readable text."""
        lines = []
        shown: tuple[Message, ...] = ()
        turns = zip(self.requests, self.completions, self.parsed, strict=True)
        for request, completion, parsed in turns:
            # A top-up mostly repeats what was sent before: only the rest is news.
            same = sum(
                1 for _ in takewhile(_equal, zip(shown, request.messages, strict=False))
            )
            lines += [f"({same} messages as above)\n"] * bool(same)
            shown = request.messages
            lines += [f"[{m.role}]\n{m.content}\n" for m in shown[same:]]
            lines.append(f"[answer · {parsed.status}] {parsed.detail}".rstrip())
            lines += [completion.text, ""]
        lines += [f"item {n}: {dict(item)}" for n, item in enumerate(self.items, 1)]
        return "\n".join(lines)


def _equal(pair: tuple[Message, Message]) -> bool:
    return pair[0] == pair[1]


class Previews(tuple[Preview, ...]):
    """What ``preview`` returns: a tuple that prints row by row."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return all previews, a rule between them."""
        return ("\n" + "-" * 72 + "\n").join(str(preview) for preview in self)


async def preview_rows(
    recipe: Recipe, rows: Sequence[Row], client: ChatClient
) -> Previews:
    """Ask for each row, all at once; the first failure is raised.

    Raises:
        ProviderError: a request failed; there is no retry here, a person is waiting.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_preview(recipe, row, client)) for row in rows]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return Previews(task.result() for task in tasks)


async def _preview(recipe: Recipe, row: Row, client: ChatClient) -> Preview:
    requests: list[Request] = []
    completions: list[Completion] = []
    parsed: list[Parsed] = []
    while (request := next_request(recipe, row, parsed, 0)) is not None:
        completion = await client.complete(request)
        requests.append(request)
        completions.append(completion)
        parsed.append(read_answer(recipe, row, completion, parsed))
    return Preview(row, tuple(requests), tuple(completions), tuple(parsed))

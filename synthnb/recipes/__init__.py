"""Recipes: what to ask for each row and how to read the answer.

A new recipe is one file with a class that fulfils ``Recipe`` and one line in the
registry below.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from synthnb.errors import ConfigError
from synthnb.recipes.base import Parsed, Recipe
from synthnb.recipes.chain_of_thought import ChainOfThought
from synthnb.recipes.conversation import Conversation
from synthnb.recipes.enhance import Enhance
from synthnb.recipes.judge import Judge
from synthnb.recipes.prompt import Prompt
from synthnb.recipes.qa import QA
from synthnb.recipes.summary import Summary

REGISTRY: Mapping[str, type[Any]] = {
    "chain_of_thought": ChainOfThought,
    "conversation": Conversation,
    "enhance": Enhance,
    "judge": Judge,
    "prompt": Prompt,
    "qa": QA,
    "summary": Summary,
}
"""Name in a frozen recipe → its class."""

__all__ = [
    "QA",
    "REGISTRY",
    "ChainOfThought",
    "Conversation",
    "Enhance",
    "Judge",
    "Parsed",
    "Prompt",
    "Recipe",
    "Summary",
    "from_json",
]


def from_json(value: Mapping[str, Any]) -> Recipe:
    """Return the recipe that ``to_json`` froze; its ``to_json`` is the same again.

    A ``Prompt`` whose output was a pydantic model comes back with the model's JSON
    schema: it asks the same and checks types, choices and bounds; validators written
    in Python stay behind. The hash of the built-in prompts (``prompts``) is not read:
    where a later version words them differently, ``to_json`` tells.

    Raises:
        ConfigError: an unknown recipe, or arguments that it does not have.
    """
    name = value.get("recipe")
    cls = REGISTRY.get(name) if isinstance(name, str) else None
    if cls is None:
        raise ConfigError(
            f"unknown recipe {name!r}",
            hint=f"known are {', '.join(sorted(REGISTRY))}; a newer synthnb may have more",
        )
    given = {k: v for k, v in value.items() if k not in {"recipe", "prompts"}}
    unknown = sorted(set(given) - set(inspect.signature(cls).parameters))
    if unknown:
        raise ConfigError(
            f"the frozen recipe {name!r} has unknown arguments: {', '.join(unknown)}",
            hint="it was perhaps written by a newer synthnb",
        )
    recipe: Recipe = cls(**given)
    return recipe

"""What is checked of a call's arguments before anything starts or costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from difflib import get_close_matches
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from synthnb.config import Limits
from synthnb.engine.replay import next_request
from synthnb.errors import ConfigError, FrameError, SynthnbError
from synthnb.frames import columns_of, rows_of
from synthnb.providers.prices import Price
from synthnb.providers.protocol import ChatClient
from synthnb.recipes.base import Recipe
from synthnb.records import Row

if TYPE_CHECKING:
    from synthnb.providers.provider import Provider

_PEEK = 3
_MAX_SAMPLES = 100_000


def check_arguments(
    recipe: Any, provider: Any, limits: Any = None, samples: Any = 1
) -> None:
    """Say which argument is of the wrong kind, before anything is made of it."""
    order = "The order is generate(recipe, rows, provider), e.g. generate(sn.QA(), …)."
    if isinstance(recipe, type) or not isinstance(recipe, Recipe):
        what = recipe if isinstance(recipe, type) else type(recipe)
        raise ConfigError(f"{what.__name__} is no recipe", hint=order)
    if isinstance(provider, type) or not (
        isinstance(provider, ChatClient) or hasattr(provider, "connect")
    ):
        msg = f"{type(provider).__name__} is no provider"
        hint = "Make one: sn.Provider('http://localhost:8000/v1'), or Provider.local()."
        raise ConfigError(msg, hint=hint)
    if limits is not None and not isinstance(limits, Limits):
        msg = f"limits is a {type(limits).__name__}"
        raise ConfigError(msg, hint="Write limits=sn.Limits(max_concurrency=8).")
    if type(samples) is not int or not 1 <= samples <= _MAX_SAMPLES:
        msg = f"samples is {samples!r}; it must be between 1 and {_MAX_SAMPLES:,}"
        raise ConfigError(msg, hint="Give the number of answers wanted for each row.")


def checked_rows(recipe: Recipe, rows: Any) -> tuple[Iterator[Row], int | None]:
    """Return the rows, proven usable as far as can be without reading them all."""
    columns = columns_of(rows)
    iterator = rows_of(rows)
    first = list(islice(iterator, _PEEK))
    if columns is None and first:
        columns = tuple(first[0])
    if columns:
        _check_columns(recipe, columns)
    _check_requests(recipe, first)
    total = len(rows) if isinstance(rows, Sized) else None
    return chain(first, iterator), total


def suited_to(recipe: Recipe, provider: Provider | ChatClient) -> Recipe:
    """Let a recipe that has forms for small and for other models take its form."""
    suited = getattr(recipe, "suited", None)
    if suited is None:
        return recipe
    settled: Recipe = suited(small=getattr(provider, "is_local", False))
    return settled


def _check_columns(recipe: Recipe, columns: Sequence[str]) -> None:
    missing = [name for name in recipe.needs if name not in columns]
    if not missing:
        return
    close = [m for name in missing for m in get_close_matches(name, columns, 1)]
    msg = (
        f"the recipe {recipe.step!r} reads {', '.join(map(repr, missing))}, which the "
        f"rows do not have; they have {', '.join(columns)}"
    )
    hint = f"Did you mean {close[0]!r}? " if close else ""
    raise FrameError(msg, hint=hint + "Rename the column or change the recipe.")


def _check_requests(recipe: Recipe, first: Sequence[Row]) -> None:
    """Raise here, in the cell, what a recipe would raise for each row later."""
    raised: list[Exception] = []
    for row in first:
        try:
            next_request(recipe, row, (), 0)
        except SynthnbError:
            raise
        except Exception as error:  # noqa: BLE001 - user code
            raised.append(error)
    if raised and len(raised) == len(first):
        cause = raised[0]
        msg = (
            f"the recipe {recipe.step!r} raised {type(cause).__name__} for the first "
            f"rows: {cause}"
        )
        hint = "Mend its request(); nothing was sent."
        raise ConfigError(msg, hint=hint) from cause


def price_for(provider: Provider | ChatClient, limits: Limits) -> Price | None:
    """Return the model's price, without which a budget in money means nothing.

    Raises:
        ConfigError: there is such a budget, and no price.
    """
    price = getattr(provider, "known_price", None)
    if limits.budget_usd is not None and price is None:
        msg = f"no price is known for the model {provider.model!r}"
        hint = (
            "Give one: Provider(..., price=sn.Price(0.15, 0.60)) in US dollars for a "
            "million tokens of prompt and answer, or use budget_tokens."
        )
        raise ConfigError(msg, hint=hint)
    return price


def spread(rows: Any, sample: int) -> tuple[Any, int]:
    """Return some rows spread over all, and how many there are.

    Raises:
        ConfigError: they can be read but once.
    """
    if not isinstance(rows, Sized):
        msg = f"the rows are a {type(rows).__name__}, which can be read but once"
        raise ConfigError(msg, hint="Give a DataFrame or a list: rows = list(rows).")
    total = len(rows)
    step = max(1, total // max(1, sample))
    if hasattr(rows, "iloc"):
        return rows.iloc[::step], total
    return (rows[::step] if isinstance(rows, Sequence) else rows), total

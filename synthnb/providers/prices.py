"""What tokens cost, from a table that lies inside a package; nothing is fetched."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

from synthnb.errors import ConfigError

_SAMPLE = 1_000
_VERIFIED = re.compile(r"(?:[Vv]erified|[Cc]hecked)(?: \w+)? (20\d\d-\d\d-\d\d)")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens.

    Attributes:
        input_per_million: of prompts.
        output_per_million: of answers.
        as_of: the date or the table that it comes from, for people.
    """

    input_per_million: float
    output_per_million: float
    as_of: str = "given"

    def __post_init__(self) -> None:
        """Check the figures.

        Raises:
            ConfigError: one is negative or no number.
        """
        values: tuple[object, ...] = (self.input_per_million, self.output_per_million)
        for value in values:
            if not (isinstance(value, int | float) and 0 <= value < math.inf):
                msg = f"{value!r} is no price in US dollars for a million tokens"
                raise ConfigError(msg, hint="Write sn.Price(0.15, 0.60).")

    def of(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Return what so many tokens cost, in US dollars."""
        return (
            prompt_tokens * self.input_per_million
            + completion_tokens * self.output_per_million
        ) / 1e6


def price_of(model: str | None, base_url: str | None) -> Price | None:
    """Return the list price of a model at a hosted API; ``None`` where none is known.

    The table is that of the installed genai-prices: list prices of the lowest tier,
    without discounts for batches or cached prompts. A server of one's own has no price
    there: give ``Provider(..., price=Price(...))`` to count one.
    """
    if not model or not base_url or not base_url.startswith("https:"):
        return None
    from genai_prices import Usage, calc_price

    def per_million(**tokens: int) -> float:
        found = calc_price(Usage(**tokens), model, provider_api_url=base_url)
        its = found.model_price
        if its.input_mtok is None or its.output_mtok is None:
            # The table reckons a price that it does not have as 0.
            msg = f"no price a token for {model}"
            raise LookupError(msg)
        return float(found.total_price) * 1e6 / _SAMPLE

    try:
        price_in = per_million(input_tokens=_SAMPLE)
        price_out = per_million(output_tokens=_SAMPLE)
    except LookupError:
        return None
    return Price(price_in, price_out, _table())


@lru_cache(maxsize=1)
def _table() -> str:
    """Name the table. It has no date of its own, but says when prices were verified."""
    from importlib.metadata import version

    from genai_prices.data_snapshot import get_snapshot

    providers = get_snapshot().providers
    comments = [provider.price_comments for provider in providers]
    comments += [model.price_comments for p in providers for model in p.models]
    dates = _VERIFIED.findall("\n".join(filter(None, comments)))
    name = f"genai-prices {version('genai-prices')}"
    return f"{name}, last verified {max(dates)}" if dates else name

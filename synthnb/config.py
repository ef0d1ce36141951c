"""Settings of a run: limits and retry policy. They round-trip through JSON."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from synthnb.errors import ConfigError


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    def __init__(self, **values: Any) -> None:
        """Check the values.

        Raises:
            ConfigError: names the setting, what is wrong with it, and what there is.
        """
        try:
            super().__init__(**values)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, (type(self).__name__, *first["loc"])))
            there = ", ".join(type(self).model_fields)
            raise ConfigError(
                f"{where}: {first['msg']}", hint=f"There are {there}."
            ) from None

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain JSON values."""
        return self.model_dump(mode="json")


class Retry(_Settings):
    """When a failed call is tried again. The one retry policy of the project."""

    max_attempts: int = Field(default=5, ge=1)
    """Calls for one slot, the first included. Of refusals (429), while the server answers
    other requests, four count as one call."""
    base_seconds: float = Field(default=0.5, gt=0)
    """First wait; doubled each time, with full jitter."""
    max_seconds: float = Field(default=60.0, gt=0)
    """Longest wait of our own; a server's Retry-After may ask for more."""


class Limits(_Settings):
    """What a run may use at most. Times are in seconds, counted from the send."""

    max_concurrency: int | None = Field(default=None, ge=1)
    """Requests in flight at most; ``None`` takes the provider's own default."""
    adaptive: bool = True
    """Find below ``max_concurrency`` the load that the server takes; ``False`` sends
    that many at once from the start."""
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    """Prompt and answer together; what is under way counts with its estimate."""
    budget_tokens: int | None = Field(default=None, ge=1)
    """The run stops, resumable, before it uses more than this and what is in flight."""
    budget_usd: float | None = Field(default=None, gt=0)
    """As ``budget_tokens``, in US dollars; needs a model whose price is known."""
    max_seconds: float | None = Field(default=None, gt=0)
    """Wall time, after which the run stops, resumable."""
    connect_timeout: float = Field(default=10.0, gt=0)
    first_byte_timeout: float = Field(default=300.0, gt=0)
    """Until the answer begins; without streaming that is when it is complete."""
    total_timeout: float = Field(default=600.0, gt=0)
    max_answer_bytes: int = Field(default=5_000_000, ge=1_000)
    """A longer answer is cut off and its slot fails with status ``server``."""
    max_connect_failures: int = Field(default=8, ge=1)
    """Waits of the whole pool because nobody answers, each twice as long as the last,
    after which the run stops, resumable: about two minutes with the default policy."""
    retry: Retry = Field(default_factory=Retry)

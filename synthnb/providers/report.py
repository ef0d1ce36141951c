"""What a check of a provider found, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

Outcome = Literal["ok", "failed", "skipped"]
_MARKS = {"ok": "ok     ", "failed": "FAILED ", "skipped": "skipped"}


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a check."""

    name: str
    outcome: Outcome
    detail: str = ""
    next_step: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, repr=False)
class CheckReport:
    """The outcome of ``provider.check()``; show it, or read its parts."""

    base_url: str
    steps: tuple[Step, ...]
    model: str | None = None
    models: tuple[str, ...] = ()
    """All model ids that the server lists, adapters included."""
    adapters: Mapping[str, str] = field(default_factory=dict)
    """LoRA adapter's id → the model that it belongs to."""
    server: str = "unknown"
    """vllm, llama.cpp, ollama, sglang, lm-studio, litellm, transformers, kaito, ..."""
    context: int | None = None
    """Tokens of prompt and answer together, where the server says so."""
    dialect: tuple[str, ...] = ()
    learned_at: float = 0.0
    """When an earlier kernel learned the dialect, in seconds since 1970; 0 if this one
    did. ``provider.forget()`` drops it."""
    counts_tokens: bool = False
    """Whether the server counts a prompt's tokens itself (``/tokenize``)."""
    origins: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether a run can start: no step failed and the model answered."""
        failed = any(step.outcome == "failed" for step in self.steps)
        answered = any(s.name == "answered" and s.outcome == "ok" for s in self.steps)
        return answered and not failed

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        plain = asdict(self) | {"adapters": dict(self.adapters)}
        return {**plain, "origins": dict(self.origins), "ok": self.ok}

    def _date(self) -> str:
        if not self.learned_at:
            return ""
        return f" {datetime.fromtimestamp(self.learned_at, UTC):%Y-%m-%d}"

    def __repr__(self) -> str:
        """Return the report as people read it: it is the last line of a cell."""
        return str(self)

    def __str__(self) -> str:
        lines = [f"{self.base_url}"]
        lines += [f"  note: {note}" for note in self.notes]
        width = max((len(step.name) for step in self.steps), default=0)
        for step in self.steps:
            time = f"{step.seconds * 1000:6.0f} ms" if step.seconds else " " * 9
            mark = _MARKS[step.outcome]
            lines.append(
                f"  {step.name:<{width}}  {mark} {time}  {step.detail}".rstrip()
            )
            if step.next_step:
                lines.append(f"  {'':<{width}}  → {step.next_step}")
        if self.dialect:
            lines.append(f"  learned{self._date()}: {', '.join(self.dialect)}")
        came = ", ".join(f"{name} from {where}" for name, where in self.origins.items())
        if came:
            lines.append(f"  {came}")
        return "\n".join(lines)

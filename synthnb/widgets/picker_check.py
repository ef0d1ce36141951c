"""A check as the picker shows it: a mark for each step, the next step, and a summary."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from synthnb.providers.report import CheckReport, Step

_SHOWN = {
    "reached": "reached",
    "key accepted": "key",
    "models listed": "models",
    "model present": "model",
    "answered": "answered",
}
_SHOWN_LOCAL = {
    "reached": "started",
    "model present": "model",
    "answered": "answered",
}
_KINDS = {
    "vllm": "vLLM",
    "sglang": "SGLang",
    "tensorrt-llm": "TensorRT-LLM",
    "kaito": "KAITO",
    "ollama": "Ollama",
    "lm-studio": "LM Studio",
    "litellm": "LiteLLM",
    "openai": "OpenAI",
    "openai-compatible": "OpenAI-compatible",
    "unknown": "",
}
# These take a schema by their own documentation; of the others it is not known.
_TAKE_SCHEMAS = frozenset(
    {"vllm", "sglang", "tensorrt-llm", "llama.cpp", "ollama", "lm-studio", "openai"}
)
_SHORT = 16
_BETTER_URL = re.compile(r"did you mean (https?://\S+?)\?")
_BETTER_MODEL = re.compile(r"did you mean '(.+)'\?")


@dataclass(slots=True)
class CheckResult:
    """One check: what is known so far, and for which state of the form."""

    mark: object
    """The form's values when it began; with other ones now, the result is stale."""
    running: bool = True
    note: str = ""
    """What goes on, where a step takes long."""
    steps: dict[str, Step] = field(default_factory=dict)
    report: CheckReport | None = None
    error: tuple[str, str] | None = None
    version: str = ""
    metrics: bool = False
    is_local: bool = False
    redact: Callable[[str], str] = str
    advise: Callable[[Step], tuple[str, str]] = field(
        default=lambda step: (step.detail, step.next_step)
    )
    """What a failed step says in the form's words, and the next step."""

    def state(self, mark: object) -> dict[str, Any]:
        """Return what the page shows.

        Args:
            mark: the form's values now.
        """
        done = self.report is not None
        return {
            "state": "running" if self.running else "done" if done else "stopped",
            "stale": mark != self.mark,
            "ok": bool(self.report and self.report.ok),
            "note": self.note if self.running else "",
            "steps": self._steps(),
            "problem": self._problem(),
            "summary": self._summary(),
        }

    def _steps(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        failed = any(step.outcome == "failed" for step in self.steps.values())
        next_one = self.running and not failed
        for name, label in (_SHOWN_LOCAL if self.is_local else _SHOWN).items():
            step = self.steps.get(name)
            if step is None or (step.outcome == "skipped" and not step.detail):
                outcome = "running" if next_one else "untried"
                next_one = False
                rows.append(
                    {"label": label, "outcome": outcome, "ms": None, "detail": ""}
                )
                continue
            rows.append(
                {
                    "label": self._label(name, label, step),
                    "outcome": step.outcome,
                    "ms": round(step.seconds * 1000, 1) if step.seconds else None,
                    "detail": self.redact(step.detail)[:300],
                }
            )
        return rows

    def _label(self, name: str, label: str, step: Step) -> str:
        if name == "models listed" and step.outcome == "skipped":
            return "no list"
        return label

    def _problem(self) -> dict[str, Any] | None:
        if self.error is not None:
            message, hint = (self.redact(text) for text in self.error)
            return {"message": message, "hint": hint, "fix": None}
        step = next((s for s in self.steps.values() if s.outcome == "failed"), None)
        if step is None:
            return None
        detail, hint = (self.redact(text) for text in self.advise(step))
        # "none" and "HTTP 404" do not say what they are about.
        about = f"{step.name}: " if len(detail) < _SHORT else ""
        return {"message": about + detail, "hint": hint, "fix": _fix(hint)}

    def _summary(self) -> list[str]:
        report = self.report
        if report is None or not report.ok:
            return []
        kind = _KINDS.get(report.server, report.server)
        parts = [f"{kind} {self.version}".strip()]
        if report.context:
            parts.append(f"{report.context:,} tokens")
        if "prompt_only" in report.dialect:
            parts.append("JSON by prompt only")
        elif "json_object" in report.dialect:
            parts.append("JSON object")
        elif report.server in _TAKE_SCHEMAS:
            parts.append("JSON schema")
        if self.metrics:
            parts.append("metrics")
        return [self.redact(part) for part in parts if part]


def _fix(hint: str) -> dict[str, str] | None:
    """Return the correction that the page can make by one click."""
    if url := _BETTER_URL.search(hint):
        return {"op": "url", "value": url[1]}
    if model := _BETTER_MODEL.search(hint):
        return {"op": "model", "value": model[1]}
    return None

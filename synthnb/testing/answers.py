"""What a fault server answers, and the forms in which a model's thinking comes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, get_args

ThinkForm: TypeAlias = Literal[
    "reasoning", "reasoning_content", "inline", "closing_only", "hidden"
]

_FORMS: Final[frozenset[str]] = frozenset(get_args(ThinkForm))

ODD_TEXTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "lone_surrogate": "half a pair: \ud83d, and its other half: \ude00",
        "nul": "before\x00after",
        "right_to_left": "שלום \u202eabc\u202c عالم",
        "four_bytes": "𝔘 🜚 👩🏽‍🚀 𠜎",
        "controls": "bell \x07, escape \x1b[31m, line\u2028separator, \ufeffmark",
        "combining": "e\u0301 is not \u00e9; Z" + "\u0335" * 12,
    }
)
"""Texts that exports and terminals stumble over, by what is odd in them."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One chat answer, where a plain text says too little.

    Attributes:
        text: ``message.content``; ``None`` sends null.
        finish_reason: of the choice.
        reasoning: sent as ``message.reasoning_content``, whatever ``form`` is.
        usage: ``"estimate"`` counts four characters a token; ``None`` sends no usage.
        model: ``None`` echoes the model that was asked for.
        thinking: what the model thought; where it stands is ``form``'s choice.
        form: ``"reasoning"`` and ``"reasoning_content"`` name the message's field;
            ``"inline"`` is ``<think>...</think>`` before the text; ``"closing_only"``
            lacks the opening tag (it stood in the prompt); ``"hidden"`` counts its
            tokens and shows nothing (OpenAI). ``None`` takes the server kind's form.
        refusal: ``message.refusal``; content is then null.
        tool_calls: ``message.tool_calls``, sent as they are.

    ``Answer(None, thinking='{"a": 1}')`` is the answer that stands in the wrong field.
    """

    text: str | None
    finish_reason: str | None = "stop"
    reasoning: str | None = None
    usage: Mapping[str, Any] | Literal["estimate"] | None = "estimate"
    model: str | None = None
    thinking: str | None = None
    form: ThinkForm | None = None
    refusal: str | None = None
    tool_calls: tuple[Mapping[str, Any], ...] = ()

    def __post_init__(self) -> None:
        """Refuse a form that does not exist."""
        if self.form is not None and self.form not in _FORMS:
            forms = ", ".join(sorted(_FORMS))
            raise ValueError(f"{self.form!r} is no form of thinking; there are {forms}")

    def message(self, form: ThinkForm = "reasoning_content") -> dict[str, Any]:
        """Return the chat message; ``form`` is used where the answer names none."""
        message: dict[str, Any] = {"role": "assistant", "content": self.text}
        if self.refusal is not None:
            message |= {"content": None, "refusal": self.refusal}
        if self.thinking is not None:
            _place(message, self.thinking, self.form or form)
        if self.reasoning is not None:
            message["reasoning_content"] = self.reasoning
        if self.tool_calls:
            message["tool_calls"] = [dict(call) for call in self.tool_calls]
        return message


def _place(message: dict[str, Any], thinking: str, form: ThinkForm) -> None:
    content = message["content"] or ""
    if form == "inline":
        message["content"] = f"<think>\n{thinking}\n</think>\n\n{content}"
    elif form == "closing_only":
        message["content"] = f"{thinking}\n</think>\n\n{content}"
    elif form != "hidden":
        message[form] = thinking

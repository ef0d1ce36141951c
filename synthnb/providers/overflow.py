"""The sizes that a server names when prompt and answer did not fit.

Collected from the refusals of vLLM (old and new), SGLang, llama.cpp, Ollama, LM Studio,
TensorRT-LLM, TGI, OpenAI, OpenRouter, Mistral, Anthropic, Gemini, xAI and Cohere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_NUMBER = r"(\d[\d,_]*)"
_KINDS = r"(?:(?:context|model|prompt|seq(?:uence)?|input)[ _])"
_SIZES = r"(?:num_tokens|length|len|window|size)"
_GIVEN = r"(?:prompt|input|request|keep the first|too long:)(?: token count| length)?"
_LEAST, _MOST = 128, 100_000_000
_READ = 8_000


def _compiled(patterns: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(
        re.compile(pattern.replace("<N>", _NUMBER), re.IGNORECASE)
        for pattern in patterns
    )


_LIMIT = _compiled(
    (
        # llama.cpp; also inside a string of JSON, with its quotes escaped
        r"\bn_ctx\\?\"?\s*[:=]\s*<N>",
        # in vLLM's, SGLang's and TensorRT-LLM's words, and those of most hosted APIs
        rf"max(?:imum)?[ _](?:allowed )?{_KINDS}?{_SIZES}\b(?! by\b)[^\d.]{{0,24}}?<N>",
        r"<N> maximum\b",
        r"context (?:length|window|size|limit)\b(?! by\b)[^\d.]{0,24}?<N>",
        r"(?:configured |token )?limit(?:ed)? (?:of|to|is) <N>",
        r"maximum number of (?:input )?tokens allowed \(?<N>",
        r"must (?:be <=|have less than) <N>",
    )
)
_PROMPT = _compiled(
    (
        r"\bn_prompt_tokens\\?\"?\s*[:=]\s*<N>",
        r"<N> (?:tokens )?(?:in|from|of) (?:the )?(?:text )?(?:input|messages?|prompt)",
        r"(?:contains|has|resulted in) (?:at least |about )?<N> (?:input |prompt )?tokens",
        rf"{_GIVEN}(?: of)? \(?(?:length )?<N>",
        r"given:? <N>",
    )
)


class Overflow(NamedTuple):
    """What a refusal says of sizes; ``None`` where it says nothing."""

    limit: int | None
    prompt_tokens: int | None

    def is_sound(self, wanted: int) -> bool:
        """Tell whether the sizes explain the refusal, so that the limit may be trusted.

        Args:
            wanted: the most tokens that the answer was to have.
        """
        if self.limit is None:
            return False
        return self.prompt_tokens is None or self.prompt_tokens + wanted > self.limit


def read_overflow(text: str) -> Overflow:
    """Return the sizes that a context refusal names, in any server's words.

    Args:
        text: the message, or the whole body where it has more than the message.
    """
    said = text[:_READ]
    return Overflow(_first(_LIMIT, said), _first(_PROMPT, said))


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> int | None:
    for pattern in patterns:
        for match in pattern.finditer(text):
            value = int(re.sub(r"[,_]", "", match[1]))
            if _LEAST <= value <= _MOST:
                return value
    return None

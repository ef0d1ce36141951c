"""What servers say when prompt and answer do not fit the context."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from synthnb.testing import shapes
from synthnb.testing.tokens import CHARACTERS, prompt_tokens, wanted_tokens
from synthnb.testing.wire import Reply


class Size(NamedTuple):
    """What a request needs, in tokens, and what there is."""

    prompt: int
    wanted: int
    limit: int


Overflow: TypeAlias = Callable[[Size], Reply]


def size_of(body: Mapping[str, Any], limit: int) -> Size:
    """Measure a request."""
    return Size(prompt_tokens(body), wanted_tokens(body), limit)


def _vllm_words(size: Size) -> str:
    return (
        f"This model's maximum context length is {size.limit} tokens. However, you "
        f"requested {size.wanted} output tokens and your prompt contains at least "
        f"{size.prompt} input tokens. Please reduce the length of the input prompt or "
        "the number of requested output tokens."
    )


def _openai_words(size: Size) -> str:
    total = size.prompt + size.wanted
    return (
        f"This model's maximum context length is {size.limit} tokens. However, you "
        f"requested {total} tokens ({size.prompt} in the messages, {size.wanted} in the "
        "completion). Please reduce the length of the messages or completion."
    )


def _plain(size: Size) -> Reply:
    message = _vllm_words(size)
    return shapes.openai_error(
        400, message, kind="BadRequestError", param="input_tokens"
    )


def _vllm(size: Size) -> Reply:
    return shapes.vllm_error(400, _vllm_words(size), param="input_tokens")


def _vllm_old(size: Size) -> Reply:
    return shapes.top_level_error(400, _openai_words(size))


def _openai(size: Size) -> Reply:
    code = "context_length_exceeded"
    return shapes.openai_error(400, _openai_words(size), param="messages", code=code)


def _litellm(size: Size) -> Reply:
    message = f"ContextWindowExceededError: OpenAIException - {_openai_words(size)}"
    return shapes.litellm_error(400, message)


def _llama_cpp(size: Size) -> Reply:
    error = {
        "code": 400,
        "message": f"request ({size.prompt} tokens) exceeds the available context size "
        f"({size.limit} tokens), try increasing it",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": size.prompt,
        "n_ctx": size.limit,
    }
    return Reply.json(400, {"error": error})


def _ollama_string(size: Size) -> Reply:
    inner = _llama_cpp(size).body.decode()
    return shapes.string_error(400, inner)


def _lm_studio(size: Size) -> Reply:
    message = (
        "Trying to keep the first "
        f"{size.prompt} tokens when context overflows. However, the model is loaded "
        f"with context length of only {size.limit} tokens, which is not enough. Try to "
        "load the model with a larger context length, or provide a shorter input"
    )
    return shapes.string_error(400, message)


def _fastapi(size: Size) -> Reply:
    message = f"Input length of {size.prompt} exceeds the context length {size.limit}"
    return shapes.detail_error(400, message)


def _sglang(size: Size) -> Reply:
    message = (
        "Requested token count exceeds the model's maximum context length of "
        f"{size.limit} tokens. You requested a total of {size.prompt + size.wanted} "
        f"tokens: {size.prompt} tokens from the input messages and {size.wanted} tokens "
        "for the completion."
    )
    return shapes.top_level_error(400, message)


def _mistral(size: Size) -> Reply:
    message = (
        f"Prompt contains {size.prompt} tokens, too large for model with {size.limit} "
        "maximum context length"
    )
    return shapes.mistral_error(400, message, kind="invalid_request_prompt")


def _trtllm(size: Size) -> Reply:
    message = (
        f"The sum of prompt length ({float(size.prompt)}), query length (0) should not "
        f"exceed max_num_tokens ({size.limit})"
    )
    return shapes.top_level_error(400, message)


OVERFLOWS: Final[Mapping[str, Overflow | None]] = {
    "plain": _plain,
    "vllm": _vllm,
    "vllm-old": _vllm_old,
    "openai": _openai,
    "litellm": _litellm,
    "llama.cpp": _llama_cpp,
    "ollama-string": _ollama_string,
    "lm-studio": _lm_studio,
    "fastapi": _fastapi,
    "sglang": _sglang,
    "mistral": _mistral,
    "trtllm": _trtllm,
    "cut": None,
}
"""By name. ``"cut"`` says nothing: a 200 on a prompt that was cut (Ollama)."""

# These look at the prompt alone, and end an answer early where the rest is too small.
PROMPT_ONLY: Final = frozenset(
    {"llama.cpp", "ollama-string", "lm-studio", "mistral", "trtllm", "cut"}
)


def refuse(name: str, size: Size) -> Reply | None:
    """Return the refusal of a request that does not fit; ``None`` where it fits."""
    overflow = OVERFLOWS[name]
    wanted = 0 if name in PROMPT_ONLY else size.wanted
    if overflow is None or size.prompt + wanted <= size.limit:
        return None
    return overflow(size)


def cut(body: dict[str, Any], limit: int) -> dict[str, Any]:
    """Return the body as a server sees it that cuts prompts without a word.

    The oldest messages go first, system messages last of all; then the beginning of
    what is left.
    """
    if prompt_tokens(body) <= limit:
        return body
    messages = list(body["messages"])
    while len(messages) > 1 and prompt_tokens({"messages": messages}) > limit:
        roles = [message.get("role") for message in messages[:-1]]
        oldest = next((i for i, role in enumerate(roles) if role != "system"), 0)
        del messages[oldest]
    kept = str(messages[-1].get("content"))[-(limit - 1) * CHARACTERS :]
    if prompt_tokens({"messages": messages}) > limit:
        messages[-1] = {**messages[-1], "content": kept}
    return {**body, "messages": messages}

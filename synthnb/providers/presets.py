"""Known places where an OpenAI-compatible API lives: one line each.

A new one is one line here. ``concurrency`` is what suits an ordinary installation when
nobody says; servers that batch continuously take many requests at once, desktop programs
take a few.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from synthnb.errors import ConfigError
from synthnb.providers.urls import origin_of


@dataclass(frozen=True, slots=True)
class Preset:
    """A named endpoint. ``key_variable`` names the environment variable of its key."""

    name: str
    base_url: str
    key_variable: str | None
    concurrency: int
    note: str


# fmt: off
_ALL = (
    Preset("vllm", "http://localhost:8000/v1", None, 64, "vllm serve MODEL"),
    Preset("sglang", "http://localhost:30000/v1", None, 64, "python -m sglang.launch_server --model-path MODEL"),
    Preset("tensorrt-llm", "http://localhost:8000/v1", None, 64, "trtllm-serve MODEL"),
    Preset("kaito", "http://localhost:5000/v1", None, 16, "kubectl port-forward svc/WORKSPACE 5000:80"),
    Preset("llama.cpp", "http://localhost:8080/v1", None, 4, "llama-server -m MODEL.gguf"),
    Preset("ollama", "http://localhost:11434/v1", None, 4, "ollama serve"),
    Preset("lm-studio", "http://localhost:1234/v1", None, 4, "start the server in LM Studio's developer tab"),
    Preset("litellm", "http://localhost:4000/v1", "LITELLM_API_KEY", 16, "litellm --config config.yaml"),
    Preset("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", 32, "platform.openai.com"),
    Preset("azure", "https://RESOURCE.openai.azure.com/openai/v1", "AZURE_OPENAI_API_KEY", 16, "replace RESOURCE in the URL"),
    Preset("cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY", 8, "cloud.cerebras.ai"),
    Preset("deepinfra", "https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY", 16, "deepinfra.com"),
    Preset("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", 16, "platform.deepseek.com"),
    Preset("fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", 16, "fireworks.ai"),
    Preset("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY", 8, "aistudio.google.com"),
    Preset("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", 8, "console.groq.com"),
    Preset("huggingface", "https://router.huggingface.co/v1", "HF_TOKEN", 8, "huggingface.co"),
    Preset("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", 8, "console.mistral.ai"),
    Preset("nvidia", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY", 8, "build.nvidia.com"),
    Preset("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", 16, "openrouter.ai"),
    Preset("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY", 16, "api.together.ai"),
    Preset("xai", "https://api.x.ai/v1", "XAI_API_KEY", 16, "console.x.ai"),
)
# fmt: on

PRESETS = {preset.name: preset for preset in _ALL}


def preset_named(name: str) -> Preset:
    """Return the preset called ``name``; case, spaces and underscores do not matter.

    Raises:
        ConfigError: there is none; the error lists the names.
    """
    wanted = name.strip().lower().replace("_", "-").replace(" ", "-")
    found = PRESETS.get(wanted) or _without_marks().get(_bare(wanted))
    if found is not None:
        return found
    close = get_close_matches(wanted, PRESETS, n=1, cutoff=0.5)
    guess = f"did you mean {close[0]!r}? " if close else ""
    raise ConfigError(
        f"there is no preset {name!r}",
        hint=f"{guess}The presets are {', '.join(sorted(PRESETS))}",
    )


def preset_at(base_url: str) -> Preset | None:
    """Return the preset that lives at ``base_url``, to borrow its defaults."""
    origin = origin_of(base_url)
    return next((p for p in _ALL if origin_of(p.base_url) == origin), None)


def _bare(name: str) -> str:
    return name.replace("-", "").replace(".", "")


def _without_marks() -> dict[str, Preset]:
    return {_bare(name): preset for name, preset in PRESETS.items()}

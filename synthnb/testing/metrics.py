"""What servers say of their load, in the words of each kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from synthnb.testing.wire import Reply

_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


class Gauges(NamedTuple):
    """A look at the server."""

    model: str
    running: int
    waiting: int
    cache: float
    """Share of the cache in use, 0 to 1."""
    prompt_tokens: int
    generation_tokens: int
    finished: Mapping[str, int]
    """Answers by their finish reason."""
    refused: int


def vllm(gauges: Gauges, *, cache: str = "kv_cache_usage_perc") -> Reply:
    """Write vLLM's page."""
    label = f'{{engine="0",model_name="{gauges.model}"}}'
    lines = [
        *_gauge("vllm:num_requests_running", label, gauges.running),
        *_gauge("vllm:num_requests_waiting", label, gauges.waiting),
        *_gauge(f"vllm:{cache}", label, gauges.cache),
        *_counter("vllm:num_preemptions_total", label, 0),
        *_counter("vllm:prompt_tokens_total", label, gauges.prompt_tokens),
        *_counter("vllm:generation_tokens_total", label, gauges.generation_tokens),
        "# HELP vllm:request_success_total Count of successfully processed requests.",
        "# TYPE vllm:request_success_total counter",
    ]
    for reason in ("abort", "error", "length", "stop"):
        place = f'engine="0",finished_reason="{reason}",model_name="{gauges.model}"'
        number = float(gauges.finished.get(reason, 0))
        lines.append(f"vllm:request_success_total{{{place}}} {number}")
    return _page(lines)


def vllm_old(gauges: Gauges) -> Reply:
    """Write the page of vLLM before the cache's gauge was renamed."""
    return vllm(gauges, cache="gpu_cache_usage_perc")


def kaito_vllm(gauges: Gauges) -> Reply:
    """Write vLLM's page with KAITO's counter of refusals."""
    page = vllm(gauges).body.decode().splitlines()
    name = "kaito_ratelimit_rejected_total"
    return _page([*page, *_counter(name, "", gauges.refused)])


def sglang(gauges: Gauges) -> Reply:
    """Write SGLang's page."""
    label = f'{{engine_type="unified",model_name="{gauges.model}"}}'
    return _page(
        [
            *_gauge("sglang:num_running_reqs", label, gauges.running),
            *_gauge("sglang:num_queue_reqs", label, gauges.waiting),
            *_gauge("sglang:token_usage", label, gauges.cache),
            *_counter("sglang:prompt_tokens_total", label, gauges.prompt_tokens),
            *_counter(
                "sglang:generation_tokens_total", label, gauges.generation_tokens
            ),
        ]
    )


def llama_cpp(gauges: Gauges) -> Reply:
    """Write llama.cpp's page."""
    return _page(
        [
            *_counter("llamacpp:prompt_tokens_total", "", gauges.prompt_tokens),
            *_counter("llamacpp:tokens_predicted_total", "", gauges.generation_tokens),
            *_gauge("llamacpp:requests_processing", "", gauges.running),
            *_gauge("llamacpp:requests_deferred", "", gauges.waiting),
        ]
    )


def kaito_transformers(gauges: Gauges) -> Reply:
    """Write the JSON of KAITO's transformers runtime."""
    used = f"{12 + 60 * gauges.cache:.1f} GB"
    memory = {"used": used, "total": "80.0 GB"}
    gpu = {
        "id": "GPU-0",
        "name": "NVIDIA A100 80GB PCIe",
        "load": f"{100 * gauges.cache:.2f}%",
        "temperature": "45 C",
        "memory": memory,
    }
    return Reply.json(200, {"gpu_info": [gpu]})


def kaito_loading(left: float) -> Reply:
    """Write what KAITO says while it fetches a model's weights."""
    speed = "kaito_model_download_speed_bytes_per_second"
    remaining = "kaito_model_download_remaining_seconds"
    return _page([*_gauge(speed, "", 250e6), *_gauge(remaining, "", left)])


def trtllm(gauges: Gauges) -> Reply:
    """Write TensorRT-LLM's list of iteration statistics (one iteration)."""
    blocks: dict[str, Any] = {
        "maxNumBlocks": 1000,
        "usedNumBlocks": round(1000 * gauges.cache),
    }
    iteration = {
        "iter": 1,
        "numActiveRequests": gauges.running,
        "numQueuedRequests": gauges.waiting,
        "kvCacheStats": blocks,
    }
    return Reply.json(200, [iteration])


def _gauge(name: str, label: str, value: float) -> list[str]:
    return _series(name, "gauge", label, value)


def _counter(name: str, label: str, value: float) -> list[str]:
    return _series(name, "counter", label, value)


def _series(name: str, kind: str, label: str, value: float) -> list[str]:
    text = name.replace("_", " ").rpartition(":")[2].capitalize()
    return [
        f"# HELP {name} {text}.",
        f"# TYPE {name} {kind}",
        f"{name}{label} {float(value)}",
    ]


def _page(lines: list[str]) -> Reply:
    return Reply.text("\n".join(lines) + "\n", _PROMETHEUS)

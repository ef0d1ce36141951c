"""The settings that synthetic-data-kit's ``config.yaml`` may hold: types and defaults."""

from __future__ import annotations

from typing import Any, NamedTuple

_NAMES = {str: "text", bool: "true or false", list: "a list", dict: "a section"}


class Kind(NamedTuple):
    """The type of a setting, and what it is where the file does not say."""

    of: type[Any]
    default: Any = None

    def takes(self, value: Any) -> bool:
        """Tell whether a value has the type; a whole number is a number too.

        Nothing (``null``) is a value only where it is the default.
        """
        if value is None:
            return self.default is None
        if self.of is float:
            return type(value) in {int, float}
        return type(value) is self.of

    def __str__(self) -> str:
        """Return the type's name."""
        return name_of(self.of)


def name_of(kind: type[Any]) -> str:
    """Return a type's name for people."""
    name: str = _NAMES.get(kind) or kind.__name__
    return name


_CALLS = {
    "api_key": Kind(str),
    "model": Kind(str),
    "max_retries": Kind(int, 3),
    "retry_delay": Kind(float, 1.0),
    "sleep_time": Kind(float, 0.1),
}
_SECTIONS: dict[str, dict[str, Kind]] = {
    "llm": {"provider": Kind(str, "vllm")},
    "vllm": {"api_base": Kind(str), "port": Kind(int, 8000), **_CALLS},
    "api-endpoint": {"api_base": Kind(str), **_CALLS},
    "generation": {
        "temperature": Kind(float, 0.7),
        "top_p": Kind(float, 0.95),
        "chunk_size": Kind(int, 4000),
        "overlap": Kind(int, 200),
        "max_tokens": Kind(int, 4096),
        "num_pairs": Kind(int, 25),
        "num_cot_examples": Kind(int, 5),
        "num_cot_enhance_examples": Kind(int),
        "batch_size": Kind(int, 32),
        "max_context_length": Kind(int, 8000),
        "summary_overlap": Kind(int, 0),
        "single_call_max_size": Kind(int, 8000),
    },
    "curate": {
        "threshold": Kind(float, 7.0),
        "batch_size": Kind(int, 8),
        "inference_batch": Kind(int, 32),
        "temperature": Kind(float, 0.1),
    },
    "format": {
        "default": Kind(str, "jsonl"),
        "include_metadata": Kind(bool, True),  # noqa: FBT003 - a default
        "pretty_json": Kind(bool, True),  # noqa: FBT003
    },
    "prompts": dict.fromkeys(
        ("summary", "qa_generation", "qa_rating", "cot_generation", "cot_enhancement"),
        Kind(str),
    ),
    "paths": {
        "input": Kind(str, "data/input"),
        "output.parsed": Kind(str, "data/parsed"),
        "output.generated": Kind(str, "data/generated"),
        "output.curated": Kind(str, "data/curated"),
        "output.final": Kind(str, "data/final"),
    },
}
KEYS = {
    f"{section}.{name}": kind
    for section, kinds in _SECTIONS.items()
    for name, kind in kinds.items()
}
"""Dotted name → type and default. A host has no default: none is contacted unasked."""
OLD_NAMES = {"cleanup": "curate"}
SECRETS = ("vllm.api_key", "api-endpoint.api_key")

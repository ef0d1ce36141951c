from __future__ import annotations

import pytest

from synthnb.providers.served import ServedModels


@pytest.mark.parametrize(
    ("first", "then", "other"),
    [
        ("m", "m", False),
        ("m", "n", True),
        ("gpt-4o", "gpt-4o-2024-08-06", False),
        ("gpt-4o-2024-08-06", "gpt-4o", False),
        ("gpt-4o-2024-08-06", "gpt-4o-2024-11-20", True),
        ("gpt-4", "gpt-4-0613", False),
        ("gpt-4o", "gpt-4o-mini", True),
        ("mistral-small-latest", "mistral-small-2501", False),
        ("qwen3:8b", "qwen3:8b:latest", False),
        ("qwen3:8b", "qwen3:4b", True),
        ("/models/Qwen3-8B/", "Qwen/qwen3-8b", False),
        ("Qwen3-8B", "Qwen3-14B", True),
        ("/m/qwen.gguf", "qwen", False),
        ("2024-08-06", "x", True),
    ],
)
def test_another_model_is_told_from_another_name(first, then, other):
    served = ServedModels()
    assert not served.is_other(first)
    assert served.is_other(then) is other
    assert served.is_other(then) is other
    assert not served.is_other(first)
    assert served.names == ((first, then) if other else (first,))


def test_an_answer_without_a_name_says_nothing():
    served = ServedModels()
    assert not served.is_other(None)
    assert served.names == ()


def test_a_server_with_a_new_name_each_time_fills_no_memory():
    served = ServedModels()
    assert sum(served.is_other(f"m{'x' * n}") for n in range(1_000)) == 999
    assert len(served.names) == 8
    assert len(served._known) <= 64

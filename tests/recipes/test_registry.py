from __future__ import annotations

import json
import pickle

import pytest

from synthnb.errors import ConfigError
from synthnb.recipes import (
    QA,
    REGISTRY,
    ChainOfThought,
    Conversation,
    Enhance,
    Judge,
    Prompt,
    Summary,
    from_json,
)

RECIPES = [
    QA(),
    QA(
        pairs=5,
        form="passage",
        evidence="number",
        language="German",
        seed=4,
        instructions="Short.",
    ),
    Judge(),
    Prompt("{{ a }}"),
    Summary(words=20, language="German", style="plain"),
    ChainOfThought(examples=2, difficulty="hard"),
    Enhance(instructions="Short."),
    Conversation(turns=2, persona="a nurse", system="Help."),
]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda r: r.step)
def test_a_frozen_recipe_comes_back_the_same(recipe):
    frozen = json.loads(json.dumps(recipe.to_json()))
    again = from_json(frozen)
    assert again == recipe
    assert again.to_json() == frozen
    assert type(again) is REGISTRY[frozen["recipe"]]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda r: r.step)
def test_recipes_are_hashable(recipe):
    assert hash(recipe) == hash(from_json(recipe.to_json()))


def test_qa_survives_pickle():
    assert pickle.loads(pickle.dumps(QA(pairs=2))) == QA(pairs=2)


@pytest.mark.parametrize(
    "value", [{}, {"recipe": "nope"}, {"recipe": []}, {"recipe": "qa", "wings": 2}]
)
def test_what_cannot_be_read_is_said(value):
    with pytest.raises(ConfigError):
        from_json(value)


def test_a_changed_prompt_is_a_changed_recipe(monkeypatch):
    from synthnb.recipes import qa_prompts

    before = QA().to_json()
    monkeypatch.setattr(qa_prompts, "ALL", (*qa_prompts.ALL, "more"))
    assert QA().to_json() != before

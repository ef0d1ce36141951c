"""What certain servers refuse, in their words."""

from __future__ import annotations

import pytest

from synthnb.testing import Fault, FaultServer


async def test_lm_studio_refuses_by_a_string(chat):
    async with FaultServer(no_json_object=True) as server:
        refused = await chat(server, response_format={"type": "json_object"})
        taken = await chat(server, response_format={"type": "text"})
    assert refused.status == 400
    assert refused.json == {
        "error": "'response_format.type' must be 'json_schema' or 'text'"
    }
    assert taken.status == 200


async def test_json_schema_is_refused_while_json_object_is_taken(chat):
    schema = {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}
    async with FaultServer(no_json_schema=True) as server:
        refused = await chat(server, response_format=schema)
        taken = await chat(server, response_format={"type": "json_object"})
    assert refused.status == 400
    assert isinstance(refused.json["error"], str)
    assert taken.status == 200


async def test_reasoning_models_want_another_name_for_max_tokens(chat):
    async with FaultServer(no_max_tokens=True) as server:
        refused = await chat(server, max_tokens=5)
        taken = await chat(server, max_completion_tokens=5)
    assert refused.status == 400
    assert refused.json["error"]["code"] == "unsupported_parameter"
    assert refused.json["error"]["param"] == "max_tokens"
    assert taken.status == 200


async def test_reasoning_models_take_no_temperature(chat):
    async with FaultServer(no_temperature=True) as server:
        refused = await chat(server, temperature=0.2)
        taken = [await chat(server), await chat(server, temperature=1)]
    assert refused.json["error"]["code"] == "unsupported_value"
    assert [response.status for response in taken] == [200, 200]


async def test_a_template_without_a_system_role(chat):
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    async with FaultServer(no_system_role=True) as server:
        assert (await chat(server, messages=messages)).status == 400
        assert (await chat(server, messages=messages[1:])).status == 200


async def test_unknown_fields_are_422(chat):
    async with FaultServer(unknown_field_422=True) as server:
        refused = await chat(server, guided_json={})
        taken = await chat(server, seed=1, top_p=0.5)
    assert refused.status == 422
    assert "guided_json" in refused.json["detail"]
    assert taken.status == 200


@pytest.mark.parametrize(("strict", "status"), [(True, 404), (False, 200)])
async def test_a_model_that_is_not_listed(chat, strict, status):
    async with FaultServer(models=["there"], strict_model=strict) as server:
        assert (await chat(server, model="nowhere")).status == status
        assert (await chat(server, model="there")).status == 200


async def test_what_does_not_fit_the_context(chat):
    async with FaultServer(max_model_len=100) as server:
        refused = await chat(server, "x" * 400)
        with_answer = await chat(server, "x" * 200, max_tokens=60)
        taken = await chat(server, "x" * 200, max_tokens=40)
    assert refused.status == with_answer.status == 400
    assert "maximum context length is 100 tokens" in refused.json["error"]["message"]
    assert taken.status == 200


async def test_what_is_refused_meets_no_fault(chat):
    async with FaultServer(no_max_tokens=True, faults=[Fault(503, times=1)]) as server:
        statuses = [
            (await chat(server, max_tokens=5)).status,
            (await chat(server)).status,
            (await chat(server)).status,
        ]
    assert statuses == [400, 503, 200]


def test_a_flag_that_does_not_exist_is_refused():
    with pytest.raises(TypeError, match="no_json"):
        FaultServer(no_json=True)

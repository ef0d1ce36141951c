"""A whole run over rows of which some cannot fit."""

from __future__ import annotations

from synthnb import generate
from synthnb.providers import Provider
from synthnb.testing import Fault, FaultServer

LONG = "The quick brown fox jumps over the lazy dog. " * 200


async def test_what_cannot_fit_is_a_row_with_its_status_and_no_call(echo):
    rows = [{"text": f"row {n} {LONG if n % 5 == 0 else ''}"} for n in range(20)]
    async with FaultServer.like("vllm", max_model_len=1024) as server:
        provider = Provider(server.base_url, server.chat.models[0])
        frame = await generate(echo(), rows, provider, name="fit")
        kinds = frame.groupby("status")["row_id"].nunique()
        assert dict(kinds) == {"context": 4, "ok": 16}
        assert server.stats.requests == 16
        details = frame[frame["status"] == "context"]["detail"]
        assert details.str.contains("it was not sent").all()
        again = await generate(echo(), rows, provider, name="fit")
        assert server.stats.requests == 16
        assert len(again) == len(frame)


async def test_another_model_in_the_middle_is_seen_in_the_rows(echo):
    rows = [{"text": f"row {n}"} for n in range(12)]
    async with FaultServer.like("vllm") as server:
        provider = Provider(server.base_url, server.chat.models[0])
        server.faults.append(Fault("other_model", numbers=range(5, 13), text="other"))
        frame = await generate(echo(), rows, provider, name="swap")
        assert set(frame["model"]) == {server.chat.models[0], "other"}
        marked = frame["adapted"].map(lambda notes: "model_changed" in notes)
        assert set(frame[marked]["model"]) == {"other"}
        assert set(frame[~marked]["model"]) == {server.chat.models[0]}

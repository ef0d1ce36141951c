"""The life of the child: started once, shared, replaced, and never left behind.

A stub stands in for xllamacpp, so that this needs no weights; see ``test_embedded_model``
for the real one.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import signal

import psutil
import pytest

from synthnb.errors import ConfigError, ModelServerError
from synthnb.runtimes.llamacpp import EmbeddedServer

pytestmark = pytest.mark.usefixtures("stub")


def gone(pid):
    """Wait until no such process runs; a zombie has ended too."""
    try:
        process = psutil.Process(pid)
        if process.status() != psutil.STATUS_ZOMBIE:
            process.wait(timeout=10)
    except psutil.NoSuchProcess:
        pass
    return True


async def test_it_is_started_once_and_found_again(embedded, gguf):
    first = await embedded(gguf).launch()
    second = await embedded(gguf).launch()
    assert first == second
    assert first.model == "tiny-model"
    assert (first.slots, first.context, first.threads) == (2, 256, 1)
    assert first.base_url.startswith("http://127.0.0.1:")
    assert first.base_url.endswith("/v1")
    assert first.log.exists()


async def test_two_launches_at_once_start_one(embedded, gguf):
    servers = [embedded(gguf) for _ in range(3)]
    launched = await asyncio.gather(*(server.launch() for server in servers))
    assert len({running.pid for running in launched}) == 1


async def test_other_settings_are_another_server(embedded, gguf):
    first = await embedded(gguf).launch()
    second = await embedded(gguf, slots=1).launch()
    assert first.pid != second.pid


async def test_another_process_shares_it_and_its_end_harms_nobody(
    embedded, gguf, other_process
):
    running = await embedded(gguf).launch()
    other = other_process(f"print(launch({str(gguf)!r}).pid)")
    assert int(other.communicate()[0]) == running.pid
    assert other.returncode == 0
    assert psutil.pid_exists(running.pid)
    again = await embedded(gguf).launch()
    assert again.pid == running.pid


async def test_it_ends_with_its_last_user(embedded, gguf):
    users = [embedded(gguf), embedded(gguf)]
    running, _ = [await user.launch() for user in users]
    users[0].release()
    assert psutil.Process(running.pid).status() != psutil.STATUS_ZOMBIE
    users[1].release()
    users[1].release()
    assert not psutil.pid_exists(running.pid)


def test_it_ends_when_its_process_exits(gguf, other_process):
    pid = int(other_process(f"print(launch({str(gguf)!r}).pid)").communicate()[0])
    assert gone(pid)


def test_it_ends_when_its_process_is_killed(gguf, other_process):
    parent = other_process(
        f"print(launch({str(gguf)!r}).pid, flush=True)\ntime.sleep(60)"
    )
    server = psutil.Process(int(parent.stdout.readline()))
    os.kill(parent.pid, signal.SIGKILL)
    server.wait(timeout=10)


async def test_after_a_kill_of_the_server_the_next_launch_starts_another(
    embedded, gguf
):
    server = embedded(gguf)
    first = await server.launch()
    os.kill(first.pid, signal.SIGKILL)
    assert gone(first.pid)
    second = await server.launch()
    assert second.pid != first.pid
    assert psutil.pid_exists(second.pid)


async def test_the_stop_button_does_not_reach_it(embedded, gguf):
    running = await embedded(gguf).launch()
    assert os.getsid(running.pid) == running.pid != os.getsid(0)


async def test_one_lease_however_many_launchers_a_process_makes(embedded, gguf):
    running, *_ = [await embedded(gguf).launch() for _ in range(3)]
    assert len(list((running.log.parent / "leases").iterdir())) == 1


async def test_a_forked_process_does_not_give_up_our_lease(embedded, gguf, monkeypatch):
    server = embedded(gguf)
    running = await server.launch()
    with monkeypatch.context() as child:
        child.setattr(os, "getpid", lambda: 1)
        server.release()
    assert len(list((running.log.parent / "leases").iterdir())) == 1


async def test_a_lease_lost_with_the_cache_is_taken_again(embedded, gguf):
    server = embedded(gguf)
    running = await server.launch()
    leases = running.log.parent / "leases"
    for lease in leases.iterdir():
        lease.unlink()
    await server.launch()
    assert len(list(leases.iterdir())) == 1


async def test_a_model_that_does_not_load_is_told_with_the_log(embedded, gguf, stub):
    stub("broken")
    server = embedded(gguf)
    with pytest.raises(ModelServerError, match="ended before it answered") as caught:
        await server.launch()
    assert "the stub cannot load" in caught.value.message
    assert "server.log" in caught.value.hint
    stub("fine")
    assert (await server.launch()).model == "tiny-model"


async def test_a_server_that_loads_for_too_long(embedded, gguf, stub):
    stub("loading")
    with pytest.raises(ModelServerError, match=r"did not answer within 0\.8 seconds"):
        await embedded(gguf, timeout=0.8).launch()


async def test_waiting_can_be_cancelled(embedded, gguf, stub):
    stub("loading")
    launch = asyncio.create_task(embedded(gguf).launch())
    await asyncio.sleep(0.05)
    launch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await launch


async def test_without_xllamacpp_the_hint_says_what_to_install(
    embedded, gguf, monkeypatch
):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name: None if name == "xllamacpp" else find(name),
    )
    with pytest.raises(ModelServerError, match="xllamacpp") as caught:
        await embedded(gguf).launch()
    assert 'pip install "synthnb[local]"' in caught.value.hint


async def test_a_folder_that_cannot_be_written(embedded, gguf, cache):
    cache.parent.mkdir(exist_ok=True)
    cache.write_text("a file stands where the folder should be")
    with pytest.raises(ModelServerError, match="cannot start") as caught:
        await embedded(gguf).launch()
    assert "SYNTHNB_CACHE" in caught.value.hint


def test_it_describes_itself_before_it_runs(gguf):
    said = EmbeddedServer(gguf, slots=3).describe()
    assert str(gguf) in said
    assert "3 slots x 2048 tokens" in said
    assert "not fetched yet" in EmbeddedServer().describe()


@pytest.mark.parametrize("wrong", [{"slots": 0}, {"context": -1}, {"threads": 0}])
def test_numbers_out_of_range(gguf, wrong):
    with pytest.raises(ConfigError, match="at least 1"):
        EmbeddedServer(gguf, **wrong)


def test_more_context_than_the_model_was_trained_for():
    with pytest.raises(ConfigError, match="trained for 8192 tokens"):
        EmbeddedServer(context=10_000)


async def test_a_file_that_only_begins_like_a_gguf(embedded, gguf, monkeypatch):
    monkeypatch.delenv("PYTHONPATH")  # the real llama.cpp reads it
    with pytest.raises(ModelServerError, match="ended before it answered") as caught:
        await embedded(gguf).launch()
    assert "gguf" in caught.value.message.lower()

"""The fault server in a thread and as a process."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request

import psutil
import pytest

from synthnb.testing import Fault, FaultServer, fault_process


def chat(server, prompt="hello", **fields):
    body = {"model": "m", "messages": [{"role": "user", "content": prompt}], **fields}
    request = urllib.request.Request(
        f"{server.base_url}/chat/completions", json.dumps(body).encode()
    )
    with urllib.request.urlopen(request, timeout=5) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


def test_in_a_thread():
    with FaultServer.in_thread("hi", faults=[Fault(503, numbers=[2])]) as server:
        assert chat(server) == "hi"
        with pytest.raises(urllib.error.HTTPError) as caught:
            chat(server)
        caught.value.close()
    assert server.stats.requests == 2
    with pytest.raises(urllib.error.URLError):
        chat(server)


def test_in_a_thread_a_port_in_use_is_told():
    with (
        FaultServer.in_thread() as server,
        pytest.raises(OSError, match="in use"),
        FaultServer.in_thread(port=server.port),
    ):
        pass


def test_as_a_process():
    arguments = ["--answer", "hi", "--model", "a", "--model", "b", "--no-max-tokens"]
    fault = json.dumps({"what": 503, "numbers": [1]})
    with fault_process(*arguments, "--fault", fault) as server:
        for fields in ({}, {"max_tokens": 3}):
            with pytest.raises(urllib.error.HTTPError) as caught:
                chat(server, **fields)
            caught.value.close()
        assert chat(server, "#R5#") == "hi"
        counts = server.stats()
        with urllib.request.urlopen(f"{server.base_url}/models", timeout=5) as answer:
            names = [model["id"] for model in json.load(answer)["data"]]
    assert counts["statuses"] == {"503": 1, "400": 1, "200": 1}
    assert counts["by_prompt"]["#R5#"] == 1
    assert names == ["a", "b"]
    assert not psutil.pid_exists(server.pid)


def test_a_process_ends_by_itself():
    command = [sys.executable, "-m", "synthnb.testing", "--max-seconds", "0.01"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.wait(30) == 0
        assert json.loads(process.stdout.read())["port"] > 0
        assert b"seconds are over" in process.stderr.read()


def test_a_process_ends_when_the_one_that_started_it_is_killed():
    code = (
        "from synthnb.testing import fault_process\n"
        "import time\n"
        "with fault_process() as server:\n"
        "    print(server.pid, flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE
    ) as parent:
        server = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    server.wait(timeout=10)


def test_arguments_that_are_wrong_are_told(capfd):
    with (
        pytest.raises(RuntimeError, match="ended before it listened"),
        fault_process("--fault", '{"what": "nonsense"}'),
    ):
        pass
    assert "nonsense" in capfd.readouterr().err

"""A real ipykernel, driven over its own protocol."""

from __future__ import annotations

import os
import queue
from dataclasses import dataclass, field

import pytest
from jupyter_client.manager import KernelManager

from synthnb.testing import fault_process


@dataclass
class Cell:
    """What one executed cell gave."""

    status: str = ""
    text: str = ""
    result: str = ""
    error: str = ""
    displays: list[dict] = field(default_factory=list)
    updates: list[dict] = field(default_factory=list)


class Kernel:
    """Start, run cells, interrupt, kill, restart."""

    def __init__(self, folder, env):
        self.manager = KernelManager(kernel_name="python3")
        self.folder, self.env = folder, env
        self.start()

    def start(self):
        self.manager.start_kernel(cwd=str(self.folder), env=self.env)
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def send(self, code: str) -> str:
        return self.client.execute(code)

    def collect(self, sent: str, timeout: float = 60) -> Cell:
        """Return what a cell gave, once it is idle again."""
        cell = Cell()
        while True:
            message = self.client.get_iopub_msg(timeout=timeout)
            if message["parent_header"].get("msg_id") != sent:
                # A shown run is updated on behalf of the cell that showed it.
                if message["msg_type"] == "update_display_data":
                    self.take(cell, message)
                continue
            if self.take(cell, message):
                break
        cell.status = self.client.get_shell_msg(timeout=timeout)["content"]["status"]
        return cell

    def take(self, cell: Cell, message: dict) -> bool:
        kind, content = message["msg_type"], message["content"]
        if kind == "stream":
            cell.text += content["text"]
        elif kind == "execute_result":
            cell.result = content["data"]["text/plain"]
        elif kind == "display_data":
            cell.displays.append(content["data"])
        elif kind == "update_display_data":
            cell.updates.append(content["data"])
        elif kind == "error":
            cell.error = f"{content['ename']}: {content['evalue']}"
        return kind == "status" and content["execution_state"] == "idle"

    def run(self, code: str, timeout: float = 60) -> Cell:
        return self.collect(self.send(code), timeout)

    def later(self, seconds: float) -> Cell:
        """Return what arrives without a cell of ours being run."""
        cell = Cell()
        while True:
            try:
                self.take(cell, self.client.get_iopub_msg(timeout=seconds))
            except queue.Empty:
                return cell

    def stop(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture
def kernel(tmp_path):
    """A kernel in an empty folder that reaches nothing beyond this machine."""
    env = dict(os.environ, IPYTHONDIR=str(tmp_path / "ipython"))
    env.pop("SYNTHNB_HOME", None)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        env[name] = "http://127.0.0.1:9"
    made = Kernel(tmp_path, env)
    yield made
    made.stop()


@pytest.fixture
def server():
    """A fault server in a process of its own, 20 ms an answer."""
    with fault_process("--latency", "0.02", "--max-seconds", "300") as started:
        yield started

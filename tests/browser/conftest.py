"""JupyterLab on a loopback port, and a real Chromium that is driven through it.

The page is driven by JupyterLab's own commands and read from its own models; only what a
person does with hand and eye (clicks, keys, what is painted) goes through the DOM.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nbformat
import platformdirs
import pytest
from playwright.sync_api import sync_playwright

from synthnb.testing import fault_process

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--enable-precise-memory-info",
]
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    # Cells out of sight would have no elements.
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
    "@jupyter-widgets/jupyterlab-manager:plugin": {"saveState": True},
}
WIDGET = "() => window.jupyterapp?.shell.currentWidget"
COMMAND = "([name, args]) => jupyterapp.commands.execute(name, args).then(() => true)"
STATUS = f"({WIDGET})()?.sessionContext?.session?.kernel?.status"


def _load(name: str):
    """Load a script of this folder: tests are no package."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Notebook:
    """One notebook in its own folder, open in its own tab."""

    def __init__(self, lab, path: Path):
        self.lab, self.path = lab, path
        self.page = lab.new_page()
        self.open()

    def open(self):
        """Go to the notebook and wait until its kernel is ready."""
        self.page.goto(self.lab.url(self.path))
        self.page.wait_for_function(f"() => ({WIDGET})()?.sessionContext")
        self.page.evaluate(
            f"""async () => {{ const w = ({WIDGET})(); await w.context.ready;
            await w.sessionContext.ready; await w.sessionContext.session.kernel.info; }}"""
        )
        self.page.wait_for_function(f"() => {STATUS} === 'idle'")

    def reload(self):
        self.open()

    def command(self, name: str, **args):
        return self.page.evaluate(COMMAND, [name, args])

    def run(self, index: int, *, wait: bool = True):
        """Run one cell; with ``wait`` until it has ended."""
        self.page.evaluate(
            f"""(i) => {{ const c = ({WIDGET})().content; c.deselectAll();
            c.activeCellIndex = i;
            window.ran = jupyterapp.commands.execute('notebook:run-cell'); }}""",
            index,
        )
        if wait:
            self.page.evaluate("() => window.ran.then(() => true)")

    def run_all(self, *, wait: bool = True):
        self.page.evaluate(
            "() => { window.ran = jupyterapp.commands.execute('notebook:run-all-cells') }"
        )
        if wait:
            self.page.evaluate("() => window.ran.then(() => true)")

    def python(self, code: str) -> str:
        """Run code silently in the kernel, beside the cells; return what it printed."""
        return self.page.evaluate(
            f"""async (code) => {{ let said = ''; const k = ({WIDGET})().sessionContext.session.kernel;
            const f = k.requestExecute({{code, silent: false, store_history: false}});
            f.onIOPub = (m) => {{ if (m.header.msg_type === 'stream') said += m.content.text;
              if (m.header.msg_type === 'error') said += m.content.traceback.join('\\n'); }};
            await f.done; return said; }}""",
            code,
        )

    def cell(self, index: int):
        return self.page.locator(".jp-Notebook .jp-Cell").nth(index)

    def outputs(self, index: int) -> list[dict]:
        return self.page.evaluate(
            f"(i) => ({WIDGET})().content.model.cells.get(i).sharedModel.toJSON().outputs",
            index,
        )

    def sources(self) -> list[str]:
        return self.page.evaluate(
            f"() => Array.from(({WIDGET})().content.model.cells, c => c.sharedModel.getSource())"
        )

    def status(self) -> str:
        return self.page.evaluate(f"() => {STATUS}")

    def until(self, condition: str, timeout: float = 30):
        """Wait until a JavaScript expression is true in the page."""
        self.page.wait_for_function(f"() => {condition}", timeout=timeout * 1000)

    def interrupt(self):
        self.page.evaluate(
            f"() => ({WIDGET})().sessionContext.session.kernel.interrupt()"
        )

    def restart(self):
        self.page.evaluate(
            f"() => ({WIDGET})().sessionContext.session.kernel.restart()"
        )
        self.page.wait_for_function(f"() => {STATUS} === 'idle'")

    def save(self) -> dict:
        """Save, and return the file as it stands on disk."""
        self.command("docmanager:save")
        return json.loads(self.path.read_text(encoding="utf-8"))

    def theme(self, name: str):
        """Change to ``light`` or ``dark``."""
        wanted = f"JupyterLab {name.title()}"
        self.command("apputils:change-theme", theme=wanted)
        self.page.wait_for_function(
            f"() => document.body.dataset.jpThemeName === '{wanted}'"
        )

    def resize(self, width: int, height: int = 1000):
        self.page.set_viewport_size({"width": width, "height": height})

    def shot(self, path):
        self.page.screenshot(path=str(path))

    def close(self):
        """Shut the kernel down and close the tab."""
        with contextlib.suppress(Exception):
            self.page.evaluate(f"() => ({WIDGET})().sessionContext.shutdown()")
        with contextlib.suppress(Exception):
            self.page.close()


class Lab:
    """A server and a browser."""

    def __init__(self, state: Path, browser, app: str = "lab"):
        """Start; ``browser`` is the path of one, or one that another lab has started."""
        self.app, self.state, self.root = app, state, state / "notebooks"
        self.port, self.token = _free_port(), secrets.token_hex(16)
        self.console: list[tuple[str, str]] = []
        self.external: list[str] = []
        self.dialogs: list[str] = []
        self._numbers = itertools.count(1)
        self.log = state / "server.log"
        self._own = self._playwright = None
        env = self._prepare()
        self._log = self.log.open("w")
        self.server = subprocess.Popen(
            self._command(), stdout=self._log, stderr=subprocess.STDOUT, env=env
        )
        try:
            self._wait()
            if isinstance(browser, str):
                # One for the process: a second one would find the first one's loop.
                self._playwright = sync_playwright().start()
                chromium = self._playwright.chromium
                self._own = chromium.launch(executable_path=browser, args=FLAGS)
            self.browser = browser if self._own is None else self._own
            self.context = self.browser.new_context(
                viewport={"width": 1300, "height": 1000}
            )
            self.context.set_default_timeout(60_000)
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> dict[str, str]:
        homes = {
            "HOME": "home",
            "JUPYTER_CONFIG_DIR": "config",
            "JUPYTER_DATA_DIR": "data",
            "JUPYTER_RUNTIME_DIR": "runtime",
            "JUPYTERLAB_SETTINGS_DIR": "settings",
            "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
            "IPYTHONDIR": "ipython",
        }
        cache = os.environ.get("SYNTHNB_CACHE") or platformdirs.user_cache_path(
            "synthnb"
        )
        env = dict(os.environ, SYNTHNB_CACHE=str(cache), PYTHONUNBUFFERED="1")
        for name in ("SYNTHNB_HOME", "SYNTHNB_BASE_URL", "SYNTHNB_MODEL", "SYNTHNB_API_KEY"):  # fmt: skip
            env.pop(name, None)
        # Nothing of what runs here may leave the machine.
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
            env[name] = "http://127.0.0.1:9"
        env["NO_PROXY"] = env["no_proxy"] = "127.0.0.1,localhost"
        for name, folder in homes.items():
            (self.state / folder).mkdir(parents=True)
            env[name] = str(self.state / folder)
        self.root.mkdir()
        for plugin, values in SETTINGS.items():
            package, _, name = plugin.partition(":")
            folder = self.state / "settings" / package
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{name}.jupyterlab-settings").write_text(json.dumps(values))
        # What both front ends read, whatever their own option says.
        folder = self.state / "config" / "labconfig"
        folder.mkdir()
        text = json.dumps({"exposeAppInBrowser": True})
        (folder / "page_config.json").write_text(text)
        return env

    def _command(self) -> list[str]:
        module, name = {
            "lab": ("jupyterlab", "LabApp"),
            "notebook": ("notebook", "JupyterNotebookApp"),
        }[self.app]
        return [
            sys.executable, "-m", module, "--no-browser", "--allow-root",
            "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={self.port}",
            "--ServerApp.port_retries=0", f"--IdentityProvider.token={self.token}",
            f"--ServerApp.root_dir={self.root}",
            f"--{name}.news_url=None", f"--{name}.extension_manager=readonly",
        ]  # fmt: skip

    def _wait(self, seconds: float = 90):
        url = f"http://127.0.0.1:{self.port}/api/status?token={self.token}"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.server.poll() is None:
            with contextlib.suppress(OSError), opener.open(url, timeout=2):
                return
            time.sleep(0.1)
        raise RuntimeError(self.log.read_text()[-3000:])

    def url(self, path: Path) -> str:
        place = path.relative_to(self.root).as_posix()
        page = "lab/tree" if self.app == "lab" else "notebooks"
        return f"http://127.0.0.1:{self.port}/{page}/{place}?reset&token={self.token}"

    def new_page(self):
        page = self.context.new_page()
        page.on("console", lambda m: self.console.append((m.type, m.text)))
        page.on("pageerror", lambda e: self.console.append(("pageerror", str(e))))
        page.on("request", lambda r: self._look(r.url))
        page.on("dialog", self._dialog)
        return page

    def _look(self, url: str):
        ours = f"127.0.0.1:{self.port}"
        if not url.startswith((f"http://{ours}", f"ws://{ours}", "data:", "blob:")):
            self.external.append(url)

    def _dialog(self, dialog):
        # One that asks whether to leave the page must be accepted, or the page stays.
        if dialog.type == "beforeunload":
            dialog.accept()
            return
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def notebook(self, cells: list[str]) -> Notebook:
        """Open a fresh notebook with these code cells, in a folder of its own."""
        folder = self.root / f"n{next(self._numbers)}"
        folder.mkdir()
        made = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(code) for code in cells],
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        )
        nbformat.write(made, folder / "test.ipynb")
        return Notebook(self, folder / "test.ipynb")

    def close(self):
        with contextlib.suppress(Exception):
            self.context.close()
        with contextlib.suppress(Exception):
            if self._own is not None:
                self._own.close()
                self._playwright.stop()
        self.server.terminate()
        try:
            self.server.wait(15)
        except subprocess.TimeoutExpired:
            self.server.kill()
            self.server.wait()
        self._log.close()


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """One JupyterLab and one browser for all tests."""
    made = Lab(tmp_path_factory.mktemp("lab"), _load("browser_ready").find_browser())
    yield made
    made.close()


@pytest.fixture
def start_app(lab):
    """Start another front end of the Jupyter project in the same browser."""

    @contextlib.contextmanager
    def start(app: str, state: Path):
        state.mkdir()
        made = Lab(state, lab.browser, app)
        try:
            yield made
        finally:
            made.close()

    return start


@pytest.fixture(autouse=True)
def nothing_leaves_and_nothing_breaks(request):
    """After each test: no request left the machine, no script failed, no dialog came."""
    yield
    if "lab" not in request.fixturenames:
        return
    lab = request.getfixturevalue("lab")
    broken = [text for kind, text in lab.console if kind == "pageerror"]
    left, said = list(lab.external), list(lab.dialogs)
    lab.console.clear(), lab.external.clear(), lab.dialogs.clear()
    assert not left, f"requests that left the machine: {left}"
    assert not broken, f"errors in the page: {broken}"
    assert not said, f"dialogs in the page: {said}"


@pytest.fixture
def notebook(lab):
    """Open notebooks; their kernels are shut down at the end of the test."""
    opened: list[Notebook] = []

    def open_notebook(*cells: str) -> Notebook:
        opened.append(lab.notebook(list(cells)))
        return opened[-1]

    yield open_notebook
    for one in opened:
        one.close()


@pytest.fixture
def server():
    """A fault server in a process of its own, 20 ms an answer."""
    with fault_process("--latency", "0.02", "--max-seconds", "300") as started:
        yield started


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.timeout(300))

"""Which browser the browser tests take, and how they bring one: with scripts for browsers."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "browser" / "browser_ready.py"
GOOD = 'case " $* " in *" --dump-dom "*) echo "<html></html>";; esac'
SNAP = 'echo "requires the chromium snap to be installed" >&2; exit 1'
ADVISED = "playwright install chromium"


@pytest.fixture
def ready(monkeypatch):
    spec = importlib.util.spec_from_file_location("browser_ready", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "MAC_APPS", ())
    monkeypatch.setattr(module, "playwrights_own", lambda _env: None)
    monkeypatch.setattr(module, "debian_commands", lambda _env: [])
    monkeypatch.setattr(module, "playwright_commands", lambda _env: [])
    return module


@pytest.fixture
def place(tmp_path):
    """A PATH with nothing on it but what the test puts there."""

    class Place:
        env = {"PATH": str(tmp_path)}  # noqa: RUF012

        def put(self, name, body=GOOD):
            path = tmp_path / name
            path.write_text(f"#!/bin/sh\n{body}\n")
            path.chmod(0o755)
            return str(path)

    return Place()


def test_a_browser_on_the_path_is_found(ready, place):
    chromium = place.put("chromium")
    place.put("google-chrome")
    assert ready.find_browser(place.env) == chromium


def test_one_that_does_not_start_is_passed_over(ready, place):
    place.put("chromium-browser", SNAP)
    chrome = place.put("google-chrome")
    assert ready.find_browser(place.env) == chrome


def test_a_version_alone_is_not_enough(ready, place):
    place.put("chromium", 'echo "Chromium 150.0"')
    with pytest.raises(ready.NoBrowserError, match="ended with status 0"):
        ready.find_browser(place.env)


def test_the_named_one_comes_first(ready, place, tmp_path):
    place.put("chromium")
    own = tmp_path / "own"
    own.write_text(f"#!/bin/sh\n{GOOD}\n")
    own.chmod(0o755)
    env = {**place.env, "SYNTHNB_BROWSER": str(own)}
    assert ready.find_browser(env) == str(own)


def test_the_named_one_may_be_a_name(ready, place):
    mine = place.put("my-browser")
    env = {**place.env, "SYNTHNB_BROWSER": "my-browser"}
    assert ready.find_browser(env) == mine


def test_no_other_takes_the_place_of_a_named_one_that_fails(ready, place):
    place.put("chromium")
    env = {**place.env, "SYNTHNB_BROWSER": "/nowhere/chrome"}
    with pytest.raises(ready.NoBrowserError, match="SYNTHNB_BROWSER") as caught:
        ready.bring_browser(env)
    assert "/nowhere/chrome: No such file or directory" in str(caught.value)


def test_an_app_of_macos_and_playwrights_own_come_after_the_path(
    ready, place, monkeypatch
):
    app, own = place.put("Google Chrome"), place.put("playwrights-chrome")
    monkeypatch.setattr(ready, "MAC_APPS", (app, "/nowhere/Chromium"))
    monkeypatch.setattr(ready, "playwrights_own", lambda _env: own)
    assert list(ready.candidates(place.env)) == [app, own]
    chrome = place.put("google-chrome")
    assert list(ready.candidates(place.env)) == [chrome, app, own]


def test_two_names_of_one_browser_are_tried_once(ready, place, tmp_path):
    place.put("chromium")
    (tmp_path / "chromium-browser").symlink_to(tmp_path / "chromium")
    assert len(list(ready.candidates(place.env))) == 1


def test_one_that_hangs_is_ended_with_all_its_processes(ready, place, tmp_path):
    note = tmp_path / "pid"
    path = place.put("chromium", f"sleep 300 & echo $! > {note}; wait")
    assert "no page within" in ready.why_not(path, seconds=1)
    assert not running(int(note.read_text()))


def running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_what_was_tried_and_what_to_do_is_said(ready, place):
    place.put("chromium-browser", SNAP)
    with pytest.raises(ready.NoBrowserError) as caught:
        ready.bring_browser(place.env)
    text = str(caught.value)
    assert "chromium-browser: requires the chromium snap" in text
    assert "apt install chromium" in text
    assert ADVISED in text


def installs(place, tmp_path, name, body=GOOD):
    """A command that puts a browser on the PATH, as an installer would."""
    text = f"#!/bin/sh\n{body}\n"
    code = (
        f"import pathlib; p = pathlib.Path({str(tmp_path / name)!r}); "
        f"p.write_text({text!r}); p.chmod(0o755)"
    )
    return [[sys.executable, "-c", code]]


def test_debians_package_is_preferred_to_a_download(
    ready, place, tmp_path, monkeypatch
):
    debian = installs(place, tmp_path, "chromium")
    monkeypatch.setattr(ready, "debian_commands", lambda _env: debian)
    download = installs(place, tmp_path, "chrome")
    monkeypatch.setattr(ready, "playwright_commands", lambda _env: download)
    assert ready.bring_browser(place.env) == str(tmp_path / "chromium")
    assert not (tmp_path / "chrome").exists()


def test_a_package_that_brings_no_working_browser_is_not_the_end(
    ready, place, tmp_path, monkeypatch
):
    broken = installs(place, tmp_path, "chromium", "exit 3")
    good = installs(place, tmp_path, "chrome")
    monkeypatch.setattr(ready, "debian_commands", lambda _env: broken)
    monkeypatch.setattr(ready, "playwright_commands", lambda _env: good)
    assert ready.bring_browser(place.env) == str(tmp_path / "chrome")


def test_an_installation_stops_at_its_first_failed_step(
    ready, place, tmp_path, monkeypatch, capfd
):
    mark = tmp_path / "second"
    steps = [["/bin/sh", "-c", "echo loud; exit 7"], ["/bin/sh", "-c", f"> {mark}"]]
    monkeypatch.setattr(ready, "debian_commands", lambda _env: steps)
    with pytest.raises(ready.NoBrowserError):
        ready.bring_browser(place.env)
    assert not mark.exists()
    said = capfd.readouterr()
    assert said.out == "", "standard output is for the path"
    assert "loud" in said.err
    assert "status 7" in said.err


@pytest.mark.parametrize(
    ("user", "system", "possible"),
    [(0, "debian", True), (1000, "debian", False), (0, "ubuntu", False)],
)
def test_the_package_is_for_root_on_debian(user, system, possible, place, monkeypatch):
    spec = importlib.util.spec_from_file_location("browser_ready", SCRIPT)
    ready = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ready)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(
        ready.platform, "freedesktop_os_release", lambda: {"ID": system}
    )
    assert ready.debian_commands(place.env) == [], "there is no apt-get"
    apt = place.put("apt-get")
    commands = ready.debian_commands(place.env)
    assert bool(commands) is possible
    assert all(command[0] == apt for command in commands)
    with_libraries = "--with-deps" in ready.playwright_commands(place.env)[0]
    assert with_libraries is (user == 0)


def test_the_path_is_all_that_is_printed(place):
    chromium = place.put("chromium")
    done = subprocess.run(
        [sys.executable, SCRIPT],
        env={**os.environ, "SYNTHNB_BROWSER": chromium},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{chromium}\n", "")


def test_none_is_a_status_and_a_sentence():
    done = subprocess.run(
        [sys.executable, SCRIPT],
        env={**os.environ, "SYNTHNB_BROWSER": "/nowhere/chrome"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert ADVISED in done.stderr
    assert "Traceback" not in done.stderr

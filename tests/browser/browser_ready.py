"""Find a Chromium or Chrome that starts, and bring one where there is none.

    python tests/browser/browser_ready.py           print its path, fetch one if need be
    python tests/browser/browser_ready.py --look    print its path, fetch nothing

Looked for: what ``SYNTHNB_BROWSER`` names (then nothing else), the names on the PATH, the
apps of macOS, playwright's own download. Fetched: Debian's package where that can be
installed, else playwright's download. ``conftest.py`` loads this file by its path and
calls ``find_browser()``.
"""

from __future__ import annotations

import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
MAC_APPS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
FLAGS = (
    "--headless",
    "--no-sandbox",  # containers, and root, have none
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
START_SECONDS = 90.0
FETCH_SECONDS = 1200.0
ADVICE = """\
Install one, then run this again:
  Debian           apt install chromium
  Fedora           dnf install chromium
  macOS            brew install --cask google-chrome
  anywhere else    python -m playwright install chromium
or name the one you have: SYNTHNB_BROWSER=/path/to/chrome"""
PLAYWRIGHTS_OWN = (
    "from playwright.sync_api import sync_playwright\n"
    "with sync_playwright() as p: print(p.chromium.executable_path)"
)


class NoBrowserError(LookupError):
    """No browser that starts; the message says what was tried and what to do."""


def find_browser(env: Mapping[str, str] = os.environ) -> str:
    """Return the path of a browser that was just seen to start.

    Raises:
        NoBrowserError: there is none, or the named one does not start.
    """
    tried = []
    for path in candidates(env):
        problem = why_not(path)
        if problem is None:
            return path
        tried.append(f"  {path}: {problem}")
    head = "No Chromium or Chrome was found"
    if env.get("SYNTHNB_BROWSER"):
        head = "SYNTHNB_BROWSER names no browser that starts"
    elif tried:
        head = "No Chromium or Chrome starts"
    raise NoBrowserError("\n".join([f"{head}.", *tried, ADVICE]))


def bring_browser(env: Mapping[str, str] = os.environ) -> str:
    """Return a browser that starts; install one if there is none.

    Raises:
        NoBrowserError: there is none, and none could be fetched.
    """
    try:
        return find_browser(env)
    except NoBrowserError as error:
        if env.get("SYNTHNB_BROWSER"):
            raise
        problem = error
    for name, commands in (
        ("Debian's package", debian_commands(env)),
        ("playwright's download", playwright_commands(env)),
    ):
        if not commands:
            continue
        say(f"Fetching a Chromium for the browser tests (once): {name}")
        if all(ran(command, env) for command in commands):
            try:
                return find_browser(env)
            except NoBrowserError as error:
                problem = error
    raise problem


def candidates(env: Mapping[str, str]) -> Iterator[str]:
    """Yield the paths that may be a browser, best first, each once."""
    if named := env.get("SYNTHNB_BROWSER"):
        yield shutil.which(named, path=env.get("PATH")) or named
        return
    seen = set()
    for path in _places(env):
        real = os.path.realpath(path)
        if real not in seen:
            seen.add(real)
            yield path


def _places(env: Mapping[str, str]) -> Iterator[str]:
    for name in NAMES:
        if path := shutil.which(name, path=env.get("PATH")):
            yield path
    yield from (app for app in MAC_APPS if os.access(app, os.X_OK))
    if path := playwrights_own(env):
        yield path


def playwrights_own(env: Mapping[str, str]) -> str | None:
    """Return where playwright keeps its own Chromium, if it was downloaded.

    Asked in a process of its own: playwright's driver cannot be started twice in one.
    """
    try:
        asked = subprocess.run(
            [sys.executable, "-c", PLAYWRIGHTS_OWN],
            check=False,
            capture_output=True,
            text=True,
            timeout=START_SECONDS,
            env=dict(env),
        )
    except subprocess.TimeoutExpired:
        return None
    path = asked.stdout.strip()
    return path if asked.returncode == 0 and os.access(path, os.X_OK) else None


def why_not(path: str, seconds: float = START_SECONDS) -> str | None:
    """Start the browser on an empty page; return why it cannot be used, or None.

    ``--version`` would not do: Ubuntu's ``chromium-browser`` without its snap, a missing
    library or a forbidden sandbox show themselves only when a page is wanted.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [
            path,
            *FLAGS,
            f"--user-data-dir={profile}",
            "--dump-dom",
            "about:blank",
        ]
        try:
            started = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            return error.strerror or str(error)
        try:
            page, errors = started.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            # A browser is many processes, and they hold the pipes.
            os.killpg(started.pid, signal.SIGKILL)
            started.communicate()
            return f"showed no page within {seconds:.0f} s"
    if started.returncode == 0 and b"<html" in page:
        return None
    said = errors.decode("utf-8", "replace").strip().splitlines()
    return said[-1][:200] if said else f"ended with status {started.returncode}"


def debian_commands(env: Mapping[str, str]) -> list[list[str]]:
    """Return how to install Debian's package, or nothing where that is not possible.

    Only for root, and not on Ubuntu: its package of that name only asks for a snap.
    """
    if os.geteuid() != 0 or not (apt := shutil.which("apt-get", path=env.get("PATH"))):
        return []
    try:
        system = platform.freedesktop_os_release()
    except OSError:
        return []
    if system["ID"] != "debian":
        return []
    install = [apt, "install", "--yes", "--quiet", "--no-install-recommends"]
    return [[apt, "update", "--quiet"], [*install, "chromium"]]


def playwright_commands(env: Mapping[str, str]) -> list[list[str]]:
    """Return how to download playwright's own Chromium; for root with its libraries."""
    install = [sys.executable, "-m", "playwright", "install", "chromium"]
    if os.geteuid() == 0 and shutil.which("apt-get", path=env.get("PATH")):
        install.append("--with-deps")
    return [install]


def ran(command: list[str], env: Mapping[str, str]) -> bool:
    """Run one step of an installation; return whether it went well."""
    quiet = {**env, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        # What an installer says goes to standard error: our output is one line.
        done = subprocess.run(
            command, check=False, env=quiet, stdout=2, timeout=FETCH_SECONDS
        )
    except subprocess.TimeoutExpired:
        say(f"{command[0]} took longer than {FETCH_SECONDS / 60:.0f} minutes")
        return False
    if done.returncode:
        say(f"{' '.join(command)} ended with status {done.returncode}")
    return done.returncode == 0


def say(text: str) -> None:
    """Tell the person; standard output is for the path alone."""
    print(text, file=sys.stderr, flush=True)


def main(arguments: list[str]) -> int:
    """Print the path of a browser; return the exit status."""
    try:
        print(find_browser() if arguments == ["--look"] else bring_browser())
    except NoBrowserError as error:
        say(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

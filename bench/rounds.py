"""Plays the cases: a process for each measurement, the rows of a table taking turns."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from cases import Case, Measure
from draws import list_bound
from server import Server

_MEASURE = Path(__file__).parent / "measure.py"
_MAX_SECONDS = 1800
_POLL_SECONDS = 0.02

Figures = dict[str, float]


class WrongAnswersError(Exception):
    """A measurement lost rows or mixed up answers: its figures mean nothing."""


class FailedError(Exception):
    """A measurement's process failed."""


class Player:
    """Plays cases against one server, in one folder for what they write."""

    def __init__(self, server: Server | None, folder: Path, also: str = "") -> None:
        """Take the server and the folder.

        Args:
            server: the stub; ``None`` if no case needs one.
            folder: where runs and ledgers are written; on the disk that is measured.
            also: a ``/__cfg`` query that is added to every case's behaviour.
        """
        self._server = server
        self._folder = folder
        self._also = dict(pair.split("=") for pair in also.split("&") if pair)

    def play(
        self, case: Case, n: int, rounds: int, say: Callable[[str], None]
    ) -> dict[str, list[Figures]]:
        """Return the figures of each row of the table, a round after the other.

        Raises:
            WrongAnswersError: rows were lost or answers mixed up.
            FailedError: a measurement's process failed.
        """
        case = self._adapted(case)
        results: dict[str, list[Figures]] = {m.label: [] for m in case.measures}
        for number in range(rounds):
            for measure in case.measures:
                began = time.perf_counter()
                rows = max(1, round(n * measure.part))
                figures = getattr(self, f"_{case.how}")(case, measure, rows)
                self._check(case, measure, figures)
                results[measure.label].append(figures)
                took = time.perf_counter() - began
                say(f"{case.name} {number + 1}/{rounds} {measure.label}: {took:.1f} s")
        return results

    def _adapted(self, case: Case) -> Case:
        if case.work is None or not self._also:
            return case
        query = "&".join(f"{key}={value}" for key, value in self._also.items())
        work = type(case.work).of(f"{case.work.query}&{query}")
        return dataclasses.replace(case, work=work)

    def _check(self, case: Case, measure: Measure, figures: Figures) -> None:
        figures["lost"] = figures["n"] - figures["good"]
        if measure.exact and figures["lost"]:
            msg = (
                f"{case.name}, {measure.label}: {figures['good']:.0f} of"
                f" {figures['n']:.0f} {case.unit} are right"
            )
            raise WrongAnswersError(msg)

    # the ways to play --------------------------------------------------------------------

    def _plain(self, case: Case, measure: Measure, n: int) -> Figures:
        if case.work is None or self._server is None:
            return self._figures(self._command(case, measure.measurement, n))
        self._server.configure(case.work)
        command = self._command(case, measure.measurement, n, fixed=measure.fixed)
        figures = self._figures(command)
        stats = self._server.stats()
        figures["sent"] = stats["req"] - stats["noid"]
        if case.work.lat:
            best = list_bound([case.work.seconds(i) for i in range(n)], case.c)
            figures["bound"], figures["of_bound"] = best, best / figures["wall"]
        return figures

    def _kill(self, case: Case, measure: Measure, n: int) -> Figures:
        """End the process for real when half is answered, and start it again."""
        self._server.configure(case.work)
        folder = self._folder / "killed"
        shutil.rmtree(folder, ignore_errors=True)
        command = self._command(case, measure.measurement, n, folder=folder)
        with self._started(command) as process:
            while process.poll() is None and self._server.stats()["r200"] < n // 2:
                time.sleep(_POLL_SECONDS)
            process.kill()
            _, errors = process.communicate()
        if process.returncode != -signal.SIGKILL:
            msg = f"{case.name}, {measure.label}: it ended before it was killed"
            raise FailedError(f"{msg}: {errors[-2000:]}")
        delivered = self._server.stats()["ok_uniq"]
        self._server.phase()
        figures = self._figures(command)
        stats = self._server.stats()
        shutil.rmtree(folder)
        return figures | {"delivered": delivered, "resent": stats["resent"]}

    def _resume(self, case: Case, measure: Measure, n: int) -> Figures:
        """Fill a ledger in one process and resume it in another, whose memory counts."""
        self._server.configure(case.work)
        folder = self._folder / "filled"
        shutil.rmtree(folder, ignore_errors=True)
        filled = self._figures(self._command(case, "fill_ledger", n, folder=folder))
        command = self._command(case, measure.measurement, n, folder=folder)
        figures = self._figures(command)
        shutil.rmtree(folder)
        return figures | {"ledger_mb": filled["ledger_mb"]}

    # processes ---------------------------------------------------------------------------

    def _command(
        self,
        case: Case,
        measurement: str,
        n: int,
        *,
        fixed: bool = False,
        folder: Path | None = None,
    ) -> list[str]:
        command = [sys.executable, str(_MEASURE), measurement, "--n", str(n)]
        command += ["--c", str(case.c), "--timeout", str(case.timeout)]
        if case.work is not None:
            command += ["--url", self._server.url]
        if fixed:
            command.append("--fixed")
        if folder is not None:
            command += ["--folder", str(folder)]
        return command

    def _started(self, command: list[str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command,
            cwd=self._folder,
            env=_environment(self._folder),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def _figures(self, command: list[str]) -> Figures:
        with self._started(command) as process:
            try:
                out, err = process.communicate(timeout=_MAX_SECONDS)
            except BaseException:
                process.kill()
                raise
        if process.returncode or not out.strip():
            what = " ".join(command[2:])
            raise FailedError(f"{what} ended with {process.returncode}: {err[-2000:]}")
        figures = json.loads(out.splitlines()[-1])
        return {k: v for k, v in figures.items() if isinstance(v, int | float)}


def _environment(folder: Path) -> Mapping[str, str]:
    """Nothing of the person's own: no key, no learned dialects, no other run folder."""
    mine = {k: v for k, v in os.environ.items() if not k.startswith("SYNTHNB_")}
    return mine | {"SYNTHNB_HOME": str(folder / "home")}

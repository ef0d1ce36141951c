"""What the measurements share: the prompts, the clock, the memory, the check."""

from __future__ import annotations

import re
import resource
import statistics
import time
from collections.abc import Iterable, Sequence

import psutil

FILL = ("The quick brown fox jumps over the lazy dog. " * 14)[:600]
SYSTEM = "You make synthetic data."
TEMPLATE = "Write one question and its answer about the text #R{{ i }}#. {{ text }}"
WARM = 2_000_000
"""Marks from here on belong to the warm-up; the stub counts and draws nothing for them."""
_MARK = re.compile(r"#R(\d+)#")


def prompt(i: int) -> str:
    return f"Write one question and its answer about the text #R{i}#. {FILL}"


def body(i: int) -> dict:
    messages = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": prompt(i)},
    ]
    return {
        "model": "stub",
        "messages": messages,
        "temperature": 0.7,
        "max_tokens": 256,
    }


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def rss() -> float:
    """Return the resident memory of this process, in MB."""
    return psutil.Process().memory_info().rss / 2**20


class Clock:
    """CPU of the process, of this (the loop's) thread, and the wall."""

    def __enter__(self):
        self.start = cpu(), time.thread_time(), time.perf_counter()
        return self

    def __exit__(self, *error):
        now = cpu(), time.thread_time(), time.perf_counter()
        self.cpu, self.loop, self.wall = (
            b - a for a, b in zip(self.start, now, strict=True)
        )

    def figures(self, n: int) -> dict[str, float]:
        """Return what ``n`` requests cost."""
        return {
            "cpu_ms": self.cpu / n * 1e3,
            "loop_ms": self.loop / n * 1e3,
            "per_second": n / self.wall,
            "wall": self.wall,
        }


class Track:
    """Time and memory at every ``step``-th row of an iterator."""

    def __init__(self, step: int) -> None:
        self.step = step
        self.times: list[float] = []
        self.memory: list[float] = []

    def rows(self, rows: Iterable[dict]) -> Iterable[dict]:
        for i, row in enumerate(rows):
            if i % self.step == 0:
                self.mark()
            yield row
        self.mark()

    def mark(self) -> None:
        self.times.append(time.perf_counter())
        self.memory.append(rss())

    def figures(self) -> dict[str, float]:
        """Return the growth in MB, and the rows/s of the first and the last tenth."""
        seconds = [b - a for a, b in zip(self.times, self.times[1:], strict=False)]
        paces = [self.step / max(s, 1e-9) for s in seconds if s]
        tenth = max(1, len(paces) // 10)
        first, last = map(statistics.median, (paces[:tenth], paces[-tenth:]))
        return {
            "rss_start_mb": self.memory[0],
            "rss_growth_mb": max(self.memory) - self.memory[0],
            "first_per_second": first,
            "last_per_second": last,
            "last_to_first": last / first,
        }


def good(answers: Iterable[tuple[int, str | None]]) -> int:
    """Count the answers that belong to the request they are given for."""
    return sum(
        (found := _MARK.search(text or "")) is not None and int(found[1]) == number
        for number, text in answers
    )


def share(values: Sequence[float], part: float) -> float:
    """Return the value below which ``part`` of them lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]

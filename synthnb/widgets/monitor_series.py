"""A run's pace over time, in a fixed amount of memory however long it takes."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple


class Series:
    """Two small curves over the whole run: answers a second and requests in flight.

    Time is cut into equal steps. When there are too many, neighbours are joined and the
    step doubles, so the first second and the tenth hour lie on one axis.
    """

    def __init__(self, start: float, *, step: float = 1.0, most: int = 60) -> None:
        """Begin at ``start`` with steps of ``step`` seconds, at most ``most`` of them."""
        self._start = self._until = start
        self._step = step
        self._most = most
        self._answers: list[float] = []
        self._flight: list[float] = []

    @property
    def step(self) -> float:
        """Seconds that one point stands for."""
        return self._step

    @property
    def total(self) -> float:
        """All answers that were added."""
        return sum(self._answers)

    def add(self, now: float, answers: int, in_flight: int) -> None:
        """Add what came since the last call, spread evenly over that time.

        A loop that stood still for a while reports late; the time in which it did so
        must not look like a peak.
        """
        span = now - self._until
        if span <= 0:
            if answers:
                self._spill(self._until, answers)
            return
        self._make_room(now)
        since = self._until
        while since < now:
            index = int((since - self._start) / self._step)
            end = min(now, self._start + (index + 1) * self._step)
            if end <= since:  # a float's last digit
                index, end = index + 1, min(now, since + self._step)
            self._grow(index)
            share = (end - since) / span
            self._answers[index] += answers * share
            self._flight[index] += in_flight * (end - since)
            since = end
        self._until = now

    def points(self, *, ended: bool = False) -> dict[str, Any]:
        """Return the curves, without the step that has only begun.

        What has hardly begun says nothing, and would be sent anew at each look. At the
        end, and while there is nothing else, it counts for the part that is over.
        """
        count = len(self._answers)
        covered = [self._step] * count
        if count:
            covered[-1] = max(
                self._until - self._start - (count - 1) * self._step, 1e-9
            )
            begun = covered[-1] < self._step * (0.25 if ended else 0.999)
            count -= count > 1 and begun
        return {
            "step": self._step,
            "rate": [_short(self._answers[i] / covered[i]) for i in range(count)],
            "flight": [_short(self._flight[i] / covered[i]) for i in range(count)],
        }

    def _spill(self, at: float, answers: int) -> None:
        index = min(int((at - self._start) / self._step), self._most - 1)
        self._grow(index)
        self._answers[index] += answers

    def _grow(self, index: int) -> None:
        missing = index + 1 - len(self._answers)
        self._answers += [0.0] * missing
        self._flight += [0.0] * missing

    def _make_room(self, now: float) -> None:
        while (now - self._start) / self._step > self._most:
            self._answers = _joined(self._answers)
            self._flight = _joined(self._flight)
            self._step *= 2


def _joined(values: list[float]) -> list[float]:
    return [sum(values[i : i + 2]) for i in range(0, len(values), 2)]


def _short(value: float) -> float:
    return float(f"{value:.3g}")


class _Mark(NamedTuple):
    time: float
    value: float


class Pace:
    """How fast a count grows lately: over some seconds, or longer where little came."""

    def __init__(self, start: float, *, seconds: float, least: float) -> None:
        """Look back ``seconds``, and further until ``least`` was counted."""
        self._seconds = seconds
        self._least = least
        self._marks: deque[_Mark] = deque([_Mark(start, 0)])

    def restart(self, now: float, count: float) -> None:
        """Forget the past: a pause is no slowness."""
        self._marks = deque([_Mark(now, count)])

    def add(self, now: float, count: float) -> None:
        """Note the count; nothing is kept of a moment in which it did not change."""
        marks = self._marks
        if count == marks[-1].value:
            return
        marks.append(_Mark(now, count))
        while len(marks) > 2 and (  # noqa: PLR2004 - two marks make a pace
            now - marks[1].time > self._seconds
            and count - marks[1].value >= self._least
        ):
            marks.popleft()

    @property
    def counted(self) -> float:
        """What came in the time looked at."""
        return self._marks[-1].value - self._marks[0].value

    def rate(self, now: float) -> float:
        """Return the counts a second until now; falls while nothing comes."""
        span = now - self._marks[0].time
        return self.counted / span if span > 0 else 0.0

    def left(self, now: float, rest: float) -> float | None:
        """Return the seconds that ``rest`` will probably take; ``None`` if unknown.

        Answers come in bursts: between two of them the time runs down at the pace of
        the last, until it is plain that this pace is over.
        """
        first, last = self._marks[0], self._marks[-1]
        if self.counted <= 0 or last.time <= first.time:
            return None
        seconds = rest / (self.counted / (last.time - first.time))
        age = now - last.time
        if age < seconds / 2:
            return seconds - age
        return rest / self.rate(now)

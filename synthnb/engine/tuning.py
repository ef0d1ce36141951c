"""The figures of ``AdaptiveLimit``, found on simulated servers (``bench/load.py``)."""

from __future__ import annotations

START = 32
"""Requests at once at first, where nothing is known: what any hosted service takes, and
0.6 % of 5,000 requests are refused where it is too much."""
GROWTH = 1.2
"""Answers a second must grow by this while the limit doubles; less is a queue."""
LEAST_ANSWERS = 32
"""So many answers a comparison of speeds in the ramp needs."""
FLAT = 0.75
"""Share of the limit that is kept where the doubling brought nothing. Less than a fifth
was gained from the half of it on, so more than 0.6 loses nothing at a server with a
queue."""
CLEAR = 1.35
"""What so fast grows need not be measured to the end."""
TRIAL_ANSWERS = 192
"""So many answers a comparison of speeds needs whose loser may be only a tenth slower."""
UP = 1.5
GAIN = 1.12
"""What the speed must grow by in a trial of ``UP`` to be worth the longer queue."""
DOWN = 0.75
SHORT = 8
"""A queue at a limit of so many is short enough."""
KEPT = 0.96
"""What is left of the speed in a trial of ``DOWN`` where that only shortens the queue."""
SLOWER = 1.5
"""A server that has become slower by this is asked whether less load costs it nothing."""
ROUNDS = 4
MOST_ROUNDS = 8
"""Rounds (as many answers as the limit) that are waited before a trial."""
PRICE = 0.01
"""Refusals that trials may cause, as a share of the answers; and the share from which on
refusals at a limit that was accepted are looked into."""
ALONE = 3
"""More refusals than this, and nothing in flight: the server refuses everything."""
USED = 0.7
"""Share of the limit below which it is not the limit that holds the requests back."""
FULL_CACHE = 0.9
NEARLY_FULL_CACHE = 0.85
FEW = 4
"""A queue that others fill as well does not push this run below so many."""
TOLERATED = 1 / 16
"""Share of requests that may wait for the next step of a batch: no queue yet."""

"""Near-duplicates among many questions: ours, and the usual way with datasketch."""

from __future__ import annotations

import random
from argparse import Namespace

from clocks import Clock, rss

_THRESHOLD = 0.85
_PERMUTATIONS = 128
_EVERY = 20
"""Every so many rows one is a near-duplicate of the row before it."""


def _questions(n: int) -> list[str]:
    """Return questions of words that are drawn, so only the planted ones are alike."""
    draw = random.Random(7)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(draw.choices(letters, k=draw.randint(3, 9))) for _ in range(5000)]
    texts: list[str] = []
    for i in range(n):
        if i % _EVERY == _EVERY - 1:
            # The last word becomes another form of itself; case and mark differ too.
            texts.append(texts[-1].rstrip("?").upper() + "s!")
        else:
            texts.append("What is " + " ".join(draw.choices(words, k=14)) + "?")
    return texts


def _planted(n: int) -> list[int]:
    return list(range(_EVERY - 1, n, _EVERY))


async def deduplicate(options: Namespace) -> dict:
    """``sn.deduplicate`` on a frame."""
    import pandas as pd

    import synthnb as sn

    frame = pd.DataFrame({"question": _questions(options.n)})
    frame["record_id"] = [str(i) for i in range(options.n)]
    sn.deduplicate(frame.head(100), threshold=_THRESHOLD)  # imports
    before = rss()
    with Clock() as clock:
        marked = sn.deduplicate(frame, threshold=_THRESHOLD)
    leaders = marked["duplicate_of"].tolist()
    return _figures(clock, options.n, leaders) | {"rss_growth_mb": rss() - before}


async def datasketch(options: Namespace) -> dict:
    """``MinHash`` and ``MinHashLSH`` as datasketch's documentation shows them.

    The same normal form and shingles as ours; candidates are confirmed alike.
    """
    from datasketch import MinHash, MinHashLSH

    from synthnb.curation.duplicates import jaccard, shingles
    from synthnb.curation.words import normalise

    texts = _questions(options.n)
    leaders: list[str | None] = []
    with Clock() as clock:
        index = MinHashLSH(threshold=_THRESHOLD, num_perm=_PERMUTATIONS)
        sets = [shingles(normalise(text)) for text in texts]
        for i, one in enumerate(sets):
            sketch = MinHash(num_perm=_PERMUTATIONS)
            sketch.update_batch([part.encode() for part in one])
            found = sorted(map(int, index.query(sketch)))
            alike = (k for k in found if jaccard(one, sets[k]) >= _THRESHOLD)
            leader = next(alike, None)
            leaders.append(None if leader is None else str(leader))
            if leader is None:
                index.insert(str(i), sketch)
    return _figures(clock, options.n, leaders)


def _figures(clock: Clock, n: int, leaders: list) -> dict:
    planted = _planted(n)
    found = sum(leaders[i] == str(i - 1) for i in planted)
    marked = sum(isinstance(leader, str) for leader in leaders)
    return clock.figures(n) | {
        "planted": len(planted),
        "found": found,
        # Rows that are right: ours must find every planted one, and mark no other.
        "good": n - (len(planted) - found) - (marked - found),
    }

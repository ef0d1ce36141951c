"""A hand at the reviewer's desk, for the tests of it. Loaded by its path."""

from __future__ import annotations

import json

SETUP = """
import os
import pandas as pd
from synthnb.widgets.review import review

TEXT = ("The Danube is the second-longest river in Europe. It rises in Germany's Black "
        "Forest and flows about 2,850 kilometres southeast before it empties into the "
        "Black Sea. ") * 9
MARK = "flows about 2,850 kilometres southeast"

def frame(n):
    return pd.DataFrame([{
        "record_id": f"r{i}", "question": f"Question {i} about the river?",
        "answer": f"Answer {i}, as the text says it.", "rating": float(i % 10 + 1),
        "rating_reason": f"reason {i}", "status": "truncated" if i % 8 == 7 else "ok",
        "detail": "cut at 256 tokens" if i % 8 == 7 else None,
        "duplicate_of": f"r{i - 5}" if i % 6 == 5 else None,
        "source": ("a.pdf", "b.md")[i % 2], "page": i, "text": TEXT, "evidence": MARK,
        "model": "puppet",
    } for i in range(n)])

def log():
    return desk.decisions[["record_id", "action"]].values.tolist()
"""
OPEN = "desk = review(frame(40), folder='log', by='anna')\ndesk"


class Desk:
    """One desk on the page."""

    def __init__(self, nb, cell: int = 1):
        self.nb, self.page = nb, nb.page
        self.root = nb.cell(cell).locator(".snb-review")
        self.root.wait_for()
        self.root.locator(".snb-card-text").first.wait_for()

    def part(self, selector: str):
        return self.root.locator(selector)

    def focus(self):
        self.part(".snb-list").focus()

    def here(self) -> str:
        return self.root.get_attribute("data-record")

    def at(self, record: str):
        """Wait until this record's card is there."""
        self.page.wait_for_function(
            "([e, r]) => e.dataset.record === r",
            arg=[self.root.element_handle(), record],
        )

    def painted(self):
        """Wait until the browser has drawn, twice."""
        self.page.evaluate(
            "() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(r, 0))))"
        )

    def press(self, *keys: str):
        for key in keys:
            self.page.keyboard.press(key)

    def decide(self, key: str):
        """Press a key about the card, and wait for the next card."""
        before = self.here()
        self.painted()
        self.press(key)
        self.page.wait_for_function(
            "([e, r]) => e.dataset.record !== r",
            arg=[self.root.element_handle(), before],
        )

    def says(self, selector: str, text: str):
        """Wait until a part holds a text."""
        self.page.wait_for_function(
            "([e, s, t]) => e.querySelector(s)?.textContent.includes(t)",
            arg=[self.root.element_handle(), selector, text],
        )

    def counts(self, accepted: int, rejected: int):
        self.says(".snb-counts", f"{accepted} accepted")
        self.says(".snb-counts", f"{rejected} rejected")

    def row(self, index: int):
        return self.part(f".snb-list-row[aria-posinset='{index + 1}']")

    def focused(self) -> bool:
        """Whether the keyboard is the desk's."""
        return self.root.evaluate("e => e.contains(document.activeElement)")

    def logged(self) -> list[list[str]]:
        """Return record and action of each step of the log."""
        return json.loads(self.nb.python("import json; print(json.dumps(log()))"))

"""Takes keys out of texts, whoever wrote them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus


class Redactor:
    """Takes keys out of any text that goes into an error.

    It replaces a key whole, URL-encoded or JSON-escaped, every six characters in a row
    of it, what follows ``Bearer``, tokens masked with asterisks (a masked key still shows
    its ends), and user names and passwords in URLs.
    """

    __slots__ = ("_ends", "_grams", "_short")

    MARK = "[key]"
    _SIZE = 6
    _DUMMIES = frozenset({"empty", "none", "null", "ollama", "lm-studio", "not-needed"})
    # Each pattern is tied to the start of a token, so a long text costs no more than
    # its length (a server chooses the text).
    _TOKENS = re.compile(
        r"(?i)(?<=bearer )[^\s\"',;}]+"
        r"|(?<![^\s\"'`,;:=(){}])[^\s\"'`,;:=(){}]*(?:\*{3}|•{3})[^\s\"'`,;(){}]*"
        r"|(?<=://)[^\s/@\"']+(?=@)"
    )
    _SHORTENED = re.compile(
        r"(?<![A-Za-z0-9_-])([A-Za-z0-9_-]*)(?:\.\.+|…)([A-Za-z0-9_-]*)"
    )

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """Learn the secrets; placeholders such as ``EMPTY`` are none."""
        self._grams: set[str] = set()
        self._short: set[str] = set()
        self._ends: list[tuple[str, str]] = []
        for secret in secrets:
            if secret.lower() in self._DUMMIES or not secret:
                continue
            escaped = secret.replace("\\", "\\\\").replace('"', '\\"')
            for form in {secret, quote(secret, safe=""), quote_plus(secret), escaped}:
                self._learn(form.lower())
            self._ends.append((secret.lower(), secret.lower()[-self._SIZE :]))

    def __call__(self, text: str) -> str:
        """Return ``text`` without any part of a secret."""
        clean = self._TOKENS.sub(self.MARK, text)
        clean = self._without_grams(self._SHORTENED.sub(self._shortened, clean))
        for short in self._short:
            pattern = rf"(?i)(?<![A-Za-z0-9]){re.escape(short)}(?![A-Za-z0-9])"
            clean = re.sub(pattern, self.MARK, clean)
        return clean

    def __repr__(self) -> str:
        return "<Redactor>"

    def __reduce__(self) -> tuple[type[Redactor], tuple[()]]:
        return Redactor, ()

    def _learn(self, form: str) -> None:
        if len(form) < self._SIZE:
            self._short.add(form)
        size = self._SIZE
        self._grams.update(form[i : i + size] for i in range(len(form) - size + 1))

    def _shortened(self, match: re.Match[str]) -> str:
        head, tail = match[1].lower(), match[2].lower()
        for whole, end in self._ends:
            starts = len(head) > 1 and whole.startswith(head)
            if starts or (len(tail) > 1 and end.endswith(tail)):
                return self.MARK
        return match[0]

    def _without_grams(self, text: str) -> str:
        if not self._grams:
            return text
        folded = "".join(c.lower() if c.isascii() else c for c in text)
        hidden = bytearray(len(text))
        for i in range(len(text) - self._SIZE + 1):
            if folded[i : i + self._SIZE] in self._grams:
                hidden[i : i + self._SIZE] = b"\x01" * self._SIZE
        pieces: list[str] = []
        for i, character in enumerate(text):
            if not hidden[i]:
                pieces.append(character)
            elif i == 0 or not hidden[i - 1]:
                pieces.append(self.MARK)
        return "".join(pieces)

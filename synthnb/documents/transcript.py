"""Subtitles and transcripts (.srt, .vtt): what was said, without the clock."""

from __future__ import annotations

import html
import re

from synthnb.documents.plain import clean, decode
from synthnb.errors import DocumentError
from synthnb.records import Document

_TIMES = re.compile(
    r"^\s*(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3}\s*-->\s*(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3}"
)
_VOICE = re.compile(r"<v(?:\.[^ >]*)?\s+([^>]+)>")
_TAG = re.compile(r"</?[a-zA-Z0-9.:][^>]*>|\{\\[^}]*\}")
_END = (".", "!", "?", "…", "。", "！", "？", '"', "”", "»")
_BLOCKS = ("WEBVTT", "NOTE", "STYLE", "REGION")


def read_transcript(data: bytes, source: str) -> Document:
    """Read the speech of subtitles; lines are joined to sentences, speakers are named.

    Lines that repeat the one before, as rolling captions do, are said once.

    Raises:
        DocumentError: there is no cue with a time.
    """
    text, notes = decode(data)
    text, more = clean(text)
    cues = [cue for block in re.split(r"\n[ \t]*\n", text) if (cue := _cue(block))]
    if not cues:
        raise DocumentError(
            "no subtitles: there is no time such as 00:00:01,000 --> 00:00:02,000",
            hint="Give the file the suffix of its format, or leave it out.",
        )
    lines, repeated = _spoken(cues)
    left_out = [f"{len(cues)} time codes left out"]
    left_out += [f"{repeated} repeated lines left out"] if repeated else []
    return Document(
        source, _joined(lines), (), "text/vtt", (*notes, *more), tuple(left_out)
    )


def _cue(block: str) -> list[str]:
    lines = block.strip("\n").split("\n")
    if lines[0].split(" ")[0] in _BLOCKS and not any(map(_TIMES.match, lines)):
        return []
    for number, line in enumerate(lines):
        if _TIMES.match(line):
            return [said for said in map(_plain, lines[number + 1 :]) if said] or [""]
    return []


def _plain(line: str) -> str:
    line = _VOICE.sub(lambda voice: f"{voice[1].strip()}: ", line)
    return html.unescape(_TAG.sub("", line)).strip()


def _spoken(cues: list[list[str]]) -> tuple[list[str], int]:
    lines: list[str] = []
    repeated = 0
    for cue in cues:
        for line in cue:
            if not line:
                continue
            if lines and line == lines[-1]:
                repeated += 1
            else:
                lines.append(line)
    return lines, repeated


def _joined(lines: list[str]) -> str:
    """Join to paragraphs: one for each speaker, else one after some sentences."""
    paragraphs: list[list[str]] = [[]]
    for line in lines:
        begins = re.match(r"^[^\s:][^:]{0,30}: \S", line) is not None
        long = sum(map(len, paragraphs[-1])) > 600  # noqa: PLR2004 - a paragraph's length
        ended = bool(paragraphs[-1]) and paragraphs[-1][-1].endswith(_END)
        if paragraphs[-1] and (begins or (long and ended)):
            paragraphs.append([])
        paragraphs[-1].append(line)
    return "\n\n".join(" ".join(part) for part in paragraphs if part)

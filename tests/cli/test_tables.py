from __future__ import annotations

import json
import warnings

import pytest

from synthnb.cli.tables import load_table
from synthnb.errors import DocumentError

ROWS = [{"n": 0, "text": "Grüße"}, {"n": 1, "text": "a\nb"}, {"n": 2, "text": "日本"}]


def write(path, *lines):
    path.write_bytes(b"".join(lines))
    return path


def as_line(row):
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


def test_a_table_torn_at_any_byte_gives_its_whole_rows(tmp_path):
    whole = b"".join(map(as_line, ROWS))
    for size in range(1, len(whole)):
        path = write(tmp_path / "torn.jsonl", whole[:size])
        good = whole[:size].count(b"\n")
        # A line that only lacks its end is whole.
        good += whole[size : size + 1] == b"\n"
        torn = not whole[:size].endswith(b"\n") and whole[size : size + 1] != b"\n"
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            if not good:
                with pytest.raises(DocumentError, match="line 1 is no"):
                    load_table(path)
                continue
            frame = load_table(path)
        assert frame.to_dict("records") == ROWS[:good]
        messages = [str(w.message) for w in told]
        assert len(messages) == torn
        if torn:
            assert f"1 line left out, {good} kept: line {good + 1} is no" in messages[0]


def test_bad_lines_in_the_middle_are_named_and_the_others_kept(tmp_path):
    bad = [b"{", b"[1]", b'"text"', b"\xff{}", b"nope", b"{]", b"{,}"]
    path = write(
        tmp_path / "t.jsonl", b"\xef\xbb\xbf", as_line(ROWS[0]), b" \r\n",
        *(b + b"\n" for b in bad), as_line(ROWS[1]),
    )  # fmt: skip
    with pytest.warns(UserWarning, match="7 lines left out, 2 kept") as told:
        frame = load_table(path)
    assert frame.to_dict("records") == ROWS[:2]
    message = str(told[0].message)
    assert "line 3 is no JSON: " in message
    assert 'line 4 is no JSON object, such as {"topic": "…"}' in message
    assert "line 6 is not UTF-8" in message
    assert message.endswith("and 2 more")


def test_a_whole_table_is_told_nothing(tmp_path, recwarn):
    frame = load_table(write(tmp_path / "t.jsonl", *map(as_line, ROWS)))
    assert str(frame["n"].dtype) == "Int64"
    assert not recwarn.list

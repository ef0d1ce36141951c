"""A fetch that nobody asked for by name is seen, without flooding a cell."""

from __future__ import annotations

from synthnb.local import local_launcher, logged_progress


def test_each_step_and_each_quarter_is_logged_once(caplog):
    progress = logged_progress()
    progress("fetching Tiny, MIT, 100 MB", 0, 100_000_000)
    for done in range(0, 100_000_001, 1_000_000):
        progress("downloading", done, 100_000_000)
    progress("Tiny is ready", 0, 0)
    assert caplog.messages == [
        "fetching Tiny, MIT, 100 MB",
        "downloading",
        "downloading: 25 of 100 MB",
        "downloading: 50 of 100 MB",
        "downloading: 75 of 100 MB",
        "downloading",
        "Tiny is ready",
    ]
    assert {record.name for record in caplog.records} == {"synthnb.local"}


def test_progress_of_ones_own_is_used():
    def progress(*_):
        pass

    assert local_launcher(progress=progress).server.progress is progress

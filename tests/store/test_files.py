from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthnb.errors import ConfigError
from synthnb.store.connection import journal_mode
from synthnb.store.files import file_system, is_network, runs_home, slug

MOUNTS = """\
25 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
40 25 0:40 / /home rw - nfs4 server:/home rw
41 25 0:41 / /home/me/my\\040disk rw - ext4 /dev/sdb1 rw
broken line
"""


@pytest.fixture
def mounts(tmp_path):
    path = tmp_path / "mountinfo"
    path.write_text(MOUNTS)
    return path


@pytest.mark.parametrize(
    ("path", "kind", "network"),
    [
        ("/srv/x", "ext4", False),
        ("/home/me/runs", "nfs4", True),
        ("/home/me/my disk/runs", "ext4", False),
        ("/homeless", "ext4", False),
    ],
)
def test_the_longest_mount_point_wins(mounts, path, kind, network):
    found = file_system(Path(path), mounts)
    assert found == kind
    assert is_network(found) is network


def test_no_mountinfo_is_no_network(tmp_path):
    assert file_system(Path("/x"), tmp_path / "none") is None
    assert not is_network(None)


def test_a_network_home_gets_the_rollback_journal(monkeypatch, tmp_path):
    monkeypatch.setattr("synthnb.store.connection.file_system", lambda _: "nfs4")
    assert journal_mode(tmp_path / "run.sqlite") == "DELETE"


def test_home_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("SYNTHNB_HOME", str(tmp_path))
    assert runs_home() == tmp_path / "runs"
    monkeypatch.delenv("SYNTHNB_HOME")
    monkeypatch.chdir(tmp_path)
    assert runs_home() == tmp_path / "runs"


@pytest.mark.parametrize("name", ["handbook", "run-1.b", "Größe", "试验"])
def test_plain_names_stay(name):
    assert slug(name) == name


@pytest.mark.parametrize(
    "name", ["../../etc", "a/b", "a b", "x" * 300, "CON\x00", "/abs"]
)
def test_odd_names_become_one_safe_component(name):
    made = slug(name)
    assert Path(made).name == made
    assert made not in {".", ".."}
    assert len(made.encode()) <= 100


def test_changed_names_do_not_collide():
    assert len({slug("a b"), slug("a/b"), slug("a-b")}) == 3


@pytest.mark.parametrize("name", ["", "...", "///", "  "])
def test_no_name_is_an_error(name):
    with pytest.raises(ConfigError, match="no name for a run"):
        slug(name)


@given(st.text())
def test_any_text_is_safe_or_refused(name):
    try:
        made = slug(name)
    except ConfigError:
        return
    assert "/" not in made
    assert "\x00" not in made
    assert not made.startswith(".")

"""How many threads: cores allowed, quota, load."""

from __future__ import annotations

import os

import pytest

from synthnb.runtimes import threads


@pytest.fixture
def machine(monkeypatch):
    def be(cores, busy=0.0, quota=None):
        monkeypatch.setattr(threads, "allowed_cores", lambda: frozenset(range(cores)))
        monkeypatch.setattr(threads, "busy_cores", lambda _cores, _interval: busy)
        monkeypatch.setattr(threads, "cpu_quota", lambda: quota)

    return be


@pytest.mark.parametrize(
    ("cores", "busy", "quota", "expected"),
    [
        (2, 0.0, None, 2),
        (2, 0.2, None, 2),
        (2, 0.6, None, 1),
        (2, 2.0, None, 1),
        (4, 1.1, None, 3),
        (64, 0.5, None, 8),
        (8, 0.0, 2.0, 2),
        (8, 0.0, 0.5, 1),
        (8, 7.0, 4.0, 1),
    ],
)
def test_idle_threads(machine, cores, busy, quota, expected):
    machine(cores, busy, quota)
    assert threads.idle_threads() == expected


def test_on_this_machine_it_is_between_one_and_the_cores():
    assert 1 <= threads.idle_threads(0.01) <= (os.cpu_count() or 1)


def test_only_the_allowed_cores_count_as_busy(monkeypatch):
    import psutil

    loads = [100.0, 50.0, 0.0, 100.0]
    monkeypatch.setattr(psutil, "cpu_percent", lambda **_: loads)
    assert threads.busy_cores(frozenset({1, 2}), 0.1) == 0.5


def test_cores_without_affinity(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert threads.allowed_cores() == {0}


class Cgroup:
    def __init__(self, folder):
        self.root = folder / "cgroup"
        self.proc = folder / "proc_cgroup"
        self.root.mkdir()
        self.proc.write_text("9:name=systemd:/x\n0::/\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def quota(self):
        return threads.cpu_quota(self.root, self.proc)


@pytest.fixture
def cgroup(tmp_path):
    return Cgroup(tmp_path)


def test_no_quota(cgroup):
    assert cgroup.quota() is None
    cgroup.write("cpu.max", "max 100000\n")
    assert cgroup.quota() is None


def test_a_quota_of_one_and_a_half_cores(cgroup):
    cgroup.write("cpu.max", "150000 100000\n")
    assert cgroup.quota() == 1.5


def test_the_smallest_quota_of_the_groups_above_counts(cgroup):
    cgroup.proc.write_text("0::/a/b\n")
    cgroup.write("a/b/cpu.max", "max 100000")
    cgroup.write("a/cpu.max", "200000 100000")
    cgroup.write("cpu.max", "400000 100000")
    assert cgroup.quota() == 2.0


def test_a_quota_of_cgroup_v1(cgroup):
    cgroup.write("cpu/cpu.cfs_quota_us", "50000\n")
    cgroup.write("cpu/cpu.cfs_period_us", "100000\n")
    assert cgroup.quota() == 0.5
    cgroup.write("cpu/cpu.cfs_quota_us", "-1\n")
    assert cgroup.quota() is None


@pytest.mark.parametrize("text", ["", "nonsense", "1 0", "a b"])
def test_a_quota_file_that_cannot_be_read_is_no_quota(cgroup, text):
    cgroup.write("cpu.max", text)
    assert cgroup.quota() is None


def test_a_group_above_our_view_of_the_tree(cgroup):
    cgroup.proc.write_text("0::/../outside\n")
    cgroup.write("cpu.max", "100000 100000")
    assert cgroup.quota() == 1.0
    cgroup.proc.unlink()
    assert cgroup.quota() == 1.0

"""Where a run's folder lies, and what kind of file system holds it."""

from __future__ import annotations

import os
import re
import unicodedata
from hashlib import blake2b
from pathlib import Path

from synthnb.errors import ConfigError, StoreError

_MOUNTINFO = Path("/proc/self/mountinfo")
_NETWORK = frozenset(
    [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "fuse.sshfs",
        "lustre",
        "gpfs",
        "ceph",
        "fuse.ceph",
        "9p",
        "beegfs",
        "afs",
        "fuse.glusterfs",
        "fuse.s3fs",
        "fuse.gcsfuse",
        "fuse.rclone",
        "fuse.goofys",
        "fuse.juicefs",
        "fuse.blobfuse2",
        "fuse.vmhgfs-fuse",
        "vboxsf",
        "ocfs2",
        "gfs2",
    ]
)
_NAME_BYTES = 80


def runs_home() -> Path:
    """Return the folder of all runs: ``$SYNTHNB_HOME/runs``, else ``./runs``."""
    home = os.environ.get("SYNTHNB_HOME")
    return (Path(home).expanduser() if home else Path.cwd()) / "runs"


def slug(name: str) -> str:
    """Return ``name`` as one safe folder name.

    Letters and digits of every script stay; a name that had to be changed gets a short
    hash, so that two names never share a folder.

    Raises:
        ConfigError: nothing usable is left of the name.
    """
    text = unicodedata.normalize("NFC", name).strip()
    safe = re.sub(r"[^\w.-]+", "-", text).strip("-.")
    while len(safe.encode()) > _NAME_BYTES:
        safe = safe[:-1]
    if not safe:
        msg = f"{name!r} is no name for a run"
        raise ConfigError(msg, hint="Use letters and digits, e.g. name='handbook'.")
    if safe == text:
        return safe
    mark = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=3).hexdigest()
    return f"{safe}-{mark}"


def prepare_folder(folder: Path) -> None:
    """Make a run's folder, private to its user, and prove that it can be written.

    Raises:
        StoreError: it cannot be made or written; nothing was paid for yet.
    """
    probe = folder / f".probe-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        msg = f"the run's folder {folder} cannot be written: {error.strerror or error}"
        hint = "Set SYNTHNB_HOME to a folder that you may write, or pass folder=…"
        raise StoreError(msg, hint=hint) from error


def file_system(path: Path, mountinfo: Path | None = None) -> str | None:
    """Return the type of the file system that holds ``path``; ``None`` if unknown.

    Reads Linux's mountinfo (see ``man 5 proc``); the longest mount point wins, the last
    one where two are mounted over each other.
    """
    try:
        text = (mountinfo or _MOUNTINFO).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    real = path.resolve()
    best, kind = -1, None
    for line in text.splitlines():
        left, _, right = line.partition(" - ")
        fields = left.split(" ")
        if len(fields) < 5 or not right:  # noqa: PLR2004 - the mount point is the fifth
            continue
        mount = Path(re.sub(r"\\(\d{3})", lambda m: chr(int(m[1], 8)), fields[4]))
        if real.is_relative_to(mount) and len(mount.parts) >= best:
            best, kind = len(mount.parts), right.split(" ", 1)[0]
    return kind


def is_network(kind: str | None) -> bool:
    """Whether SQLite's WAL cannot be used there: it needs memory shared by all users."""
    return kind in _NETWORK

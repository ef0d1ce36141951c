"""Who decides."""

from __future__ import annotations

import getpass
import os


def current_user() -> str:
    """Return ``SYNTHNB_USER``, else JupyterHub's user, else the system's."""
    for name in ("SYNTHNB_USER", "JUPYTERHUB_USER"):
        if user := os.environ.get(name, "").strip():
            return user
    try:
        return getpass.getuser() or "unknown"
    except (
        KeyError,
        OSError,
        ImportError,
    ):  # a container without a user of that number
        return "unknown"

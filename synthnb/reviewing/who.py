"""Who decides."""

from __future__ import annotations

import getpass
import os
from typing import Any

from synthnb.errors import ConfigError
from synthnb.store.decision_rows import storable


def decider(by: Any = None) -> str:
    """Return who decides, as the log writes it; ``None`` or nothing is the current user.

    Raises:
        ConfigError: it is no text.
    """
    if by is not None and not isinstance(by, str):
        raise ConfigError(f"by is {by!r}", hint="Give a name: by='ada'")
    return storable(by or current_user())


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

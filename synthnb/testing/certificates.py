"""A certificate for a test, made by the ``openssl`` program. Nobody signed it."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path
from typing import Final, Literal, TypeAlias

TlsKind: TypeAlias = Literal["self-signed", "wrong-host"]

_NAMES: Final[dict[str, str]] = {
    "self-signed": "IP:127.0.0.1,DNS:localhost",
    "wrong-host": "DNS:elsewhere.invalid",
}


def has_openssl() -> bool:
    """Whether certificates can be made here."""
    return shutil.which("openssl") is not None


def make_certificate(folder: Path, kind: TlsKind = "self-signed") -> tuple[Path, Path]:
    """Make a certificate and its key, good for two days.

    Args:
        folder: where ``cert.pem`` and ``key.pem`` are written.
        kind: ``"self-signed"`` is for 127.0.0.1 and localhost, ``"wrong-host"`` for a
            name that no client asks for.

    Returns:
        The paths of the certificate and of its key.

    Raises:
        RuntimeError: there is no ``openssl`` program, or it failed.
        ValueError: the kind is not known.
    """
    if kind not in _NAMES:
        raise ValueError(
            f"{kind!r} is no kind of certificate; there are {list(_NAMES)}"
        )
    program = shutil.which("openssl")
    if program is None:
        raise RuntimeError("a certificate needs the `openssl` program; none is on PATH")
    cert, key = folder / "cert.pem", folder / "key.pem"
    command = [
        program, "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=fault server",
        "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
        "-addext", f"subjectAltName={_NAMES[kind]}",
        "-keyout", str(key), "-out", str(cert),
    ]  # fmt: skip
    made = subprocess.run(command, capture_output=True, check=False)  # noqa: S603
    if made.returncode:
        raise RuntimeError(f"openssl failed: {made.stderr.decode(errors='replace')}")
    return cert, key


def server_context(cert: Path, key: Path) -> ssl.SSLContext:
    """Return the TLS settings of a server with this certificate."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(cert, key)
    return context

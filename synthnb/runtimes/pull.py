"""Bring another model into the cache: from a URL, or from a file of this machine."""

from __future__ import annotations

import contextlib
import http.client
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final

from synthnb.errors import ConfigError, ModelServerError
from synthnb.runtimes.files import Arrival, arrivals, keep
from synthnb.runtimes.models import (
    DEFAULT_MODEL,
    KNOWN_MODELS,
    ModelFile,
    Progress,
    models_dir,
    silent,
)
from synthnb.runtimes.weights import check_gguf, ensure, locate

_PIECE: Final = 1 << 20
_SHA256_DIGITS: Final = 64
_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


def pull(
    source: str | Path = DEFAULT_MODEL,
    *,
    sha256: str | None = None,
    progress: Progress = silent,
) -> ModelFile:
    """Bring a model into the cache; afterwards its name is enough to use it. Blocks.

    Args:
        source: the name of a known model, an https URL of a GGUF file, or a path.
        sha256: of the file, in hex. Required for a URL: a model file is code's neighbour
            (a parser in C++ reads it), so it is taken only if it is the one you mean.
        progress: told what goes on, with bytes.

    Raises:
        ConfigError: a bad URL, a missing hash, a file that is no GGUF.
        ModelServerError: the download failed or its hash is another one.
    """
    if sha256 is not None and not _is_sha256(sha256):
        raise ConfigError(f"{sha256!r} is no sha256", hint="give its 64 hex digits")
    if "://" in str(source):
        return _pull_url(str(source), sha256, progress)
    if str(source) in KNOWN_MODELS:
        return ensure(str(source), progress)
    return _pull_file(source, sha256, progress)


def _is_sha256(text: str) -> bool:
    return len(text) == _SHA256_DIGITS and set(text.lower()) <= set("0123456789abcdef")


def _pull_url(url: str, sha256: str | None, progress: Progress) -> ModelFile:
    _check_url(url)
    if sha256 is None:
        raise ConfigError(
            "a model from a URL needs its sha256",
            hint="the page you have the URL from shows it: pull(url, sha256='...')",
        )
    name = _file_name(url)
    with _open(url) as response:
        total = int(response.headers.get("Content-Length") or 0)
        return _store(response, total, name, sha256, progress)


def _pull_file(source: str | Path, sha256: str | None, progress: Progress) -> ModelFile:
    found = locate(Path(source))
    assert found.path is not None
    with found.path.open("rb") as file:
        return _store(file, found.size, f"{found.name}.gguf", sha256, progress)


def _store(
    stream: IO[bytes], total: int, name: str, sha256: str | None, progress: Progress
) -> ModelFile:
    target = models_dir() / name
    with arrivals() as folder:
        arrival = Arrival(folder / name)
        with arrival:
            while piece := _read(stream, name):
                arrival.write(piece)
                progress(f"pulling {name}", arrival.size, total)
        check_gguf(arrival.path)
        keep(arrival, target, sha256 or arrival.sha256)
    return locate(target)


def _read(stream: IO[bytes], name: str) -> bytes:
    try:
        return stream.read(_PIECE)
    except (http.client.HTTPException, OSError) as error:
        raise _failed(name, error) from error


def _file_name(url: str) -> str:
    path = urllib.parse.unquote(urllib.parse.urlsplit(url).path)
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    if not name.endswith(".gguf") or name == ".gguf":
        raise ConfigError(
            f"{url} does not end in the name of a .gguf file",
            hint="link to the file itself, not to its page",
        )
    return name


def _check_url(url: str) -> None:
    parts = urllib.parse.urlsplit(url)
    if parts.scheme == "https" or (
        parts.scheme == "http" and parts.hostname in _LOOPBACK
    ):
        return
    raise ConfigError(
        f"models are pulled over https, not over {parts.scheme}://{parts.hostname}",
        hint="use the https URL; or download it yourself and name the file",
    )


class _CheckedRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect that leaves https."""

    def redirect_request(  # noqa: PLR0917 - urllib's own signature
        self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        _check_url(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@contextlib.contextmanager
def _open(url: str) -> Iterator[Any]:
    opener = urllib.request.build_opener(_CheckedRedirects())
    try:
        response = opener.open(url, timeout=60)
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()  # it is the answer too, and holds the connection
        raise _failed(url, error) from error
    with response:
        yield response


def _failed(what: str, error: Exception) -> ModelServerError:
    return ModelServerError(
        f"could not pull {what}: {error}",
        hint="check the URL and the network; or download it yourself and name the file",
    )

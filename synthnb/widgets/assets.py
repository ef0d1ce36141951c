"""The JavaScript and CSS of a view, as the one text that a front end loads.

A front end is handed one module as text and has no address to fetch a second one from,
so the modules that a view imports are joined in front of it. That is all: the files are
plain ES modules, which node runs and ``tsc`` checks as they stand.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z_]+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function|class|const)", re.MULTILINE)


@cache
def esm(name: str) -> str:
    """Return ``static/<name>.js`` behind all that it imports, each module once.

    Raises:
        ValueError: modules import each other in a circle.
    """
    order: list[str] = []
    _visit(name, order, ())
    parts = [_joined(part) for part in order[:-1]]
    return "\n".join([*parts, _IMPORT.sub("", _read(f"{name}.js"))])


@cache
def css(name: str) -> str:
    """Return the CSS that all views share, then the view's own."""
    return f"{_read('base.css')}\n{_read(f'{name}.css')}"


def _visit(name: str, order: list[str], path: tuple[str, ...]) -> None:
    if name in path:
        msg = f"static modules import each other: {' → '.join((*path, name))}"
        raise ValueError(msg)
    if name in order:
        return
    for needed in _IMPORT.findall(_read(f"{name}.js")):
        _visit(needed, order, (*path, name))
    order.append(name)


def _joined(name: str) -> str:
    return _EXPORT.sub("", _IMPORT.sub("", _read(f"{name}.js")))


def _read(name: str) -> str:
    return files("synthnb.widgets").joinpath("static", name).read_text("utf-8")

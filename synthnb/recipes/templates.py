"""Prompt templates: jinja2 in its sandbox, checked when they are made.

``{{ field }}`` and ``{% … %}`` are special; any other brace is text. The values of a row
are data: they are put in as they are and never read as a template. A template cannot
reach Python: it sees plain values only, attributes that begin with an underscore are
refused, loops and results are bounded.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from synthnb.errors import TemplateError
from synthnb.records import Row

if TYPE_CHECKING:
    from jinja2 import Environment, Template, nodes

MAX_TEMPLATE_CHARS = 200_000
MAX_PROMPT_CHARS = 4_000_000
"""A longer prompt is refused while it is being rendered."""
_MAX_DEPTH = 20
_PLAIN = (str, int, float, bool, type(None))


class PromptTemplate:
    """One template, compiled once.

    Args:
        text: the template.
        fields: if given, the only fields that it may use.

    Raises:
        TemplateError: bad syntax (with the line), a forbidden construct, or a field that
            is not in ``fields``.
    """

    __slots__ = ("_compiled", "_parts", "fields", "text")

    def __init__(self, text: str, fields: Iterable[str] | None = None) -> None:
        if len(text) > MAX_TEMPLATE_CHARS:
            raise TemplateError(
                f"the template has {len(text):,} characters, over {MAX_TEMPLATE_CHARS:,}",
                hint="put long text in a column and name the column: {{ text }}",
            )
        self.text = text
        self._compiled, self.fields, self._parts = _compile(text)
        if fields is not None:
            self.check(fields)

    def check(self, columns: Iterable[str]) -> None:
        """Raise ``TemplateError`` if a field of the template is not among ``columns``."""
        known = list(columns)
        for name in self.fields:
            if name in known:
                continue
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {{{{ {close[0]} }}}}? " if close else ""
            raise TemplateError(
                f"the template uses the unknown field {name!r}",
                hint=f"{hint}there is: {', '.join(known) or 'no column at all'}",
            )

    def render(self, row: Row) -> str:
        """Return the prompt for a row.

        Raises:
            TemplateError: a field is missing, something forbidden was tried, or the
                result is too large.
        """
        if self._parts is not None and (text := _filled(self._parts, row)) is not None:
            return text
        from synthnb.recipes.sandbox import TICK, budget

        values = {name: _plain(row[name]) for name in self.fields if name in row}
        values[TICK] = budget()
        try:
            return "".join(_bounded(self._compiled.generate(values)))
        except TemplateError:
            raise
        except Exception as error:
            raise TemplateError(
                f"the template fails on this row: {_reason(error)}",
                hint="look at the row's values, or test with {% if field %}",
            ) from error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PromptTemplate) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"PromptTemplate({self.text!r})"

    def __reduce__(self) -> tuple[type[PromptTemplate], tuple[str]]:
        return PromptTemplate, (self.text,)


class _Field(str):
    """Name of a field whose value is put in as it is."""

    __slots__ = ()


def _filled(parts: tuple[str, ...], row: Row) -> str | None:
    """Return a template of text and plain fields, filled in as jinja2 would.

    Most templates are of this kind, and there is nothing in them to be guarded against.
    ``None`` where it takes jinja2 to say what is wrong, or how a value reads.
    """
    out: list[str] = []
    for part in parts:
        if type(part) is str:
            out.append(part)
            continue
        value = row.get(part)
        if type(value) is str:
            out.append(value)
        elif type(value) is int:
            out.append(str(value))
        else:
            return None
    text = "".join(out)
    return text if len(text) <= MAX_PROMPT_CHARS else None


def _bounded(pieces: Iterator[str]) -> Iterator[str]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > MAX_PROMPT_CHARS:
            raise TemplateError(
                f"the rendered prompt is over {MAX_PROMPT_CHARS:,} characters",
                hint="shorten the column's text (chunk it) or the template's loops",
            )
        yield piece


def _plain(value: Any, depth: int = 0) -> Any:
    """Return ``value`` as str, int, float, bool, None, list or dict."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if depth >= _MAX_DEPTH:
        raise TemplateError(f"a value is nested over {_MAX_DEPTH} levels deep")
    if isinstance(value, Mapping):
        return {str(key): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, depth + 1) for item in value]
    return str(value)


def _reason(error: Exception) -> str:
    return getattr(error, "message", None) or str(error) or type(error).__name__


@lru_cache(maxsize=256)
def _compile(text: str) -> tuple[Template, tuple[str, ...], tuple[str, ...] | None]:
    from jinja2 import TemplateSyntaxError, meta

    from synthnb.recipes.sandbox import secure

    environment = _environment()
    try:
        tree = environment.parse(text)
        fields = tuple(sorted(meta.find_undeclared_variables(tree)))
        parts = _plain_parts(tree)
        secure(tree)
        return environment.from_string(tree), fields, parts
    except TemplateSyntaxError as error:
        raise TemplateError(
            f"line {error.lineno} of the template: {error.message}",
            hint="a field is written {{ name }}; other braces need no care",
        ) from error


def _plain_parts(tree: nodes.Template) -> tuple[str, ...] | None:
    """Return the texts and fields of a template that has nothing else; ``None`` else."""
    from jinja2 import nodes

    parts: list[str] = []
    for output in tree.body:
        if not isinstance(output, nodes.Output):
            return None
        for node in output.nodes:
            if isinstance(node, nodes.TemplateData):
                parts.append(node.data)
            elif isinstance(node, nodes.Name) and node.ctx == "load":
                parts.append(_Field(node.name))
            else:
                return None
    return tuple(parts)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from synthnb.recipes.sandbox import PromptEnvironment

    return PromptEnvironment()

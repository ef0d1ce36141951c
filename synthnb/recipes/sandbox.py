"""The jinja2 environment of prompt templates: no Python, no unbounded work.

jinja2's own sandbox closes the ways to Python's internals. What it leaves open is work
without end (nested loops, ``"x" * 10**9``, doubling a string forty times); that is
closed here, by a budget of loop rounds and by looking at sizes before they arise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jinja2 import StrictUndefined, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from synthnb.errors import TemplateError


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TICK = "_tick"
"""Name of the callable that is called in every round of every loop."""
_METHODS: dict[type, frozenset[str]] = {
    str: _words(
        "capitalize count endswith find isdigit isupper islower lower lstrip rstrip "
        "split splitlines startswith strip title upper"
    ),
    dict: frozenset({"get", "items", "keys", "values"}),
    list: frozenset({"count", "index"}),
}
_FILTERS = _words(
    "abs capitalize count d default dictsort first float int items join last length "
    "list lower map max min reject rejectattr replace reverse round select "
    "selectattr sort string sum title tojson trim truncate unique upper wordcount"
)
_FORBIDDEN: tuple[tuple[type[nodes.Node], str], ...] = (
    (nodes.Include, "{% include %}"),
    (nodes.Import, "{% import %}"),
    (nodes.FromImport, "{% from … import %}"),
    (nodes.Extends, "{% extends %}"),
    (nodes.Block, "{% block %}"),
    (nodes.Macro, "{% macro %}"),
    (nodes.CallBlock, "{% call %}"),
    (nodes.AssignBlock, "{% set … %}…{% endset %}"),
    (nodes.FilterBlock, "{% filter %}"),
    (nodes.Concat, "the operator ~"),
)
_MAX_INT_BITS = 4096
_MAX_CHARS = 4_000_000
_MAX_ROUNDS = 200_000


def _shown(value: Any) -> Any:
    """Return a missing value as nothing: no prompt shall ask about "None"."""
    return "" if value is None else value


class PromptEnvironment(ImmutableSandboxedEnvironment):
    """jinja2's sandbox with plain data only, and with every size bounded."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self) -> None:
        super().__init__(
            undefined=StrictUndefined,
            autoescape=False,
            keep_trailing_newline=True,
            finalize=_shown,
        )
        self.filters = {k: v for k, v in self.filters.items() if k in _FILTERS}
        self.filters.update(join=_join, replace=_replace)
        self.globals = {"range": self.globals["range"]}

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return a key of a dict before an attribute of the same name."""
        if type(obj) is dict and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Allow a short list of methods on strings, dicts and lists."""
        allowed = _METHODS.get(type(obj))
        if allowed is not None:
            return attr in allowed
        return super().is_safe_attribute(obj, attr, value)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Refuse an arithmetic whose result would be huge."""
        if operator == "**" or (operator == "%" and isinstance(left, str)):
            raise TemplateError(f"the operator {operator} is not allowed in a prompt")
        if _result_size(operator, left, right) > _MAX_CHARS:
            raise TemplateError(f"the operator {operator} would give a huge value here")
        return super().call_binop(context, operator, left, right)


def budget() -> Callable[[], str]:
    """Return the counter of loop rounds for one rendering."""
    left = _MAX_ROUNDS

    def tick() -> str:
        nonlocal left
        left -= 1
        if left < 0:
            raise TemplateError(
                f"the template's loops run over {_MAX_ROUNDS:,} rounds",
                hint="a loop inside a loop over long values multiplies: loop less",
            )
        return ""

    return tick


def secure(tree: nodes.Template) -> None:
    """Refuse what no prompt needs, and put the counter into every loop of ``tree``.

    Raises:
        TemplateError: a forbidden construct, with its line.
    """
    for kind, label in _FORBIDDEN:
        for found in tree.find_all(kind):
            _refuse(found.lineno, label)
    for name in tree.find_all(nodes.Name):
        if name.name in {"self", "super", "caller", TICK}:
            _refuse(name.lineno, f"the name {name.name}")
    for loop in tree.find_all(nodes.For):
        if loop.recursive:
            _refuse(loop.lineno, "a recursive loop")
        call = nodes.Call(nodes.Name(TICK, "load"), [], [], None, None)
        tick = nodes.Output([call]).set_lineno(loop.lineno, override=True)
        loop.body.insert(0, tick)
        _count_filtered_rounds(loop)


def _count_filtered_rounds(loop: nodes.For) -> None:
    """Count the rounds that a loop's own ``if`` skips, too."""
    if loop.test is not None:
        call = nodes.Call(nodes.Name(TICK, "load"), [], [], None, None)
        empty = nodes.Compare(call, [nodes.Operand("eq", nodes.Const(""))])
        loop.test = nodes.And(empty, loop.test).set_lineno(loop.lineno, override=True)


def _refuse(line: int, label: str) -> None:
    raise TemplateError(
        f"line {line} of the template: {label} is not allowed in a prompt",
        hint="a prompt has fields, conditions and loops only",
    )


def _result_size(operator: str, left: Any, right: Any) -> int:
    """Return the size of a result in characters or items; numbers count as their bits."""
    if isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length() + right.bit_length()
        return _MAX_CHARS + 1 if bits > _MAX_INT_BITS else 0
    sized = [len(value) for value in (left, right) if isinstance(value, str | list)]
    if operator == "*" and sized:
        times = [value for value in (left, right) if isinstance(value, int)]
        return sized[0] * max(0, *times, 0)
    return sum(sized)


def _join(value: Any, d: str = "", attribute: Any = None) -> str:
    items = [str(item) for item in value] if attribute is None else None
    if items is None:
        raise TemplateError("join by attribute is not allowed; use map first")
    separator = str(d)
    _check_size(sum(map(len, items)) + len(separator) * len(items))
    return separator.join(items)


def _replace(s: Any, old: str, new: str, count: int | None = None) -> str:
    text, old, new = str(s), str(old), str(new)
    _check_size(len(text) + (text.count(old) if old else len(text) + 1) * len(new))
    return text.replace(old, new, -1 if count is None else count)


def _check_size(size: int) -> None:
    if size > _MAX_CHARS:
        raise TemplateError("a filter would give a huge value here")

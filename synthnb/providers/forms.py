"""One way to write a request down, and which one follows after a refusal."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import IntEnum

from synthnb.providers.error_bodies import Failure
from synthnb.providers.plain_schema import names_keyword, plain_schema
from synthnb.records import JsonSchema, Request


class Structured(IntEnum):
    """How JSON is asked for, from the firmest to the loosest."""

    JSON_SCHEMA = 0
    JSON_OBJECT = 1
    PROMPT_ONLY = 2


OPTIONAL = ("temperature", "top_p", "seed", "stop")
"""Sampling parameters that a request can do without."""
_FORMAT = re.compile(
    r"response_?format|json_schema|json_object|json mode|structured output|guided|"
    r"grammar|json schema|invalid schema|schema",
    re.IGNORECASE,
)
THIS_SCHEMA = re.compile(
    r"invalid schema|grammar|too (?:large|complex|many)|compil|unsupported keyword|"
    r"not permitted in schema|\$ref|additionalproperties",
    re.IGNORECASE,
)
_NO_OBJECT = re.compile(r"must be '?\"?json_schema", re.IGNORECASE)
_SYSTEM = re.compile(
    r"system (?:role|message|prompt|instruction)s?\b.{0,80}\b(?:not|un)|"
    r"roles? must alternate|only (?:support )?user and assistant|"
    r"developer instruction is not|no user (?:query|message)|unexpected role",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write a request down."""

    structured: Structured = Structured.JSON_SCHEMA
    completion_limit: bool = False
    """Send ``max_completion_tokens`` instead of ``max_tokens``."""
    fold_system: bool = False
    """Put the system message in front of the user's."""
    plain_schema: bool = False
    """Leave out of schemas what says more than their structure, such as ``pattern``."""
    dropped: frozenset[str] = frozenset()
    """Sampling parameters that the server does not take."""

    def adapted(self, request: Request) -> tuple[str, ...]:
        """Return what this form sends differently from what ``request`` asks."""
        if self is IDEAL or self == IDEAL:
            return ()
        notes: list[str] = []
        if request.schema is not None and self.structured:
            notes.append(self.structured.name.lower())
        if self.plain_schema and request.schema is not None and not self.structured:
            notes += ["plain_schema"] * (plain_schema(request.schema) != request.schema)
        if self.fold_system and any(m.role == "system" for m in request.messages):
            notes.append("system_folded")
        notes += [
            f"no_{name}"
            for name in OPTIONAL
            if name in self.dropped
            and getattr(request.sampling, name) not in (None, ())
        ]
        return tuple(notes)

    def describe(self) -> tuple[str, ...]:
        """Return what was learned, for people."""
        notes = [] if not self.structured else [self.structured.name.lower()]
        notes += ["max_completion_tokens"] * self.completion_limit
        notes += ["system_folded"] * self.fold_system
        notes += ["plain_schema"] * self.plain_schema
        return (*notes, *(f"no_{name}" for name in sorted(self.dropped)))

    def union(self, other: Form) -> Form:
        """Return the form that heeds what either has learned."""
        return Form(
            max(self.structured, other.structured),
            self.completion_limit or other.completion_limit,
            self.fold_system or other.fold_system,
            self.plain_schema or other.plain_schema,
            self.dropped | other.dropped,
        )

    def after(self, failure: Failure, request: Request) -> Form | None:
        """Return the form to try after a refusal; ``None`` if it teaches nothing."""
        if failure.status not in _REFUSALS or failure.is_context:
            return None
        return (
            self._after_limit(failure, request)
            or self._after_parameter(failure, request)
            or self._after_format(failure, request)
            or self._after_system(failure, request)
        )

    def _after_limit(self, failure: Failure, request: Request) -> Form | None:
        if self.completion_limit or request.sampling.max_tokens is None:
            return None
        named = failure.param == "max_tokens" and failure.refuses_parameter
        told = "max_completion_tokens" in failure.message and failure.refuses_parameter
        return replace(self, completion_limit=True) if named or told else None

    def _after_parameter(self, failure: Failure, request: Request) -> Form | None:
        for name in OPTIONAL:
            if name in self.dropped or getattr(request.sampling, name) in (None, ()):
                continue
            named = failure.param == name or (
                not failure.param
                and re.search(rf"\b{name}\b", failure.message) is not None
            )
            if named and failure.refuses_parameter:
                return replace(self, dropped=self.dropped | {name})
        return None

    def _after_format(self, failure: Failure, request: Request) -> Form | None:
        if request.schema is None or self.structured is Structured.PROMPT_ONLY:
            return None
        about = failure.param.startswith("response_format") or _FORMAT.search(
            failure.message
        )
        if not about:
            return None
        if self._can_be_plainer(failure, request.schema):
            return replace(self, plain_schema=True)
        following = Structured(self.structured + 1)
        if _NO_OBJECT.search(failure.message) or _is_unknown_field(failure):
            following = Structured.PROMPT_ONLY
        return replace(self, structured=following)

    def _can_be_plainer(self, failure: Failure, schema: JsonSchema) -> bool:
        """Tell whether a keyword is refused that the schema can do without."""
        return (
            self.structured is Structured.JSON_SCHEMA
            and not self.plain_schema
            and names_keyword(failure.message)
            and plain_schema(schema) != schema
        )

    def _after_system(self, failure: Failure, request: Request) -> Form | None:
        if self.fold_system or not any(m.role == "system" for m in request.messages):
            return None
        if not _SYSTEM.search(failure.message):
            return None
        return replace(self, fold_system=True)


def _is_unknown_field(failure: Failure) -> bool:
    """Tell whether the server knows no ``response_format`` at all, of any type."""
    if failure.code == "extra_forbidden":
        return True
    whole = failure.code == "unsupported_parameter" and "json_" not in failure.message
    return whole and failure.param == "response_format"


_REFUSALS = frozenset({400, 404, 415, 422, 500, 501})
IDEAL = Form()
"""Asks for all that a request wants."""

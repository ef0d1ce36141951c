"""The general recipe: a template over the columns of a row, an answer or an object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from synthnb.errors import ConfigError
from synthnb.fingerprint import canonical
from synthnb.recipes.base import Parsed
from synthnb.recipes.parsing import Answer, excerpt, find_json, read_answer, renamed
from synthnb.recipes.schemas import schema_of, validated
from synthnb.recipes.templates import PromptTemplate
from synthnb.records import (
    RECORD_COLUMNS,
    Completion,
    JsonSchema,
    Message,
    Request,
    Row,
    Sampling,
    Status,
)


@dataclass(frozen=True, init=False, eq=False)
class Prompt:
    """One request a row: a jinja2 template, and a text or a validated object back.

    Args:
        template: the user's message; ``{{ column }}`` is replaced, other braces are
            text. The values of a row are data and never read as a template.
        output: a pydantic model (or its JSON schema): the answer is asked for in that
            form and validated; its fields become columns, those named as a column that
            each record has (``status``, ``reasoning``, ``model``, ...) as
            ``output_<name>``. ``None``: the answer's text becomes the column ``field``.
        system: the system message; a template as well.
        name: name of the step, part of each slot's identity.
        field: the column of the answer, where there is no ``output``.
        temperature: ``None`` leaves it to the server.
        max_tokens: for one answer; ``None`` leaves it to the server.
        seed: of the first sample; ``None`` sends none.

    Raises:
        TemplateError: a template that cannot work.
        ConfigError: an output that is no object, or a name that is empty.
    """

    template: PromptTemplate
    system: PromptTemplate | None
    name: str
    field: str
    sampling: Sampling
    schema: JsonSchema | None
    model: type[BaseModel] | None

    def __init__(
        self,
        template: str,
        *,
        output: type[BaseModel] | Mapping[str, Any] | None = None,
        system: str | None = None,
        name: str = "prompt",
        field: str = "answer",
        temperature: float | None = None,
        max_tokens: int | None = None,
        seed: int | None = None,
    ) -> None:
        if not name or not field:
            raise ConfigError("a Prompt needs a name and a field that are not empty")
        schema, model = schema_of(output)
        values = {
            "template": PromptTemplate(template),
            "system": None if system is None else PromptTemplate(system),
            "name": name,
            "field": field,
            "sampling": Sampling(temperature, None, max_tokens, seed),
            "schema": schema,
            "model": model,
        }
        for attribute, value in values.items():
            object.__setattr__(self, attribute, value)

    @property
    def step(self) -> str:
        """Return the name of the step."""
        return self.name

    @property
    def needs(self) -> tuple[str, ...]:
        """Return the columns that the templates use."""
        system = self.system.fields if self.system else ()
        return tuple(dict.fromkeys((*self.template.fields, *system)))

    @property
    def fields(self) -> tuple[str, ...]:
        """Return the columns that the answer gives."""
        if self.schema is None:
            return (_column(self.field),)
        return tuple(map(_column, self.schema["properties"]))

    @property
    def wanted(self) -> int:
        """One item a slot."""
        return 1

    def request(
        self,
        row: Row,
        earlier: Sequence[Parsed],
        sample_index: int,  # noqa: ARG002 - the protocol's
    ) -> Request | None:
        """Return the one request of a slot."""
        if earlier:
            return None
        messages = [Message("user", self.template.render(row))]
        if self.system is not None:
            messages.insert(0, Message("system", self.system.render(row)))
        return Request(tuple(messages), self.sampling, self.schema, self.name)

    def parse(
        self,
        row: Row,  # noqa: ARG002 - the protocol's; this answer stands alone
        completion: Completion,
        earlier: Sequence[Parsed],  # noqa: ARG002
    ) -> Parsed:
        """Return the answer as one item, or why there is none."""
        answer = read_answer(completion)
        if self.schema is not None:
            return self._parse_object(answer, self.schema)
        return self._parse_text(answer)

    def to_json(self) -> dict[str, Any]:
        """Return the recipe as plain JSON values; an ``output`` by its JSON schema."""
        return {
            "recipe": "prompt",
            "template": self.template.text,
            "output": self.schema,
            "system": self.system.text if self.system else None,
            "name": self.name,
            "field": self.field,
            "temperature": self.sampling.temperature,
            "max_tokens": self.sampling.max_tokens,
            "seed": self.sampling.seed,
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Prompt) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(canonical(self.to_json()))

    def _parse_text(self, answer: Answer) -> Parsed:
        text = answer.text.strip()
        if answer.refused:
            status, detail = Status.REFUSED, "the server's content filter stopped it"
        elif answer.truncated:
            status, detail = Status.TRUNCATED, "cut off at max_tokens"
        elif not text:
            status, detail = Status.SCHEMA, "the answer is empty"
        else:
            status, detail = Status.OK, ""
        items = (
            ({_column(self.field): text},)
            if text and status is not Status.REFUSED
            else ()
        )
        return Parsed(
            status,
            items,
            detail=detail,
            reasoning=answer.reasoning,
            items_status=status,
        )

    def _parse_object(self, answer: Answer, schema: JsonSchema) -> Parsed:
        found = find_json(answer)
        if isinstance(found, Parsed):
            return found
        if found.truncated or answer.truncated:
            return Parsed(
                Status.TRUNCATED,
                detail="the object was cut off at max_tokens",
                reasoning=answer.reasoning,
            )
        names = tuple(schema["properties"])
        problem = f"no object in the answer: {excerpt(answer.text)}"
        for number, candidate in enumerate(_objects(found.value, names)):
            try:
                item, coerced = validated(candidate, schema, self.model)
            except ValidationError as error:
                problem = _problem(error) if number == 0 else problem
            except ValueError as error:
                problem = str(error) if number == 0 else problem
            else:
                item = {_column(name): member for name, member in item.items()}
                repaired = found.repaired or coerced or number > 0
                return Parsed(Status.OK, (item,), repaired, reasoning=answer.reasoning)
        return Parsed(
            Status.SCHEMA,
            repaired=found.repaired,
            detail=problem,
            reasoning=answer.reasoning,
        )


def _column(name: str) -> str:
    """Return the column of a field; a record's own column is never overwritten."""
    return f"output_{name}" if name in RECORD_COLUMNS else name


def _objects(value: Any, fields: Sequence[str]) -> list[dict[str, Any]]:
    """Return what may be the wanted object: as it is, unwrapped, with keys renamed."""
    if isinstance(value, list):
        value = value[0] if len(value) == 1 else {}
    candidates = [value] if value else []
    inner = [member for member in value.values() if isinstance(member, dict)]
    if len(value) == 1 and inner:
        candidates += inner
    by_alias = [renamed(candidate, fields) for candidate in candidates]
    return candidates + [c for c in by_alias if c and c not in candidates]


def _problem(error: ValidationError) -> str:
    """Return the first problem in a few words: the field and what is wrong with it."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"])) or "the object"
    more = error.error_count() - 1
    return f"{place}: {first['msg']}" + (f" (and {more} more)" if more else "")

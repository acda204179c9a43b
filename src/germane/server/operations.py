"""An operation of the API as plain data: its route, parameters and body, from which requests are read and checked, and
the OpenAPI document is written."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from germane import __version__
from germane.declare import Field, read, schema
from germane.declare import check as check_value
from germane.schema import schema_of
from germane.server.problems import ProblemError
from germane.server.roles import Role

PREFIX = "/api/v1"
_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "string": str, "integer": int, "number": (int, float), "boolean": bool, "object": dict, "array": list,
}  # fmt: skip
_DEEPEST = 32
MOST_JSON = 1 << 20
"""Bytes of JSON that is no document."""
MOST_WHOLE = (1 << 63) - 1
"""Of 64 bits with a sign; those of JSON that are still larger, or smaller, are read as numbers with a fraction."""


class Media(NamedTuple):
    """The media types of an answer that is no JSON of ours."""

    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Given:
    """A request that was read and checked: parameters by name, the body, and the raw bytes where no schema is.

    `bound`: the name of the token that was brought, as which alone its owner screens; None where nobody is bound.
    `role`: what whoever asks may do; `known`: whether they brought a token, or none is needed.
    """

    values: Mapping[str, Any]
    body: Any = None
    raw: bytes = b""
    content_type: str = ""
    bound: str | None = None
    role: Role = Role.READER
    known: bool = True

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


@dataclass(frozen=True, slots=True)
class Operation:
    """A method and path below /api/v1, what it does, what it takes and what it answers.

    `handler` is called in a thread with the library and what was given. `answer` is the shape of the answer, or its
    `Media`. `body` is a JSON Schema; `raw` media types are handed over as bytes. `role`: what a token must allow.
    `cost`: about how many milliseconds of a processor it takes, as `budget` reckons, of what was given. `most`: bytes
    of its JSON; where documents come, as many as of any body.
    """

    method: str
    path: str
    summary: str
    handler: Callable[[Any, Given], Any]
    answer: Any
    parameters: tuple[Field, ...] = ()
    body: Mapping[str, Any] | None = None
    raw: tuple[str, ...] = ()
    status: int = 200
    errors: tuple[int, ...] = field(default=(404, 422))
    role: Role = Role.READER
    cost: Callable[[Given], float] | float = 0.0
    most: int | None = MOST_JSON

    def read(self, path: Mapping[str, str], query: Any, raw: bytes, content_type: str) -> Given:
        """The request, checked; a `ProblemError` says what is wrong with it."""
        values = {each.name: _value(each, path, query) for each in self.parameters}
        unknown = sorted({name for name, _ in query.multi_items()} - {each.name for each in self.parameters})
        if unknown:
            known = ", ".join(each.name for each in self.parameters if each.where == "query") or "none"
            raise ProblemError(422, f"there is no parameter '{unknown[0][:60]}'; there are: {known}")
        kind = content_type.partition(";")[0].strip().lower()
        if self.body is None or kind in self.raw:
            if self.body is None and not self.raw:
                raw = b""
            elif self.raw and "*/*" not in self.raw and kind not in self.raw:
                raise ProblemError(415, f"the body is to be {' or '.join(self.raw)}, not '{kind[:60]}'")
            return Given(values, None, raw, kind)
        if kind not in ("application/json", ""):
            raise ProblemError(415, f"the body is to be application/json, not '{kind[:60]}'")
        if self.most is not None and len(raw) > self.most:
            raise ProblemError(413, f"the body has {len(raw):,} bytes, where {self.most:,} are taken: send it in parts")
        try:
            body = json_of(raw)
        except orjson.JSONDecodeError as error:
            raise ProblemError(400, f"the body is not JSON: {error}") from None
        check(body, self.body, "the body")
        return Given(values, body, raw, kind)

    def document(self) -> dict[str, Any]:
        """The operation as OpenAPI describes it."""
        if isinstance(self.answer, Media):
            content: dict[str, Any] = {kind: {"schema": {}} for kind in self.answer.kinds}
        else:
            content = {"application/json": {"schema": _plain(schema_of(self.answer))}}
        problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
        codes = sorted({400, *self.errors, 401, 403, 429, *((413, 415) if self.body or self.raw else ()),
                        *((503, 507) if self.role > Role.READER else ())})  # fmt: skip
        told: dict[str, Any] = {
            "operationId": f"{self.method.lower()}{self.path.replace('/', '_').replace('{', '').replace('}', '')}",
            "summary": self.summary,
            "description": f"Needs the role {self.role.word}.",
            "security": [{}, {"token": [self.role.word]}],
            "parameters": [_parameter(each) for each in self.parameters],
            "responses": {
                str(self.status): {"description": "Done", "content": content},
                **{str(code): {"description": "A problem", "content": problem} for code in codes},
            },
        }
        bodies: dict[str, Any] = {} if self.body is None else {"application/json": {"schema": dict(self.body)}}
        bodies |= {kind: {"schema": {"type": "string"}} for kind in self.raw}
        if bodies:
            told["requestBody"] = {"required": True, "content": bodies}
        return told


def openapi(operations: tuple[Operation, ...]) -> dict[str, Any]:
    """The OpenAPI document of the operations."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(PREFIX + operation.path, {})[operation.method.lower()] = operation.document()
    members = {"type": "string", "title": "string", "status": "integer", "detail": "string", "instance": "string"}
    problem = {
        "type": "object",
        "required": list(members),
        "properties": {name: {"type": kind} for name, kind in members.items()},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Germane", "version": __version__, "summary": "Search that learns", "license": {
            "name": "Apache-2.0", "identifier": "Apache-2.0"}},
        "paths": paths,
        "components": {
            "schemas": {"Problem": problem},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }  # fmt: skip


def json_of(raw: bytes) -> Any:
    """What JSON says; refused where it holds a whole number of more than 64 bits, which nothing here can keep."""
    found = orjson.loads(raw)
    waiting = [found]
    while waiting:
        value = waiting.pop()
        if isinstance(value, int) and value > MOST_WHOLE:
            raise ProblemError(422, f"a whole number has at most 64 bits, and {value} has more")
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return found


def check(value: Any, schema: Mapping[str, Any], where: str, depth: int = 0) -> None:
    """Hold a value against the part of JSON Schema that our bodies use; a `ProblemError` says where it differs."""
    if depth > _DEEPEST:
        raise ProblemError(422, f"{where} is nested too deep")
    kind = schema.get("type")
    if kind is not None:
        fits = isinstance(value, _KINDS[kind]) and not (isinstance(value, bool) and kind in ("integer", "number"))
        if not fits:
            raise ProblemError(422, f"{where} is to be of the type {kind}")
    if "enum" in schema and value not in schema["enum"]:
        raise ProblemError(422, f"{where} is to be one of {', '.join(map(str, schema['enum']))}")
    if isinstance(value, str) and not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", 1 << 30):
        least, most = schema.get("minLength", 0), schema.get("maxLength", 1 << 30)
        raise ProblemError(422, f"{where} has {len(value):,} characters, where {least:,} to {most:,} are taken")
    if isinstance(value, int | float) and not isinstance(value, bool):
        least, most = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
        if not least <= value <= most:
            raise ProblemError(422, f"{where} is from {least} to {most}, not {value}")
    if isinstance(value, list):
        if len(value) > schema.get("maxItems", 1 << 30) or len(value) < schema.get("minItems", 0):
            raise ProblemError(422, f"{where} has {len(value):,} items, which is too many or too few")
        for number, item in enumerate(value):
            check(item, schema.get("items", {}), f"{where}[{number}]", depth + 1)
    if isinstance(value, dict):
        if len(value) > schema.get("maxProperties", 1 << 30):
            raise ProblemError(422, f"{where} has {len(value):,} members, where {schema['maxProperties']:,} are taken")
        others = schema.get("additionalProperties")
        if isinstance(others, Mapping):
            for name in value.keys() - schema.get("properties", {}).keys():
                check(value[name], others, f"'{name[:60]}'", depth + 1)
    if isinstance(value, dict) and "properties" in schema:
        for name in schema.get("required", ()):
            if name not in value:
                raise ProblemError(422, f"{where} lacks '{name}'")
        for name, item in value.items():
            if name in schema["properties"]:
                check(item, schema["properties"][name], f"'{name}'", depth + 1)
            elif schema.get("additionalProperties") is False:
                known = ", ".join(schema["properties"])
                raise ProblemError(422, f"{where} has a member '{name[:60]}' that is not known; there are: {known}")


def _value(field: Field, path: Mapping[str, str], query: Any) -> Any:
    texts = [path[field.name]] if field.where == "path" else query.getlist(field.name)
    if not texts:
        return () if field.many else check_value(field, field.default)
    return read(field, texts if field.many else texts[-1])


def _parameter(field: Field) -> dict[str, Any]:
    in_path = field.where == "path"
    return {
        "name": field.name, "in": field.where, "required": field.required or in_path,
        "description": field.help, "schema": schema(field),
    }  # fmt: skip


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != "$schema"}

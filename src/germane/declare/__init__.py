"""Fields of requests: type, default, bounds, unit and help of each, and its spelling where people and programs ask."""

from germane.declare.fields import CLI, HTTP, MCP, PYTHON, Field
from germane.declare.reading import check, read, schema
from germane.declare.requests import Rule, check_request, fields_of, made, offered, spellings, value_of

__all__ = [
    "CLI", "HTTP", "MCP", "PYTHON", "Field", "Rule", "check", "check_request", "fields_of", "made",
    "offered", "read", "schema", "spellings", "value_of",
]  # fmt: skip

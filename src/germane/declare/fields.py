"""A field of a request, as plain data: written once, in the annotation of a dataclass, and read by every door."""

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

PYTHON, CLI, HTTP, MCP = "python", "cli", "http", "mcp"
"""The doors: keyword arguments, the command line, the HTTP API, the tools of assistants."""
LARGEST = 1e12
"""The largest number that these doors take where a field states no bound."""


class Field(NamedTuple):
    """A field: its type, default, bounds, unit and help, and how each door spells it.

    `kind`: a type of JSON Schema; "setting", a number or "auto"; "id", a text or a whole number; "filter". `many`: a
    list of such, of at most `items` different values. `least`, `most`: bounds of a number, or of the characters of a
    text. `choices`: the values there are, `noun` what one is called. `none`: the word that stands for None. `reader`:
    where the function is that reads the texts of this field, all at once. `off`: the help of the switch that turns the
    field off.

    `unit`: what a value counts or names. `group`: the heading it stands under. `where`: whether HTTP has it in the path
    or in the query. `spelled`: its name at a door where that differs; "" where it is not offered. `limits`: the largest
    value that a door takes. `cost`: of one unit, or a function of the request (`server.budget`). `members`: fields that
    are written into the mapping of this one. `path`: where the value is in the request.
    """

    name: str
    help: str
    kind: str = "string"
    where: str = "query"
    required: bool = False
    many: bool = False
    choices: Collection[str] = ()
    least: float | None = None
    most: float | None = None
    default: Any = None
    items: int | None = None
    noun: str = ""
    none: str | None = None
    reader: str = ""
    off: str = ""
    unit: str = ""
    group: str = ""
    spelled: Mapping[str, str] = MappingProxyType({})
    limits: Mapping[str, float] = MappingProxyType({})
    cost: float | Callable[[Any], float] = 0.0
    members: tuple["Field", ...] = ()
    path: tuple[str, ...] = ()

    def spelling(self, door: str) -> str:
        """Return the name at a door; "" where the door does not offer it.

        >>> Field("min_score", "No result below this score.").spelling(CLI)
        '--min-score'
        """
        return self.spelled.get(door, f"--{self.name.replace('_', '-')}" if door == CLI else self.name)

    def at(self, door: str) -> "Field":
        """Return the field as a served door has it: under its name there, with its bounds, and nothing left open."""
        kind = "number" if self.kind == "setting" else self.kind
        least, most = self.least, self.limits.get(door, self.most)
        if kind == "number":
            least, most = -LARGEST if least is None else least, LARGEST if most is None else most
        return self._replace(name=self.spelling(door), kind=kind, least=least, most=most)

"""What happens to a record that cannot be used: stop at once, or note it and go on.

Readers tell two failures apart. A *record* that cannot be used is handed to `on_bad`, which raises (`stop`) or notes
(`SkipReport.note`). A *file* that cannot be read (missing, truncated, binary) always raises.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from germane.errors import InputError

OnBad: TypeAlias = Callable[[InputError], None]


def stop(error: InputError) -> None:
    """Raise the error: one bad record ends the reading."""
    raise error


class Skipped(NamedTuple):
    """Where a record was skipped, and why."""

    source: str | None
    line: int | None
    field: str | None
    reason: str


@dataclass(slots=True)
class SkipReport:
    """How many records were skipped, in all and per file, and the first `keep` of them in detail."""

    keep: int = 20
    count: int = 0
    by_source: dict[str, int] = field(default_factory=dict)
    first: list[Skipped] = field(default_factory=list)

    def note(self, error: InputError) -> None:
        """Count one skipped record."""
        self.count += 1
        source = error.source or ""
        self.by_source[source] = self.by_source.get(source, 0) + 1
        if len(self.first) < self.keep:
            self.first.append(Skipped(error.source, error.line, error.field, error.message))

"""What happens to a record that cannot be used: stop at once, or note it and go on.

Readers tell two failures apart. A *record* that cannot be used is handed to `on_bad`, which raises (`stop`) or notes
(`SkipReport.note`); so is a last record that the end of the file cuts short, whose beginning may be used all the same.
A *file* that cannot be read (missing, damaged, binary) always raises.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from germane.data.budget import spend
from germane.errors import CutShortError, InputError

OnBad: TypeAlias = Callable[[InputError], bool]
"""True: what is there of the record is to be used."""


def stop(error: InputError) -> bool:
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
    """How many records were skipped, in all and per file, and the first `keep` of them in detail.

    `cut_short`: the line of the record that the end of the file cuts short; it is used with `take_cut`, and skipped
    without.
    """

    keep: int = 20
    take_cut: bool = False
    cut_short: int | None = None
    count: int = 0
    by_source: dict[str, int] = field(default_factory=dict)
    first: list[Skipped] = field(default_factory=list)

    def note(self, error: InputError) -> bool:
        """Count one skipped record, unless it is cut short and taken all the same."""
        spend()
        if isinstance(error, CutShortError):
            self.cut_short = error.line
            if self.take_cut:
                return True
        self.count += 1
        source = error.source or ""
        self.by_source[source] = self.by_source.get(source, 0) + 1
        if len(self.first) < self.keep:
            self.first.append(Skipped(error.source, error.line, error.field, error.message))
        return False

"""What came in, counted; what was wrong with it, told without end of the stream."""

from collections import Counter
from dataclasses import dataclass, field

from germane.stream.arrivals import Arrival
from germane.stream.values import Processed

SHOWN = 20
"""Troubles of a round that are told in their words; the others are counted."""


@dataclass(slots=True)
class Intake:
    """The counts of one run. `odd` counts documents by what was mended: "no id", "no date", "dates back", "markup".

    `troubles`: sentences that nobody was told yet (`untold`), `SHOWN` a round at most; `n_troubles`: all of them.
    `troubled`: the sources that had some.
    """

    documents: int = 0
    new: int = 0
    repeated: int = 0
    changed: int = 0
    hits: int = 0
    odd: Counter[str] = field(default_factory=Counter)
    troubles: list[str] = field(default_factory=list)
    n_troubles: int = 0
    n_told: int = 0
    troubled: set[str] = field(default_factory=set)
    _shown: int = 0
    _latest: dict[str, str] = field(default_factory=dict)

    def take(self, arrival: Arrival) -> Arrival:
        """Count a document."""
        self.documents += 1
        if arrival.oddities:
            self.odd.update(arrival.oddities)
        if arrival.date is not None:
            if arrival.date < self._latest.get(arrival.source, ""):
                self.odd["dates back"] += 1
            else:
                self._latest[arrival.source] = arrival.date
        return arrival

    def trouble(self, sentence: str) -> None:
        """Something could not be used."""
        self.n_troubles += 1
        if self._shown < SHOWN:
            self._shown += 1
            self.troubles.append(sentence)

    def begin_round(self) -> None:
        """As many troubles may be told as in the round before."""
        self._shown = 0

    def untold(self) -> list[str]:
        """The troubles since this was last asked."""
        told, self.troubles = self.troubles, []
        self.n_told += len(told)
        return told

    def add(self, done: Processed) -> None:
        """Count what came of a batch."""
        self.new, self.repeated, self.changed = (
            self.new + done.new,
            self.repeated + done.repeated,
            self.changed + done.changed,
        )
        self.hits += len(done.hits)

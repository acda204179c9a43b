"""Is this new? Copies of a story grouped into one, and stories that nothing before was like."""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.lm.parameters import open_fraction
from germane.track.background import Background
from germane.track.bags import Bag, Batch
from germane.track.inverted import InvertedVectors
from germane.track.representation import UnitTfIdf

COPY = 0.8
"""The cosine from which two texts are copies of one another, give or take some words."""
NEW = 0.2
"""The cosine below which a text is unlike another."""
BLOCK = 256


def copies(bags: Sequence[Bag], background: Background, similarity: float = COPY) -> list[int]:
    """For every text the first one before it, or itself, that it is a copy of: by cosine of tf-idf vectors, SD (6.3).

    Only texts that are copies of none are compared with, so that a chain of small changes does not join far ends.

    >>> from germane.track import BagMaker, Vocabulary
    >>> from germane.text import Analyzer
    >>> texts = ["Copper prices rise in London", "Frost in Brazil hurts coffee", "LONDON: copper prices rise again"]
    >>> bags = BagMaker(Analyzer(), WordNumbers()).bags(texts)
    >>> copies(bags, Background.of(bags), 0.6)
    [0, 1, 0]
    """
    open_fraction("similarity", similarity)
    batch = Batch(bags)
    values = UnitTfIdf().read(batch, background).values
    inverted = InvertedVectors(batch.terms, values, batch.sizes)
    first = list(range(len(bags)))
    ends = np.cumsum(batch.sizes)
    for i, (start, end) in enumerate(zip(ends - batch.sizes, ends, strict=True)):
        for j in np.flatnonzero(inverted.dots(batch.terms[start:end], values[start:end])[:i] >= similarity).tolist():
            if first[j] == j:
                first[i] = j
                break
    return first


class Nearest(NamedTuple):
    """The number of the most similar text before, counted from the first ever seen (None: there is none), and how
    similar it is.
    """

    number: int | None
    similarity: float


class RecentTexts:
    """The last `window` texts of a stream: how near is the next one to the nearest of them?

    A text below `NEW` begins a story; one above `COPY` repeats one. Vectors are kept as the background was when each
    text came.
    """

    def __init__(self, background: Background, window: int = 10_000) -> None:
        if window < 1:
            raise ParameterError(f"window must be 1 or more, not {window}")
        self.background, self.window = background, window
        self.n_seen = 0
        self._blocks: deque[InvertedVectors] = deque()
        self._recent: list[tuple[Bag, Floats]] = []

    def see(self, bag: Bag) -> Nearest:
        """The nearest text before; then this one is remembered too."""
        vector = UnitTfIdf().features(bag, self.background).values
        found = np.concatenate([*(block.dots(bag.terms, vector) for block in self._blocks), self._dots(bag, vector)])
        found = found[max(len(found) - self.window, 0) :]
        self._remember(bag, vector)
        if len(found) == 0:
            return Nearest(None, 0.0)
        best = int(np.argmax(found))
        return Nearest(self.n_seen - 1 - len(found) + best, min(float(found[best]), 1.0))

    def remember(self, bag: Bag) -> None:
        """A text that came before those to be asked about."""
        self._remember(bag, UnitTfIdf().features(bag, self.background).values)

    def _dots(self, bag: Bag, vector: Floats) -> Floats:
        """The cosines with the texts that are in no block yet."""
        sums = np.zeros(len(self._recent))
        if self._recent and len(bag.terms):
            terms = np.concatenate([held.terms for held, _ in self._recent])
            values = np.concatenate([held for _, held in self._recent])
            owners = np.repeat(np.arange(len(self._recent)), [len(held.terms) for held, _ in self._recent])
            places = np.minimum(np.searchsorted(bag.terms, terms), len(bag.terms) - 1)
            shared = bag.terms[places] == terms
            sums += np.bincount(owners[shared], vector[places[shared]] * values[shared], len(sums))
        return sums

    def _remember(self, bag: Bag, vector: Floats) -> None:
        self.n_seen += 1
        self._recent.append((bag, vector))
        if len(self._recent) == BLOCK:
            self._blocks.append(InvertedVectors.of([(held.terms, x) for held, x in self._recent]))
            self._recent = []
            while (len(self._blocks) - 1) * BLOCK >= self.window:
                self._blocks.popleft()

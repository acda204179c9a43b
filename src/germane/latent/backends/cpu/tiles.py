"""Pairs in tiles: the words of some pairs together, in the order of the words.

An E-step visits every word of every pair, and reads and writes that word's row of two tables. Most of its time is spent
waiting for those rows. Pairs that share a rare word are put side by side, `TILE` of them are taken at once, and a word
that several of them have is visited for all of them while its rows are at hand.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from germane.arrays import AnyArray, Integers
from germane.latent.pairs import Pairs, Texts
from germane.lazy import LazyModule

if TYPE_CHECKING:
    from germane.latent.backends.cpu import topic_kernels
else:
    topic_kernels = LazyModule("germane.latent.backends.cpu.topic_kernels")

TILE = 256
"""Pairs of a tile: as many as a byte can tell apart; their topics fit into a processor's nearer caches."""
LEAST_SHARED = 4
"""A word in fewer titles than this puts too few pairs side by side."""


@dataclass(frozen=True, eq=False)
class TiledTexts:
    """One side of the pairs: tile k has the entries starts[k]:starts[k + 1], each a word, a member and a count."""

    starts: npt.NDArray[np.int64]
    words: npt.NDArray[np.int32]
    members: npt.NDArray[np.uint8]
    counts: npt.NDArray[np.float32]

    @classmethod
    def of(cls, texts: Texts, order: Integers) -> "TiledTexts":
        """The texts in that order."""
        sizes = np.diff(texts.starts)[order]
        first = np.arange(0, len(order), TILE)
        starts = np.concatenate([[0], np.cumsum(np.add.reduceat(sizes, first), dtype=np.int64)])
        n = len(texts.words)
        made = cls(starts, np.empty(n, np.int32), np.empty(n, np.uint8), np.empty(n, np.float32))
        topic_kernels.fill_tiles(texts.starts, texts.words, texts.counts, order, TILE, *made.arrays)
        return made

    @property
    def arrays(self) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
        """What a kernel takes."""
        return self.starts, self.words, self.members, self.counts


@dataclass(frozen=True, eq=False)
class Tiles:
    """Pairs in the order in which they are visited: `order[i]` is the row of the pair in place i."""

    order: Integers
    queries: TiledTexts
    titles: TiledTexts
    weights: npt.NDArray[np.float32]

    @classmethod
    def of(cls, pairs: Pairs) -> "Tiles":
        """Pairs by the rarest word of the title that is in several."""
        titles = pairs.titles
        frequency = np.bincount(titles.words, minlength=len(pairs.vocabulary))
        keys = np.empty(len(pairs), np.int32)
        topic_kernels.rarest_words(titles.starts, titles.words, frequency, LEAST_SHARED, keys)
        order = np.argsort(keys, kind="stable")
        return cls(order, TiledTexts.of(pairs.queries, order), TiledTexts.of(titles, order), pairs.weights[order])

    def __len__(self) -> int:
        return len(self.titles.starts) - 1

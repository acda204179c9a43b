"""The processor as a `Backend`: which kernel computes what, over which layout."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from germane.arrays import AnyArray, Floats, Mask
from germane.latent.backends.cpu.blocks import LEAST_ROWS, in_blocks
from germane.latent.backends.cpu.gradient import gradient
from germane.latent.backends.cpu.lanes import parts_of, wide_zeros, widened
from germane.latent.backends.cpu.tiles import TILE, Tiles
from germane.latent.backends.protocol import EStep, TopicWords, Triples
from germane.latent.pairs import Pairs, Texts
from germane.latent.statistics import GradientStatistics, TopicStatistics, TranslationStatistics
from germane.lazy import LazyModule

if TYPE_CHECKING:
    from germane.latent.backends.cpu import topic_kernels, translation_kernels
else:
    topic_kernels = LazyModule("germane.latent.backends.cpu.topic_kernels")
    translation_kernels = LazyModule("germane.latent.backends.cpu.translation_kernels")


@dataclass(frozen=True, eq=False)
class PairLayout:
    """A part of the pairs: in tiles, or as they are where posteriors are projected.

    `sums` are the tables of the blocks of rows but the first, by their first row: they are large, and made once.
    """

    step: EStep
    pairs: Pairs
    tiles: Tiles | None
    sums: dict[int, tuple[AnyArray, AnyArray]] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """What is divided into blocks: tiles, or pairs."""
        return len(self.pairs) if self.tiles is None else len(self.tiles)

    def least_rows(self, n_words: int) -> int:
        """Rows of a block at least: tables of sums shall not cost more than the pairs."""
        return max(LEAST_ROWS, n_words) // (1 if self.tiles is None else TILE)


class CPU:
    """All cores of this machine. θ is a padded table in the order of the tiles, or of the pairs without them."""

    def lay_out(self, step: EStep, pairs: Pairs) -> tuple[PairLayout, AnyArray]:
        """Pairs in tiles unless posteriors are projected, and uniform topics."""
        theta = wide_zeros(len(pairs), step.n_topics, step.dtype)
        theta[:, : step.n_topics] = 1 / step.n_topics
        if step.titles_only:
            pairs = pairs.titles_only()
        return PairLayout(step, pairs, None if step.projection_steps else Tiles.of(pairs)), theta

    def theta(self, layout: PairLayout, theta: AnyArray) -> AnyArray:
        """Rows without padding, in the order of the pairs."""
        table = theta[:, : layout.step.n_topics]
        if layout.tiles is None:
            return table
        place = np.empty_like(layout.tiles.order)
        place[layout.tiles.order] = np.arange(len(place))
        return table[place]

    def e_step(
        self, layout: PairLayout, theta: AnyArray, words: TopicWords, *, objective: bool = False
    ) -> tuple[AnyArray, TopicStatistics]:
        """Sums of each block by one thread, then over blocks in their order."""
        n_words, n_topics = len(words.query_words), layout.step.n_topics
        phi_q, phi_d = widened(words.query), widened(words.title)

        def block(first: int, last: int) -> TopicStatistics:
            query, title = _empty_sums(layout, words, first)
            given = (phi_q, phi_d, theta, n_topics, layout.step.alpha, first, last, query, title, objective)
            if layout.tiles is None:
                value, steps = _projected(layout, *given)
            else:
                value, steps = _tiled(layout.tiles, *given), 0
            return TopicStatistics(query, title, value, steps)

        first, *others = found = in_blocks(layout.n_rows, block, layout.least_rows(n_words))
        sides = ("query", phi_q, words.query_words), ("title", phi_d, words.title_words)
        for side, phi, seen in sides:
            for other in others:
                topic_kernels.add_rows(getattr(first, side), getattr(other, side), seen, parts_of(phi))
            if layout.tiles is not None:
                topic_kernels.multiply_rows(getattr(first, side), phi, seen, parts_of(phi))
        return theta, TopicStatistics(
            first.query[:, :n_topics],
            first.title[:, :n_topics],
            sum(each.objective for each in found),
            sum(each.steps for each in found),
        )

    def m_step(self, counts: AnyArray, support: Mask, pseudo: float, over: AnyArray | None = None) -> AnyArray:
        """A part of a padded table, so that the next E-step takes it as it is."""
        n_words, n_topics = counts.shape
        made = wide_zeros(n_words, n_topics, counts.dtype)[:, :n_topics] if over is None else over
        wide = widened(made)
        topic_kernels.normalise_words(widened(counts), support, pseudo, n_topics, wide, parts_of(wide))
        return made

    def fold_in(self, texts: Texts, phi: AnyArray, alpha: float, n_iterations: int) -> npt.NDArray[Any]:
        """Texts in blocks, a thread each."""
        n_topics, arrays, wide = phi.shape[1], _arrays(texts), widened(phi)
        theta = wide_zeros(len(texts), n_topics, phi.dtype)

        def block(first: int, last: int) -> None:
            topic_kernels.fold_in(arrays, wide, n_topics, alpha, n_iterations, first, last, theta, parts_of(theta))

        in_blocks(len(texts), block)
        return theta[:, :n_topics]

    def translation_counts(
        self, pairs: Pairs, starts: AnyArray, columns: AnyArray, probability: Floats
    ) -> TranslationStatistics:
        """Pairs in blocks, a thread each, all of whose words have met in the table."""
        sides = _arrays(pairs.queries), _arrays(pairs.titles)

        def block(first: int, last: int) -> Floats:
            expected = np.zeros(len(probability))
            translation_kernels.expected_translations(
                *sides, pairs.weights, (starts, columns), probability, first, last, expected
            )
            return expected

        return TranslationStatistics(np.add.reduce(in_blocks(len(pairs), block)))

    def gradient(self, matrix: AnyArray, triples: Triples, gamma: float, softness: float) -> GradientStatistics:
        """By matrix products."""
        return gradient(matrix, triples, gamma, softness)


def _empty_sums(layout: PairLayout, words: TopicWords, first: int) -> tuple[AnyArray, AnyArray]:
    """Cleared tables for the block that begins with a row. Those of the first block are new: the caller gets them."""
    shape = len(words.query_words), layout.step.n_topics, layout.step.dtype
    if first == 0:
        return wide_zeros(*shape), wide_zeros(*shape)
    if first not in layout.sums:
        layout.sums[first] = wide_zeros(*shape), wide_zeros(*shape)
    else:
        for table, seen in zip(layout.sums[first], (words.query_words, words.title_words), strict=True):
            topic_kernels.clear_rows(table, seen, parts_of(table))
    return layout.sums[first]


def _tiled(tiles: Tiles, phi_q: AnyArray, phi_d: AnyArray, *given: Any) -> float:
    theta, n_topics, alpha, *rest = given
    sides = tiles.queries.arrays, tiles.titles.arrays
    found: float = topic_kernels.theta_sums(
        *sides, tiles.weights, phi_q, phi_d, theta, n_topics, alpha, TILE, *rest, parts_of(theta)
    )
    return found


def _projected(layout: PairLayout, phi_q: AnyArray, phi_d: AnyArray, theta: AnyArray, *given: Any) -> tuple[float, int]:
    pairs, step = layout.pairs, layout.step
    sides = _arrays(pairs.queries), _arrays(pairs.titles)
    found: tuple[float, int] = topic_kernels.projected_counts(
        *sides, pairs.weights, phi_q, phi_d, theta, *given, step.projection_steps, step.tolerance, parts_of(theta)
    )
    return found


def _arrays(texts: Texts) -> tuple[AnyArray, AnyArray, AnyArray]:
    return texts.starts, texts.words, texts.counts

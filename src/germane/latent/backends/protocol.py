"""What a model asks of a device.

A backend lays a part of the pairs out as it likes (`Layout`) and keeps θ in a form of its own, so both are opaque here.
All other arguments and results are plain arrays. Statistics that are returned are the caller's: no later call writes
over them.
"""

from typing import Any, NamedTuple, Protocol

import numpy.typing as npt
from scipy import sparse

from germane.arrays import AnyArray, Floats, Mask
from germane.latent.pairs import Pairs, Texts
from germane.latent.statistics import GradientStatistics, TopicStatistics, TranslationStatistics

Layout = Any
"""A part of the pairs as a backend keeps it."""
Theta = Any
"""θ of the pairs of a layout, in the backend's own form and order."""


class EStep(NamedTuple):
    """How an E-step of a topic model is made.

    `projection_steps`: of posterior regularisation at most; 0 is without. It ends when fractions agree within
    `tolerance`. `titles_only`: queries are not looked at.
    """

    n_topics: int
    alpha: float
    dtype: Any
    projection_steps: int = 0
    tolerance: float = 0.0
    titles_only: bool = False


class TopicWords(NamedTuple):
    """φ^q and φ^d, words × topics, and the words that each side has."""

    query: AnyArray
    title: AnyArray
    query_words: Mask
    title_words: Mask


class Triples(NamedTuple):
    """Queries, their titles, and which other titles are not theirs: `others[j]` permutes the titles.

    `weights` count the pairs; `valid[j]` is false where the other title belongs to the same query.
    """

    queries: sparse.csr_array
    titles: sparse.csr_array
    weights: Floats
    others: list[AnyArray]
    valid: list[Mask]


class Backend(Protocol):
    """The sums over pairs of all learnt models, on one kind of device."""

    def lay_out(self, step: EStep, pairs: Pairs) -> tuple[Layout, Theta]:
        """A part of the pairs as E-steps read it, and uniform topics for each pair."""

    def e_step(
        self, layout: Layout, theta: Theta, words: TopicWords, *, objective: bool = False
    ) -> tuple[Theta, TopicStatistics]:
        """Clicks (4), (5), (8) and, with projections, (9)-(13): the new θ, and expected counts under the old.

        The θ that is given may be written over: only the one returned is of use afterwards.
        """

    def theta(self, layout: Layout, theta: Theta) -> AnyArray:
        """θ as a table, pairs × topics, in the order of the pairs."""

    def m_step(self, counts: AnyArray, support: Mask, pseudo: float, over: AnyArray | None = None) -> AnyArray:
        """φ_z(w) = (N_{w,z} + pseudo) / Σ_w' (N_{w',z} + pseudo) over the words of `support`, Clicks (6), (7).

        `over`: a table from before, which may be written over.
        """

    def fold_in(self, texts: Texts, phi: AnyArray, alpha: float, n_iterations: int) -> npt.NDArray[Any]:
        """θ of texts by EM with φ fixed, from uniform: Clicks (5), (8) for one side."""

    def translation_counts(
        self, pairs: Pairs, starts: AnyArray, columns: AnyArray, probability: Floats
    ) -> TranslationStatistics:
        """Expected counts of IBM model 1: row q of the sparse table t(q|w) is columns[starts[q]:starts[q + 1]]."""

    def gradient(self, matrix: AnyArray, triples: Triples, gamma: float, softness: float) -> GradientStatistics:
        """Loss and gradient of S2Net, Clicks (31)-(36) with their errata."""

"""Topic models of titles and of query-title pairs: PLSA, BLTM, BLTM-PR and its ties between the two vocabularies.

A pair shares one distribution θ of topics; queries and titles have their own words for each topic, φ^q and φ^d
(Clicks §3). MAP estimation by EM; posterior regularisation projects the E-step's posteriors so that query and title
give each topic the same fraction of their words (§3.2).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import AnyArray, Floats, Integers, Mask
from germane.errors import ParameterError
from germane.latent.blocks import LEAST_ROWS, in_blocks
from germane.latent.generative import GenerativeModel, background_model
from germane.latent.lanes import parts_of, wide_zeros, widened
from germane.latent.pairs import Documents, Pairs, Query, Texts, Vocabulary, check_above, check_count, check_share
from germane.latent.tiles import TILE, Tiles
from germane.lazy import LazyModule

if TYPE_CHECKING:
    from germane.latent import topic_kernels
else:
    topic_kernels = LazyModule("germane.latent.topic_kernels")

OnIteration = Callable[[int, "TopicStatistics"], None]
"""called in each iteration with its number and the statistics, the objective before the step among them"""

_DRAWN = 4096
"""Rows of a table that are drawn at a time."""


@dataclass(frozen=True)
class BLTM:
    """The bilingual topic model, Clicks (3)-(8).

    `regularised`: posterior regularisation, Clicks (9)-(13): BLTM-PR. The fixed-point step ends when fractions agree
    within `tolerance`, or after `projection_steps`.
    `tie`: the probability ρ that a word comes from φ^0, the words that queries and titles share for a topic:
    P(q|z) = ρ φ^0_z(q) + (1-ρ) φ^q_z(q), and for titles with φ^d. 0 has two vocabularies, 1 has one (BLTM-PR-1V), and
    what lies between is the hierarchy that the paper leaves to future work: words lean on the other side where they
    are rare, and may diverge where they are frequent. It is exact EM with one more hidden choice.
    `titles_only`: queries are not looked at; with one vocabulary this is PLSA by MAP estimation (Clicks §5.2).
    `alpha`: 1.1 at 100 topics; let α-1 shrink as topics grow (1.02 at 400).
    """

    n_topics: int = 100
    alpha: float = 1.1
    beta: float = 1.01
    n_iterations: int = 20
    regularised: bool = False
    projection_steps: int = 5
    tolerance: float = 1e-4
    tie: float = 0.0
    titles_only: bool = False
    fold_iterations: int = 20
    lambda1: float = 0.3
    lambda2: float = 0.5
    random_state: int = 0
    precision: Literal["single", "double"] = "single"

    def __post_init__(self) -> None:
        for name in ("n_topics", "n_iterations", "fold_iterations", "projection_steps"):
            check_count(name, getattr(self, name))
        check_count("random_state", self.random_state, 0)
        for name, bound in (("alpha", 1), ("beta", 1), ("tolerance", 0)):
            check_above(name, getattr(self, name), bound)
        for name in ("tie", "lambda1", "lambda2"):
            check_share(name, getattr(self, name))
        if self.precision not in ("single", "double"):
            raise ParameterError(f"precision is 'single' or 'double', not {self.precision!r}")

    @property
    def dtype(self) -> Any:
        """The type of all tables."""
        return np.float32 if self.precision == "single" else np.float64

    def fit(self, pairs: Pairs, *, on_iteration: OnIteration | None = None) -> "TopicModel":
        """EM from a random start."""
        model, part = self.start(pairs), TopicPartition.of(self, pairs)
        for iteration in range(self.n_iterations):
            found = part.statistics(model, objective=on_iteration is not None)
            if on_iteration is not None:
                on_iteration(iteration, replace(found, objective=found.objective + model.log_prior))
            model = self.update(model, found, in_place=True)
        return model

    def start(self, pairs: Pairs) -> "TopicModel":
        """Words at random: a uniform start is a fixed point of EM."""
        n_words = len(pairs.vocabulary)
        seen = [np.bincount(side.words, minlength=n_words) for side in (pairs.queries, pairs.titles)]
        noise = self._noise(n_words)
        empty = TopicModel(
            pairs.vocabulary, background_model(pairs), self.lambda1, self.lambda2, self,
            *(_none(self.dtype),) * 3, seen[0] > 0, seen[1] > 0,
        )  # fmt: skip
        wanted = (self.tie > 0, self.tie < 1, self.tie < 1)
        shared, own_q, own_d = (
            np.multiply(noise, frequency[:, None], dtype=self.dtype, casting="unsafe") if used else noise
            for frequency, used in zip((seen[0] + seen[1], *seen), wanted, strict=True)
        )
        return self._normalised(empty, shared, own_q, own_d)

    def _noise(self, n_words: int) -> AnyArray:
        """Exponential variables, words × topics; some rows at a time, as they are drawn in double precision."""
        rng = np.random.default_rng(self.random_state)
        noise = np.empty((n_words, self.n_topics), self.dtype)
        for first in range(0, n_words, _DRAWN):
            rows = noise[first : first + _DRAWN]
            rows[:] = rng.standard_exponential(rows.shape)
        return noise

    def update(self, model: "TopicModel", statistics: "TopicStatistics", *, in_place: bool = False) -> "TopicModel":
        """The M-step, Clicks (6) and (7); with a tie, counts are first divided among shared and own words.

        `in_place`: the tables of the model given are written over, which saves their making.
        """
        query, title = statistics.query, statistics.title
        over = model if in_place else None
        if self.tie in (0, 1):
            return self._normalised(model, query + title if self.tie else query, query, title, over)
        shared_q = query * _share(self.tie, model.shared, model.phi_q)
        shared_d = title * _share(self.tie, model.shared, model.phi_d)
        return self._normalised(model, shared_q + shared_d, query - shared_q, title - shared_d, over)

    def _normalised(
        self, model: "TopicModel", shared: AnyArray, query: AnyArray, title: AnyArray, over: "TopicModel | None" = None
    ) -> "TopicModel":
        """Clicks (6), (7): smoothed by β-1 over the words that the side has, and divided by the sum."""
        none, both = _none(self.dtype), model.query_words | model.title_words
        olds = (over.shared, over.own_q, over.own_d) if over is not None else (None, None, None)
        return replace(
            model,
            shared=self._words(shared, both, olds[0]) if self.tie > 0 else none,
            own_q=self._words(query, model.query_words, olds[1]) if self.tie < 1 else none,
            own_d=self._words(title, model.title_words, olds[2]) if self.tie < 1 else none,
        )

    def _words(self, counts: AnyArray, support: Mask, over: AnyArray | None) -> AnyArray:
        made = wide_zeros(len(counts), self.n_topics, self.dtype)[:, : self.n_topics] if over is None else over
        wide = widened(made)
        topic_kernels.normalise_words(widened(counts), support, self.beta - 1, self.n_topics, wide, parts_of(wide))
        return made


def _none(dtype: Any) -> AnyArray:
    return np.zeros((0, 0), dtype)


def _share(tie: float, shared: AnyArray, mixed: AnyArray) -> AnyArray:
    """P(a word came from the shared words | topic, word)."""
    return np.divide(tie * shared, mixed, out=np.zeros_like(mixed), where=mixed > 0)


@dataclass(frozen=True, eq=False)
class TopicStatistics:
    """Expected counts Σ N_{q,z} and Σ N_{w,z}, words × topics; sums over parts of the pairs are those of the whole.

    `objective`: the log-likelihood and log P(θ|α) before the step, less KL(P'‖P) where posteriors were projected.
    `steps`: of all projections together.
    """

    query: AnyArray
    title: AnyArray
    objective: float = 0.0
    steps: int = 0

    def merge(self, other: "TopicStatistics") -> "TopicStatistics":
        """The statistics of both parts."""
        return TopicStatistics(
            self.query + other.query,
            self.title + other.title,
            self.objective + other.objective,
            self.steps + other.steps,
        )


@dataclass(frozen=True, eq=False)
class TopicPartition:
    """A part of the training pairs with its θ, which every E-step writes anew: what one machine keeps.

    Rows of `wide` are θ with padding, in the order of the tiles, or of the pairs where posteriors are projected.
    `sums` are the tables of the E-step, of each block of rows by its first: they are large, and made once.
    """

    settings: BLTM
    pairs: Pairs
    tiles: Tiles | None
    wide: AnyArray
    sums: dict[int, tuple[AnyArray, AnyArray]] = field(default_factory=dict)

    @classmethod
    def of(cls, settings: BLTM, pairs: Pairs) -> "TopicPartition":
        """The part at the start: uniform topics."""
        wide = wide_zeros(len(pairs), settings.n_topics, settings.dtype)
        wide[:, : settings.n_topics] = 1 / settings.n_topics
        if settings.titles_only:
            pairs = pairs.titles_only()
        projected = settings.regularised and not settings.titles_only
        return cls(settings, pairs, None if projected else Tiles.of(pairs), wide)

    @property
    def theta(self) -> AnyArray:
        """θ of each pair, in their order."""
        theta = self.wide[:, : self.settings.n_topics]
        if self.tiles is None:
            return theta
        place = np.empty_like(self.tiles.order)
        place[self.tiles.order] = np.arange(len(place))
        return theta[place]

    def statistics(self, model: "TopicModel", *, objective: bool = False) -> TopicStatistics:
        """One E-step, Clicks (4), (5), (8) and, regularised, (9)-(13). The next one writes over its tables."""
        n_words, n_topics = len(model.vocabulary), self.settings.n_topics
        phi_q, phi_d = widened(model.phi_q), widened(model.phi_d)

        def block(first: int, last: int) -> TopicStatistics:
            query, title = self._empty_sums(model, first)
            given = (phi_q, phi_d, self.wide, n_topics, self.settings.alpha)
            if self.tiles is None:
                value, steps = self._projected(*given, first, last, query, title, objective)
            else:
                value, steps = self._tiled(self.tiles, *given, first, last, query, title, objective), 0
            return TopicStatistics(query, title, value, steps)

        n, rows = (len(self.pairs), 1) if self.tiles is None else (len(self.tiles), TILE)
        first, *others = in_blocks(n, block, max(LEAST_ROWS, n_words) // rows)
        sides = ("query", phi_q, model.query_words), ("title", phi_d, model.title_words)
        for side, phi, seen in sides:
            for other in others:
                topic_kernels.add_rows(getattr(first, side), getattr(other, side), seen, parts_of(phi))
            if self.tiles is not None:
                topic_kernels.multiply_rows(getattr(first, side), phi, seen, parts_of(phi))
        found = [first, *others]
        return TopicStatistics(
            first.query[:, :n_topics],
            first.title[:, :n_topics],
            sum(each.objective for each in found),
            sum(each.steps for each in found),
        )

    def _empty_sums(self, model: "TopicModel", first: int) -> tuple[AnyArray, AnyArray]:
        """The tables of the block that begins with a row, cleared."""
        if first not in self.sums:
            shape = len(model.vocabulary), self.settings.n_topics, self.settings.dtype
            self.sums[first] = wide_zeros(*shape), wide_zeros(*shape)
        else:
            for table, seen in zip(self.sums[first], (model.query_words, model.title_words), strict=True):
                topic_kernels.clear_rows(table, seen, parts_of(table))
        return self.sums[first]

    def _tiled(self, tiles: Tiles, phi_q: AnyArray, phi_d: AnyArray, *given: Any) -> float:
        wide, n_topics, alpha, *rest = given
        sides = tiles.queries.arrays, tiles.titles.arrays
        found: float = topic_kernels.theta_sums(
            *sides, tiles.weights, phi_q, phi_d, wide, n_topics, alpha, TILE, *rest, parts_of(wide)
        )
        return found

    def _projected(self, *given: Any) -> tuple[float, int]:
        pairs, settings = self.pairs, self.settings
        sides = _arrays(pairs.queries), _arrays(pairs.titles)
        found: tuple[float, int] = topic_kernels.projected_counts(
            *sides, pairs.weights, *given, settings.projection_steps, settings.tolerance, parts_of(self.wide)
        )
        return found


class Topic(NamedTuple):
    """A topic by its strongest words: (word, probability) as queries and as titles write it."""

    query: list[tuple[str, float]]
    title: list[tuple[str, float]]


@dataclass(frozen=True, eq=False)
class TopicModel(GenerativeModel):
    """φ^q, φ^d and what they share (each words × topics, or empty), and the words that each side has."""

    settings: BLTM
    shared: AnyArray
    own_q: AnyArray
    own_d: AnyArray
    query_words: Mask
    title_words: Mask

    @cached_property
    def phi_q(self) -> AnyArray:
        """P(q|φ_z^q), words × topics."""
        return self._mixed(self.own_q)

    @cached_property
    def phi_d(self) -> AnyArray:
        """P(w|φ_z^d), words × topics."""
        return self._mixed(self.own_d)

    def _mixed(self, own: AnyArray) -> AnyArray:
        tie = self.settings.tie
        if tie == 0:
            return own
        return self.shared if tie == 1 else np.asarray(tie * self.shared + (1 - tie) * own, self.settings.dtype)

    @property
    def log_prior(self) -> float:
        """(β-1) Σ log φ: what the M-step maximises beside the expected log-likelihood."""
        both = self.query_words | self.title_words
        tables = [(self.shared, both), (self.own_q, self.query_words), (self.own_d, self.title_words)]
        logs = [np.log(table[words], dtype=np.float64).sum() for table, words in tables if table.size]
        return float((self.settings.beta - 1) * sum(logs))

    @property
    def width(self) -> int:
        """The topics."""
        return self.settings.n_topics

    def vectors(self, titles: Texts) -> npt.NDArray[np.float32]:
        """θ^d of each title, by folding in."""
        return self._folded(titles, self.phi_d)

    def _folded(self, texts: Texts, phi: AnyArray) -> npt.NDArray[np.float32]:
        """θ of each text over known words, whose topics write them as `phi` says."""
        settings = self.settings
        n_topics, arrays, wide = settings.n_topics, _arrays(texts), widened(phi)
        theta = wide_zeros(len(texts), n_topics, settings.dtype)

        def block(first: int, last: int) -> None:
            topic_kernels.fold_in(
                arrays, wide, n_topics, settings.alpha, settings.fold_iterations, first, last, theta, parts_of(theta)
            )

        in_blocks(len(texts), block)
        return np.array(theta[:, :n_topics], np.float32)

    def expansion(self, query: Query, n: int) -> dict[str, float]:
        """Title words by P(w|q) log(P(w|q)/P(w|C)) with P(w|q) = Σ_z P(w|φ_z^d) P(z|θ^q), the largest first."""
        asked = self.known(self.vocabulary.query(query))
        if not len(asked.words):
            return {}
        p = np.asarray(self.phi_d @ self._folded(asked, self.phi_q)[0], np.float64)
        ratio = np.maximum(p, np.finfo(np.float64).tiny) / self.background[:-1]
        return self.vocabulary.strongest(p * np.log(ratio), n)

    def latent(self, words: Integers, documents: Documents) -> Floats:
        """P_bltm(q|d) = Σ_z P(q|φ_z^q) P(z|θ^d), Clicks (17)."""
        return np.asarray(self.phi_q[words] @ documents.vectors.T, np.float64)

    def topic_name(self, topic: int, n_words: int = 3) -> str:
        """A topic by its number and its strongest title words."""
        best = np.argsort(-self.phi_d[:, topic], kind="stable")[:n_words].tolist()
        return f"topic {topic}: {', '.join(self.vocabulary.words[word] for word in best)}"

    def topics(self, n_words: int = 10) -> list[Topic]:
        """The strongest words of each topic on both sides."""
        sides = [_strongest(table, self.vocabulary, n_words) for table in (self.phi_q, self.phi_d)]
        return [Topic(query, title) for query, title in zip(*sides, strict=True)]


def _strongest(table: AnyArray, vocabulary: Vocabulary, n: int) -> Sequence[list[tuple[str, float]]]:
    order = np.argsort(-table, axis=0, kind="stable")[:n]
    return [
        [(vocabulary.words[word], float(table[word, topic])) for word in order[:, topic].tolist()]
        for topic in range(table.shape[1])
    ]


def _arrays(texts: Texts) -> tuple[AnyArray, AnyArray, AnyArray]:
    return texts.starts, texts.words, texts.counts

"""Topic models of titles and of query-title pairs: PLSA, BLTM, BLTM-PR and its ties between the two vocabularies.

A pair shares one distribution θ of topics; queries and titles have their own words for each topic, φ^q and φ^d
(Clicks §3). MAP estimation by EM; posterior regularisation projects the E-step's posteriors so that query and title
give each topic the same fraction of their words (§3.2).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import AnyArray, Floats, Integers, Mask, sums_of_products
from germane.errors import ParameterError
from germane.latent.backends.cpu import CPU
from germane.latent.backends.protocol import Backend, EStep, Layout, Theta, TopicWords
from germane.latent.generative import GenerativeModel, background_model
from germane.latent.pairs import FoldedDocuments, Pairs, Query, Texts, WordIds, check_above, check_count, check_share
from germane.latent.statistics import TopicStatistics

OnIteration = Callable[[int, TopicStatistics], None]
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

    @property
    def backend(self) -> Backend:
        """Backend that computes sums over pairs."""
        return CPU()

    @property
    def e_step(self) -> EStep:
        """Return the settings of the E-step."""
        steps = self.projection_steps if self.regularised and not self.titles_only else 0
        return EStep(self.n_topics, self.alpha, self.dtype, steps, self.tolerance, self.titles_only)

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

    def update(self, model: "TopicModel", statistics: TopicStatistics, *, in_place: bool = False) -> "TopicModel":
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
        return self.backend.m_step(counts, support, self.beta - 1, over)


def _none(dtype: Any) -> AnyArray:
    return np.zeros((0, 0), dtype)


def _share(tie: float, shared: AnyArray, mixed: AnyArray) -> AnyArray:
    """P(a word came from the shared words | topic, word)."""
    return np.divide(tie * shared, mixed, out=np.zeros_like(mixed), where=mixed > 0)


@dataclass(eq=False)
class TopicPartition:
    """A part of the training pairs with its θ, which every E-step moves on: what one machine keeps."""

    backend: Backend
    layout: Layout
    moving_theta: Theta

    @classmethod
    def of(cls, settings: BLTM, pairs: Pairs) -> "TopicPartition":
        """The part at the start: uniform topics."""
        return cls(settings.backend, *settings.backend.lay_out(settings.e_step, pairs))

    @property
    def theta(self) -> AnyArray:
        """θ of each pair, in their order."""
        return self.backend.theta(self.layout, self.moving_theta)

    def statistics(self, model: "TopicModel", *, objective: bool = False) -> TopicStatistics:
        """One E-step, Clicks (4), (5), (8) and, regularised, (9)-(13)."""
        words = TopicWords(model.phi_q, model.phi_d, model.query_words, model.title_words)
        self.moving_theta, found = self.backend.e_step(self.layout, self.moving_theta, words, objective=objective)
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
        theta = settings.backend.fold_in(texts, phi, settings.alpha, settings.fold_iterations)
        return np.array(theta, np.float32)

    def expansion(self, query: Query, n: int) -> dict[str, float]:
        """Title words by P(w|q) log(P(w|q)/P(w|C)) with P(w|q) = Σ_z P(w|φ_z^d) P(z|θ^q), the largest first."""
        asked = self.known(self.vocabulary.query(query))
        if not len(asked.words):
            return {}
        p = np.asarray(self.phi_d @ self._folded(asked, self.phi_q)[0], np.float64)
        ratio = np.maximum(p, np.finfo(np.float64).tiny) / self.background[:-1]
        return self.vocabulary.strongest(p * np.log(ratio), n)

    def latent(self, words: Integers, documents: FoldedDocuments) -> Floats:
        """P_bltm(q|d) = Σ_z P(q|φ_z^q) P(z|θ^d), Clicks (17)."""
        rows = [sums_of_products(documents.vectors, self.phi_q[word]) for word in words.tolist()]
        return np.array(rows, np.float64).reshape(len(words), len(documents))

    def topic_name(self, topic: int, n_words: int = 3, *, write: Callable[[str], str] = str) -> str:
        """A topic by its number and its strongest title words; `write` gives a term as people read it."""
        best = np.argsort(-self.phi_d[:, topic], kind="stable")[:n_words].tolist()
        return f"topic {topic}: {', '.join(write(self.vocabulary.words[word]) for word in best)}"

    def topics(self, n_words: int = 10) -> list[Topic]:
        """The strongest words of each topic on both sides."""
        sides = [_strongest(table, self.vocabulary, n_words) for table in (self.phi_q, self.phi_d)]
        return [Topic(query, title) for query, title in zip(*sides, strict=True)]


def _strongest(table: AnyArray, vocabulary: WordIds, n: int) -> Sequence[list[tuple[str, float]]]:
    order = np.argsort(-table, axis=0, kind="stable")[:n]
    return [
        [(vocabulary.words[word], float(table[word, topic])) for word in order[:, topic].tolist()]
        for topic in range(table.shape[1])
    ]

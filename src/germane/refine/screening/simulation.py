"""Work that screening would have saved: a labelled review in the proposed order, from one relevant and one irrelevant.

WSS@R = 1 - n_R/N - (1 - R), where recall reaches R after n_R of N documents (Cohen et al. 2006). RRF@10: the share of
the relevant that are among the first tenth read. The two documents to start from count as read in both.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from germane.arrays import Floats, Integers, Labels, Mask
from germane.errors import ParameterError
from germane.lazy import on_first_use
from germane.refine.screening.order import EXPLORE, next_to_read
from germane.refine.screening.ranking import QUICK, Fit, Ranker, RankerParameters
from germane.refine.screening.sampling import quiet_after, shuffled
from germane.refine.screening.stopping import StoppingRule
from germane.refine.screening.weighting import weigh_documents
from germane.types import Document, Mark

with on_first_use(__name__):
    from scipy import stats

GROWTH = 20
"""The simulation learns anew each time a twentieth more has been read."""

Scorer = Callable[[Labels], Floats]
"""Scores of all documents from the labels so far (1, 0, or -1 for unread)."""


@dataclass(frozen=True)
class Run:
    """One simulated reading: the documents in order, and after how many of them the rule said stop."""

    seed: int
    order: Integers
    relevant: Mask
    stop: int

    @property
    def hits(self) -> Integers:
        """The relevant documents found after each one that was read."""
        return np.cumsum(self.relevant, dtype=np.int64)

    def wss(self, recall: float) -> float:
        """Work saved over sampling at this recall."""
        needed = math.ceil(recall * int(self.hits[-1]) - 1e-9)
        n_read = int(np.searchsorted(self.hits, needed)) + 1
        return 1.0 - n_read / len(self.order) - (1.0 - recall)

    @property
    def rrf10(self) -> float:
        """The share of the relevant documents found in the first tenth."""
        return float(self.hits[max(1, len(self.order) // 10) - 1] / self.hits[-1])

    @property
    def recall_at_stop(self) -> float:
        """The share of the relevant documents found when the rule said stop."""
        return float(self.hits[self.stop - 1] / self.hits[-1])

    @property
    def saved_at_stop(self) -> float:
        """The share of the documents left unread when the rule said stop."""
        return 1.0 - self.stop / len(self.order)


class Mean(NamedTuple):
    """A mean over runs, with the Student t interval of 95 % (the mean itself where there is one run)."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Mean":
        """The mean of some values and its interval."""
        x = np.asarray(values, np.float64)
        middle = float(x.mean())
        if len(x) < 2:
            return cls(middle, middle, middle)

        half = float(stats.t.ppf(0.975, len(x) - 1) * x.std(ddof=1) / np.sqrt(len(x)))
        return cls(middle, middle - half, middle + half)


@dataclass(frozen=True)
class Simulation:
    """Summary of the runs. The interval is over starting points of this one review, not over reviews."""

    n_docs: int
    n_relevant: int
    target: float
    runs: tuple[Run, ...]

    @property
    def measures(self) -> dict[str, Mean]:
        """Every measure with its interval."""
        runs = self.runs
        return {
            "WSS@95": Mean.of([run.wss(0.95) for run in runs]),
            "WSS@100": Mean.of([run.wss(1.0) for run in runs]),
            "RRF@10": Mean.of([run.rrf10 for run in runs]),
            "recall at the stop": Mean.of([run.recall_at_stop for run in runs]),
            "work saved at the stop": Mean.of([run.saved_at_stop for run in runs]),
        }

    @property
    def reached(self) -> int:
        """Runs in which recall at the stop was at least the target."""
        return sum(run.recall_at_stop >= self.target - 1e-9 for run in self.runs)


def simulate(
    documents: Sequence[Document],
    labels: Sequence[bool],
    *,
    seeds: int | Iterable[int] = 10,
    explore: float = EXPLORE,
    rule: StoppingRule | None = None,
) -> Simulation:
    """Screen documents whose labels are known, once for each seed (a number n stands for 0, ..., n - 1)."""
    rows = weigh_documents(documents).rows
    wanted = range(seeds) if isinstance(seeds, int) else seeds
    return summary(list(simulated_runs(rows, labels, wanted, explore=explore, rule=rule)), rule)


def summary(runs: Sequence[Run], rule: StoppingRule | None = None) -> Simulation:
    """Runs over one review as one result."""
    if not runs:
        raise ParameterError("a simulation needs one seed at least")
    first = runs[0]
    return Simulation(len(first.order), int(first.hits[-1]), (rule or StoppingRule()).target, tuple(runs))


def simulated_runs(
    rows: sparse.csr_array,
    labels: Sequence[bool] | Mask,
    seeds: Iterable[int],
    *,
    explore: float = EXPLORE,
    rule: StoppingRule | None = None,
    scorer: Callable[[], Scorer] | None = None,
    parameters: RankerParameters | None = None,
) -> Iterator[Run]:
    """A run for each seed, as it is done. `scorer` makes another ranking to compare with."""
    y = np.asarray(labels, bool)
    if y.shape != (rows.shape[0],):
        raise ParameterError(f"{rows.shape[0]:,} documents need as many labels, not {y.size:,}")
    if not y.any() or y.all():
        raise ParameterError("a simulation needs a relevant document and one that is not")
    rule = rule or StoppingRule()
    ranker = Ranker(rows, **asdict(parameters or RankerParameters()))
    for seed in seeds:
        order = _reading_order(y, rows, seed, explore, scorer() if scorer else WarmScorer(ranker))
        yield stopped_run(seed, order, y, rule)


def stopped_run(seed: int, order: Integers, y: Mask, rule: StoppingRule) -> Run:
    """Reading in this order, or in random order from where the rule's sample begins, and when the rule says stop."""
    if not rule.sample:
        return Run(seed, order, y[order], rule.first_stop(len(y), y[order]))
    begun = quiet_after(len(y), y[order], rule.target)
    if begun is None:
        return Run(seed, order, y[order], len(y))
    draws = shuffled(len(y), seed)
    order = np.concatenate([order[:begun], draws[np.isin(draws, order[begun:])]])
    return Run(seed, order, y[order], rule.first_stop(len(y), y[order], begun))


class WarmScorer:
    """Scores from the ranking, each fit starting where the one before ended: quick, and good enough for an order."""

    def __init__(self, ranker: Ranker) -> None:
        self._ranker = ranker
        self._fit: Fit | None = None

    def __call__(self, labels: Labels) -> Floats:
        self._fit = self._ranker.fit(labels, self._fit, QUICK)
        return self._fit.scores


def starting_points(y: Mask, seed: int) -> tuple[int, int]:
    """A relevant and an irrelevant document, drawn by the seed."""
    rng = np.random.default_rng([seed, len(y)])
    return int(rng.choice(np.flatnonzero(y))), int(rng.choice(np.flatnonzero(~y)))


def _reading_order(y: Mask, rows: sparse.csr_array, seed: int, explore: float, scores: Scorer) -> Integers:
    labels = np.full(len(y), Mark.UNMARKED, np.int8)
    order = list(starting_points(y, seed))
    labels[order] = y[order]
    while len(order) < len(y):
        batch = max(1, len(order) // GROWTH)
        chosen = [i for i, _ in next_to_read(scores(labels), labels, rows, batch, explore)]
        labels[chosen] = y[chosen]
        order += chosen
    return np.array(order, np.int64)

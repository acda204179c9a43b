"""The outcome of one refinement: a new order, probabilities, a predicted set, topics, and the reasons for all of it."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import ClassVar

import numpy as np

from germane.arrays import Labels
from germane.errors import ParameterError
from germane.lm.parameters import whole
from germane.refine.interest import Interest, interest
from germane.refine.method import Estimate
from germane.refine.prepared import PreparedResults
from germane.refine.reasons import Change, Explanation, MovingWords, Reason, WordAmounts, reasons
from germane.tables import html, text
from germane.types import Mark
from germane.wording import counted

MARKED = {True: "marked relevant", False: "marked not relevant"}
PASSED_OVER = "passed over"
OTHERS_MOVED = "others moved"
SHOWN = 20
"""How many results are shown in a shell and in notebooks."""


@dataclass(frozen=True, slots=True)
class RankedResult:
    """One result: its `rank` now and `before` (both from 1), P(relevant), and whether it is in the predicted set.

    `mark` is what the person said (None: nothing). A result is `passed_over` if it is taken for not relevant because it
    stands unmarked above the last relevant mark. Marks decide for themselves: probability 1 or 0. Without any relevant
    mark there is nothing to estimate from, and `probability` is None. `log_odds` is the method's own number for it.
    """

    id: str
    rank: int
    before: int
    probability: float | None
    predicted: bool
    mark: bool | None
    passed_over: bool
    log_odds: float | None


@dataclass(frozen=True, slots=True)
class SetMeasures:
    """Precision TP/(TP+FP), recall TP/(TP+FN) and F1 = 2·P·R/(P+R) of a set, Refine (16)-(18); 0 where it is 0/0."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, hits: float, predicted: float, relevant: float) -> "SetMeasures":
        """From how many of the predicted are relevant, how many are predicted, and how many are relevant."""
        precision = hits / predicted if predicted else 0.0
        recall = hits / relevant if relevant else 0.0
        return cls(precision, recall, 2.0 * hits / (predicted + relevant) if predicted + relevant else 0.0)


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic among the results that are not relevant: its strongest words, and the results that belong to it."""

    words: tuple[Reason, ...]
    ids: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Refinement:
    """The results in their new order. `method` says which method ran, and `reason` why.

    The order: results marked relevant, then those neither marked nor passed over by falling log-odds, then those passed
    over, then those marked not relevant; equals stay in the order they had. `threshold` is the least probability in the
    predicted set (None where there is no probability, or nothing is predicted); `decision` how that set was decided:
    "f1" (best expected F1), "odds" (log-odds above 0, the paper's) or "probability" (at least `threshold`).
    """

    method: str
    reason: str
    results: tuple[RankedResult, ...]
    marks: Mapping[str, bool]
    threshold: float | None
    decision: str
    _prepared: PreparedResults = field(repr=False)
    _labels: Labels = field(repr=False)
    _refined: Estimate | None = field(repr=False)
    _adds_up: bool = field(repr=False)

    def __iter__(self) -> Iterator[RankedResult]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, place: int) -> RankedResult:
        return self.results[place]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._summary()}>\n{text(self._HEADER, self._rows())}"

    def _repr_html_(self) -> str:
        """The first results as a table, for notebooks."""
        return f"<p>{escape(self._summary())}</p>{html(self._HEADER, self._rows())}"

    def _summary(self) -> str:
        return f"{counted(len(self), 'result')} by {self.method}, {counted(len(self.marks), 'mark')}: {self.reason}"

    def _rows(self) -> list[list[str]]:
        said = {True: "relevant", False: "not relevant", None: ""}
        return [
            [str(one.rank), str(one.before), "" if one.probability is None else f"{one.probability:.2f}", one.id,
             said[one.mark]]
            for one in self.results[:SHOWN]
        ]  # fmt: skip

    _HEADER: ClassVar = ("", "before", "P(relevant)", "id", "mark")

    @property
    def ids(self) -> list[str]:
        """Ids in the new order."""
        return [result.id for result in self.results]

    @property
    def predicted(self) -> list[str]:
        """Ids of the predicted set, in the new order."""
        return [result.id for result in self.results if result.predicted]

    @cached_property
    def expected(self) -> SetMeasures | None:
        """Precision, recall and F1 that the probabilities lead to expect of the predicted set, over the open results.

        Ratios of expectations: Σ_{i∈S} p_i / |S|, Σ_{i∈S} p_i / Σ_i p_i, 2·Σ_{i∈S} p_i / (|S| + Σ_i p_i). None where
        there are no probabilities.
        """
        open_results = [result for result in self.results if result.mark is None and not result.passed_over]
        if any(result.probability is None for result in open_results) or not self._has_relevant:
            return None
        chosen = sum(result.probability or 0.0 for result in open_results if result.predicted)
        total = sum(result.probability or 0.0 for result in open_results)
        return SetMeasures.of(chosen, sum(result.predicted for result in open_results), total)

    def measured(self, relevant: Collection[str]) -> SetMeasures:
        """Precision (16), recall (17) and F1 (18) of Refine of the predicted set, given the ids that are relevant.

        Over the open results: those marked or passed over are known, and are the paper's training set.
        """
        for result_id in relevant:
            self._prepared.place(result_id)
        wanted = set(relevant)
        open_results = [result for result in self.results if result.mark is None and not result.passed_over]
        hits = sum(result.predicted and result.id in wanted for result in open_results)
        n_relevant = sum(result.id in wanted for result in open_results)
        return SetMeasures.of(hits, sum(result.predicted for result in open_results), n_relevant)

    @property
    def _has_relevant(self) -> bool:
        return True in self.marks.values()

    @cached_property
    def ranks(self) -> dict[str, int]:
        """The new rank of each id, from 1."""
        return {result.id: result.rank for result in self.results}

    @cached_property
    def components(self) -> tuple[Topic, ...]:
        """The topics found among the non-relevant, if the method looks for any (`mmem-...`)."""
        if self._refined is None:
            return ()
        names = self._prepared
        return tuple(
            Topic(
                tuple(
                    Reason(names.words[word], names.terms[word], weight)
                    for word, weight in zip(part.words.tolist(), part.weights.tolist(), strict=True)
                    if word < len(names.terms)  # a list of empty texts has a word that nobody wrote
                ),
                tuple(names.ids[member] for member in part.members.tolist()),
            )
            for part in self._refined.components
        )

    def explain(self, id: str | int, top: int = 10) -> Explanation:
        """The words of a result that speak for it and against it, the `top` strongest of each."""
        place = self._prepared.place(str(id))
        whole("top", top, least=0)
        if self._refined is None:
            return Explanation(self._prepared.ids[place], None, 0.0, (), (), True)
        found = self._refined.contributions(place)
        in_favour, against = reasons(self._prepared, found, top)
        log_odds = float(self._refined.log_odds[place])
        of_words = float(np.sum(found.amounts))
        return Explanation(self._prepared.ids[place], log_odds, of_words, in_favour, against, self._adds_up)

    def interest(self, top: int = 10) -> Interest:
        """What is wanted, as words: the strongest of the predicted set, and those of what was marked not relevant."""
        whole("top", top, least=0)
        if self._refined is None:
            return Interest((), ())
        places = [(self._prepared.place(result.id), result) for result in self.results]
        wanted = [place for place, result in places if result.predicted]
        unwanted = [place for place, result in places if result.mark is False]
        return interest(self._prepared, self._refined, wanted, unwanted, top)

    def changes(self, previous: "Refinement | None" = None, among: Collection[str] | None = None) -> list[Change]:
        """The results that moved since the original order, or since `previous`, in the new order.

        `among`: those of these ids alone, which is less work where only some are looked at.

        `ParameterError` if `previous` refined other results, or words cut in another way.
        """
        if previous is not None and not previous._prepared.same_as(self._prepared):
            raise ParameterError("the two refinements are of different lists, or of one list analysed in two ways")
        causes = self._causes
        before_causes = previous._causes if previous is not None else {}
        moving = MovingWords(self._prepared, self._amounts, previous._amounts if previous is not None else None)
        found = []
        for result in self.results:
            before = result.before if previous is None else previous.ranks[result.id]
            if before == result.rank or (among is not None and result.id not in among):
                continue
            cause, earlier = causes.get(result.id), before_causes.get(result.id)
            if cause != earlier:
                found.append(Change(result.id, before, result.rank, cause or f"no longer {earlier}", ()))
                continue
            place = self._prepared.place(result.id)
            words = moving.of(place, before > result.rank)
            found.append(Change(result.id, before, result.rank, "words" if words else OTHERS_MOVED, words))
        return found

    @cached_property
    def _causes(self) -> dict[str, str]:
        """What decided for a result before any word: a mark, or being passed over."""
        passed = {result.id: PASSED_OVER for result in self.results if result.passed_over}
        return passed | {result_id: MARKED[mark] for result_id, mark in self.marks.items()}

    @cached_property
    def _amounts(self) -> WordAmounts | None:
        if self._refined is None:
            return None
        unmarked = np.flatnonzero(self._labels == Mark.UNMARKED).tolist()
        rows = unmarked or list(range(len(self._prepared)))
        return WordAmounts(len(self._prepared.terms), self._refined.contributions, rows)

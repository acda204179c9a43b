"""`Refiner`: a list of results and a few marks in, the list in a better order out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self, TypeAlias

import numpy as np

from germane.arrays import Floats, Labels
from germane.errors import ParameterError
from germane.lm.parameters import fraction, whole
from germane.refine.calibration import f1_threshold
from germane.refine.carried import demoted
from germane.refine.interest import MOST_WEIGHT, WordEdits, edited
from germane.refine.method import Estimate
from germane.refine.prepared import PreparedResults
from germane.refine.refinement import RankedResult, Refinement
from germane.refine.registry import method_named
from germane.text import Analyzer
from germane.types import Mark, Marks
from germane.wording import counted

AnyMarks: TypeAlias = Marks | Mapping[str, bool] | Mapping[int, bool] | None

F1, ODDS, PROBABILITY = "f1", "odds", "probability"
"""How the predicted set is decided: the best expected F1, log-odds above 0, or P at least as large as a number."""
CARRIED, ORIGINAL, DEMOTION = "carried evidence", "original order", "demotion"
"""What `Refinement.method` says where `auto` or the lack of a relevant mark decided."""


@dataclass(frozen=True, slots=True)
class MarkChange:
    """One step of a person's marking: what the mark was before (None: none) and after."""

    id: str
    before: bool | None
    after: bool | None


class Refiner:
    """Re-ranks a result list by what a person marked and by what marked and unmarked texts say together.

    `method`: a name of `germane.refine.registry.METHOD_NAMES`, with its parameters as further keywords. "auto" is
    carried evidence, which needs no switch between methods: on the benchmark it is above all others with and without
    rejected results (docs/refine.md). Without a relevant mark no method has a result, and every name falls back:
    nothing marked keeps the order, only rejections let what is like them sink (`carried.demoted`).
    `analyzer`: how texts become words; English stems unless said otherwise.
    `implicit_negatives`: unmarked results above the last relevant mark were seen, and count as not relevant (Refine
    §VI).
    `threshold`: the least P(relevant) of the predicted set, or "f1" (None means the same) for the one whose expected F1
    over the results neither marked nor passed over is best, or "odds" for the paper's own decision: log-odds above 0.

    The analysis of a list is kept: refitting the same results with other marks costs the refinement alone. Marks decide
    the outcome and their order does not, so `unmark` and `undo` restore the former state to the last bit.

    >>> texts = ["jaguar cars race", "the jaguar, a cat of the forest", "cats of the forest hunt", "cars and engines"]
    >>> Refiner().fit(texts, {"2": True}).rank().ids
    ['2', '3', '4', '1']
    """

    def __init__(
        self,
        method: str = "auto",
        *,
        analyzer: Analyzer | None = None,
        implicit_negatives: bool = True,
        threshold: float | str | None = None,
        random_state: int = 0,
        **method_parameters: Any,
    ) -> None:
        if analyzer is not None and not isinstance(analyzer, Analyzer):
            raise ParameterError(f"analyzer must be a germane.Analyzer, not {type(analyzer).__name__}")
        if isinstance(threshold, str) and threshold not in (F1, ODDS):
            raise ParameterError(f"threshold is 'f1', 'odds' or a number between 0 and 1, not '{threshold}'")
        self.method = method
        self.analyzer = analyzer if analyzer is not None else Analyzer()
        self.implicit_negatives = implicit_negatives
        self.decision = F1 if threshold is None else threshold if isinstance(threshold, str) else PROBABILITY
        self.threshold = None if threshold is None or isinstance(threshold, str) else fraction("threshold", threshold)
        self.random_state = whole("random_state", random_state, least=0)
        chosen = method_named(method, **method_parameters)
        drawn = any(parameter.name == "random_state" for parameter in fields(chosen))  # type: ignore[arg-type]
        self._method = replace(chosen, random_state=random_state) if drawn else chosen  # type: ignore[type-var]
        self._prepared: PreparedResults | None = None
        self._marks: dict[str, bool] = {}
        self._history: list[MarkChange] = []
        self._edits = WordEdits()

    def prepare(self, results: Iterable[Any]) -> Self:
        """Analyse a list, unless it is the one already analysed. Marks of another list are forgotten."""
        results = list(results) if not isinstance(results, str | bytes | Mapping) else results
        if self._prepared is None or not self._prepared.holds(results, self.analyzer):
            self._prepared = PreparedResults(results, self.analyzer)
            self._marks, self._history, self._edits = {}, [], WordEdits()
        return self

    def edit(
        self, *, dropped: Iterable[str] = (), added: Iterable[str] = (), weighed: Mapping[str, float] | None = None
    ) -> Self:
        """Say of words that they shall not count (`dropped`), that results with them are wanted (`added`), or by which
        factor they shall count more or less (`weighed`).

        They replace those said before; `refine.interest` has the formula. Marks decide for themselves all the same.
        """
        factors = dict(weighed or {})
        for word, factor in factors.items():
            if not 0.0 <= factor <= MOST_WEIGHT:
                raise ParameterError(f"the factor of '{word}' lies between 0 and {MOST_WEIGHT:g}, not {factor!r}")
        self._edits = WordEdits(tuple(dropped), tuple(added), tuple(factors.items()))
        return self

    def fit(self, results: Iterable[Any], marks: AnyMarks = None) -> Self:
        """Take a list (analysed once) and all marks of it; earlier marks and their history are forgotten.

        `results`: texts, pairs (id, text), Documents, Hits or mappings with `title`, `abstract` or `text`. Texts
        without an id have the number of their place, from 1.
        """
        return self.prepare(results).remark(marks)

    def remark(self, marks: AnyMarks) -> Self:
        """Replace all marks, and begin a new history. `UnknownDocumentError` for an id that no result has."""
        if isinstance(marks, Mapping):
            wrong = [mark for mark in marks.values() if not isinstance(mark, bool | np.bool_)]
            if wrong:
                raise ParameterError(f"a mark is True (relevant) or False (not relevant), not {wrong[0]!r}")
            marks = {str(result_id): bool(mark) for result_id, mark in marks.items()}
        elif marks is not None and not isinstance(marks, Marks):
            raise ParameterError(
                f"marks are a mapping from ids to True or False, or germane.types.Marks, not {type(marks).__name__}"
            )
        given = Marks.of(marks)
        found = dict.fromkeys(given.relevant, True) | dict.fromkeys(given.not_relevant, False)
        for result_id in found:
            self._list.place(result_id)
        self._marks, self._history = found, []
        return self

    def mark(self, id: str | int, relevant: bool) -> Self:
        """Mark one result; another mark of it is replaced."""
        if not isinstance(relevant, bool | np.bool_):
            raise ParameterError(f"a mark is True (relevant) or False (not relevant), not {relevant!r}")
        return self._step(str(id), bool(relevant))

    def unmark(self, id: str | int) -> Self:
        """Take a mark back. `ParameterError` if the result has none."""
        if str(id) in self._list.ids and str(id) not in self._marks:
            raise ParameterError(f"the result '{id}' is not marked")
        return self._step(str(id), None)

    def undo(self) -> Self:
        """Take back the last `mark` or `unmark`. `ParameterError` if there is none left."""
        if not self._history:
            raise ParameterError("there is nothing to undo")
        last = self._history.pop()
        self._set(last.id, last.before)
        return self

    @property
    def marks(self) -> dict[str, bool]:
        """The marks now: id to True (relevant) or False."""
        return dict(self._marks)

    @property
    def history(self) -> tuple[MarkChange, ...]:
        """Every `mark` and `unmark` since `fit` that was not undone, oldest first."""
        return tuple(self._history)

    def rank(self) -> Refinement:
        """Refine with the marks as they are now."""
        prepared, labels = self._list, self._labels()
        refined, method, reason = self._run(prepared, labels)
        refined = edited(prepared, refined, self._edits)
        probability, cut = self._probability(refined, labels)
        return Refinement(
            method,
            reason,
            self._ranked(prepared, labels, refined, probability, cut),
            self.marks,
            cut,
            self.decision,
            prepared,
            labels,
            refined,
            self._method.applied(labels).contributions_add_up or method == DEMOTION,
        )

    @property
    def _list(self) -> PreparedResults:
        if self._prepared is None:
            raise ParameterError("there is no result list yet: call fit(results, marks) or prepare(results) first")
        return self._prepared

    def _step(self, result_id: str, mark: bool | None) -> Self:
        self._list.place(result_id)
        self._history.append(MarkChange(result_id, self._marks.get(result_id), mark))
        self._set(result_id, mark)
        return self

    def _set(self, result_id: str, mark: bool | None) -> None:
        if mark is None:
            self._marks.pop(result_id, None)
        else:
            self._marks[result_id] = mark

    def _labels(self) -> Labels:
        """Marks in list order, the results passed over among the rejected."""
        labels = np.full(len(self._list), Mark.UNMARKED, np.int8)
        for result_id, mark in self._marks.items():
            labels[self._list.place(result_id)] = Mark.RELEVANT if mark else Mark.NOT_RELEVANT
        relevant = np.flatnonzero(labels == Mark.RELEVANT)
        if self.implicit_negatives and len(relevant):
            above = labels[: relevant[-1]]
            above[above == Mark.UNMARKED] = Mark.NOT_RELEVANT
        return labels

    def _run(self, prepared: PreparedResults, labels: Labels) -> tuple[Estimate | None, str, str]:
        """What the method found, the name of what ran, and why it ran."""
        marked = list(self._marks.values())
        passed = int((labels != Mark.UNMARKED).sum()) - len(marked)
        if True not in marked and False not in marked:
            return None, ORIGINAL, "nothing is marked, so the order is kept"
        if True not in marked:
            reason = (
                f"{_results(len(marked))} marked not relevant and none relevant: what is like them sinks, the rest "
                "keeps its order; probabilities need a relevant mark"
            )
            return demoted(prepared.list, labels), DEMOTION, reason
        refined = self._method.refine(prepared.list, labels)
        counts = f"{marked.count(True)} relevant and {marked.count(False)} not relevant marks"
        if passed:
            counts += f", {_results(passed)} above the last relevant one taken for not relevant"
        if self.method == "auto":
            return refined, CARRIED, f"auto takes carried evidence for any marks that hold a relevant one; {counts}"
        applied = self._method.applied(labels).name
        if applied != self.method:
            return refined, applied, f"{self.method} takes {applied} for these marks; {counts}"
        return refined, self.method, f"asked for by name; {counts}"

    def _probability(self, refined: Estimate | None, labels: Labels) -> tuple[Floats | None, float | None]:
        """P(relevant), labels deciding for themselves, and the least of the predicted set."""
        if refined is None or not (labels == Mark.RELEVANT).any():
            return None, None
        estimated = self._method.probabilities(refined.log_odds, labels)
        unmarked = labels == Mark.UNMARKED
        if self.decision == ODDS:
            chosen = estimated[unmarked & (refined.log_odds > 0)]
            cut = float(chosen.min()) if len(chosen) else None
        else:
            cut = f1_threshold(estimated[unmarked]) if self.threshold is None else self.threshold
        return np.where(labels == Mark.UNMARKED, estimated, labels == Mark.RELEVANT), cut

    def _ranked(
        self,
        prepared: PreparedResults,
        labels: Labels,
        refined: Estimate | None,
        probability: Floats | None,
        cut: float | None,
    ) -> tuple[RankedResult, ...]:
        marks = [self._marks.get(result_id) for result_id in prepared.ids]
        rejected = (labels == Mark.NOT_RELEVANT).tolist()
        passed = [mark is None and against for mark, against in zip(marks, rejected, strict=True)]
        scores = np.zeros(len(prepared)) if refined is None else refined.log_odds
        chosen = np.zeros(len(prepared), bool)
        if probability is not None and cut is not None:
            chosen = scores > 0 if self.decision == ODDS else probability >= cut
        groups = np.array([_group(mark, over) for mark, over in zip(marks, passed, strict=True)])
        # Those a person marked stay in the order they had among themselves: no score is to judge a judgement.
        falling = np.where([mark is None for mark in marks], -scores, 0.0)
        order = np.arange(len(prepared))
        if self._marks or self._edits.added:
            order = np.lexsort((order, falling, groups))
        found = []
        for rank, place in enumerate(order.tolist(), start=1):
            p = None if probability is None else float(probability[place])
            found.append(
                RankedResult(
                    id=prepared.ids[place],
                    rank=rank,
                    before=place + 1,
                    probability=p,
                    predicted=bool(
                        labels[place] == Mark.RELEVANT or (labels[place] == Mark.UNMARKED and chosen[place])
                    ),
                    mark=marks[place],
                    passed_over=passed[place],
                    log_odds=None if refined is None else float(scores[place]),
                )
            )
        return tuple(found)


def _group(mark: bool | None, passed_over: bool) -> int:
    """Relevant marks first, then what is open, what was passed over, and the rejected."""
    if mark is None:
        return 2 if passed_over else 1
    return 0 if mark else 3


def _results(n: int) -> str:
    return counted(n, "result")

"""Screening: a list of references, the decisions made so far, and what follows from them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np

from germane.arrays import Floats, Labels, Mask
from germane.data.writing import format_for, write_documents
from germane.errors import InputError, ParameterError, UnknownDocumentError
from germane.refine.screening.annotations import NO_ANNOTATION, Annotation
from germane.refine.screening.decisions import read_verdicts, verdicts, write_decisions, write_verdicts
from germane.refine.screening.hypergeometric import Silence
from germane.refine.screening.order import EXPLORE, next_to_read
from germane.refine.screening.ranking import Fit, Ranker, RankerParameters
from germane.refine.screening.remaining import Remaining, calibrated, can_calibrate, remaining
from germane.refine.screening.sampling import Sample, sample_of
from germane.refine.screening.stopping import Recommendation, StoppingRule
from germane.refine.screening.verdicts import NO_VERDICT, Verdict, with_verdict
from germane.refine.screening.weighting import weigh_documents
from germane.text import Analyzer
from germane.types import Document, Mark

Which = Literal["included", "excluded", "decided", "unread", "all"]
WHICH: tuple[str, ...] = get_args(Which)
"""Of which records a file may be written."""
WORDS = 5
"""Words given as the reason for a suggestion."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a document and what it adds to the log-odds of being relevant."""

    word: str
    amount: float


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A document to read: how likely it is relevant, the words that speak most for it, and why it is proposed.

    `explores`: as one unlike those read; `sampled`: as the next of a random sample.
    """

    id: str
    probability: float
    words: tuple[Word, ...]
    explores: bool
    sampled: bool = False


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a document has its score: score = bias + Σ of all words' amounts, the largest first in either direction."""

    id: str
    probability: float
    score: float
    bias: float
    words: tuple[Word, ...]
    decision: bool | None


class Screening:
    """Decide on documents one by one; ask at any time what to read next, how much remains, and whether to stop.

    Everything that is answered follows from the documents and the decisions in their order alone: taking a decision
    back gives exactly the answers from before it. With `store`, a file of decisions, those in it are taken over, and
    each change is on disk before `decide`, `undecide`, `postpone` or `put` returns.

    `first`: ids in the order in which to read them until a relevant document is known, a search's for example. Without
    it, and after them, the most typical documents come first.

    `rule`: when to stop. With `StoppingRule(sample=True)` the documents come in an order drawn by `random_state` once
    reading has gone quiet.

    >>> documents = [Document("a", {"title": "copper in the liver"}), Document("b", {"title": "copper wires"})]
    >>> screening = Screening([*documents, Document("c", {"title": "liver copper levels"})])
    >>> screening.decide("a", True)
    >>> screening.decide("b", False)
    >>> [suggestion.id for suggestion in screening.next(5)]
    ['c']
    """

    def __init__(
        self,
        documents: Iterable[Document],
        *,
        decisions: Mapping[str, bool] | None = None,
        store: str | Path | None = None,
        first: Sequence[str] = (),
        explore: float = EXPLORE,
        rule: StoppingRule | None = None,
        analyzer: Analyzer | None = None,
        random_state: int = 0,
        parameters: RankerParameters | None = None,
    ) -> None:
        listed = list(documents)
        self.documents = {document.id: document for document in listed}
        if not listed:
            raise InputError("there are no documents to screen")
        if len(self.documents) < len(listed):
            repeated = Counter(document.id for document in listed).most_common(1)[0][0]
            raise InputError(f"the id '{repeated}' comes more than once")
        if not 0.0 <= explore <= 1.0:
            raise ParameterError(f"explore is a share between 0 and 1, not {explore}")
        self.explore = explore
        self.rule = rule or StoppingRule()
        self._places = {doc_id: place for place, doc_id in enumerate(self.documents)}
        self._ids = list(self.documents)
        self._analyzer = analyzer
        self._random_state = random_state
        self._parameters = parameters or RankerParameters()
        self._first = [self._places[self.check(doc_id)] for doc_id in first]
        self._decisions: dict[str, bool] = {}
        self._annotations: dict[str, Annotation] = {}
        self._store: Path | None = None
        self._answers: _Answers | None = None
        if store is not None:
            if Path(store).exists():
                self.import_decisions(store)
            self._store = Path(store)
        self._take_over(decisions or {})

    # -- decisions -----------------------------------------------------------------------------------------------------

    @property
    def decisions(self) -> Mapping[str, bool]:
        """What was decided, in the order of reading."""
        return MappingProxyType(self._decisions)

    @property
    def annotations(self) -> Mapping[str, Annotation]:
        """Reasons, notes, and which documents wait for a decision, by id."""
        return MappingProxyType(self._annotations)

    def decide(self, doc_id: str, relevant: bool, *, reason: str = "", note: str | None = None) -> None:
        """Include (True) or exclude (False) a document. A second decision on it replaces the first, in its place.

        `reason`: why it is excluded. `note`: any text; None leaves the note that it has.
        """
        if reason and relevant:
            raise ParameterError(f"document '{doc_id}' is included: a reason is for one that is excluded")
        note = self._annotations.get(doc_id, NO_ANNOTATION).note if note is None else note
        self.put(doc_id, self._checked(doc_id, relevant), Annotation.of(reason, note))

    def undecide(self, doc_id: str) -> None:
        """Take the decision on a document back: it is unread again. Without a decision nothing changes."""
        self.put(doc_id, None, Annotation(note=self._annotations.get(doc_id, NO_ANNOTATION).note))

    def postpone(self, doc_id: str) -> None:
        """Maybe: the document is undecided, and waits until it is decided."""
        self.put(doc_id, None, self._annotations.get(doc_id, NO_ANNOTATION)._replace(reason="", maybe=True))

    def put(self, doc_id: str, decision: bool | None, annotation: Annotation = NO_ANNOTATION) -> None:
        """Set all that is said of a document at once: the decision (None: undecided), and the annotation."""
        known = self.check(doc_id)
        if decision is None:
            decisions = {other: made for other, made in self._decisions.items() if other != known}
        else:
            decisions = self._decisions | {known: decision}
        annotations = {other: said for other, said in self._annotations.items() if other != known}
        self._change(decisions, annotations if annotation == NO_ANNOTATION else annotations | {known: annotation})

    def import_decisions(self, path: str | Path) -> int:
        """Take over the decisions of a file after those made already; returns how many it holds.

        An id that is not among the documents, or a decision against one made before, is an error, and nothing changes.
        """
        said = read_verdicts(path)
        found = {doc_id: each.included for doc_id, each in said.items() if each.included is not None}
        annotations = {doc_id: each.annotation for doc_id, each in said.items() if each.annotation != NO_ANNOTATION}
        try:
            self._take_over(found, annotations)
        except (UnknownDocumentError, ParameterError) as error:
            raise InputError(str(error), source=str(path)) from None
        return len(found)

    def export_decisions(self, path: str | Path) -> None:
        """Write all decisions, whole or not at all; the ending (.csv, .tsv, .jsonl, .ris) is the format."""
        write_verdicts(path, self.verdicts(), self.documents)

    def verdicts(self) -> dict[str, Verdict]:
        """All that was said of documents, in the order of reading: decisions, annotations, and who said it when."""
        return verdicts(self._decisions, self._annotations)

    def export_records(self, path: str | Path, which: Which = "included", *, format: str | None = None) -> int:
        """Write whole records, every field and tag that was read, in the order of reading; returns how many.

        The ending (.ris, .nbib, .bib, .csv, .tsv, .jsonl) is the format, unless one is named. `which`: the included
        ones, the excluded ones, the decided ones (both), the unread ones (in the order of the list), or all, the
        decided ones first. Each has with it what was said of it (`verdicts.py`), as `import_decisions` reads it from
        .ris, .csv, .tsv and .jsonl.
        """
        chosen = format_for(path, format)
        return write_documents(path, self.records(which, chosen), chosen)

    def records(self, which: Which, format: str) -> list[Document]:
        """The records that `export_records` writes."""
        if which not in WHICH:
            raise ParameterError(f"which records is one of {', '.join(WHICH)}, not '{which}'")
        wanted = [doc_id for doc_id, included in self._decisions.items()
                  if which in ("decided", "all") or which == ("included" if included else "excluded")]  # fmt: skip
        if which in ("unread", "all"):
            wanted += [doc_id for doc_id in self.documents if doc_id not in self._decisions]
        said = self.verdicts()
        return [with_verdict(self.documents[doc_id], said.get(doc_id, NO_VERDICT), format) for doc_id in wanted]

    def _take_over(self, decisions: Mapping[str, bool], annotations: Mapping[str, Annotation] | None = None) -> None:
        said = {self.check(doc_id): annotation for doc_id, annotation in (annotations or {}).items()}
        wanted = {self.check(doc_id): self._checked(doc_id, relevant) for doc_id, relevant in decisions.items()}
        for doc_id, relevant in wanted.items():
            if self._decisions.get(doc_id, relevant) is not relevant:
                raise ParameterError(f"document '{doc_id}' was decided the other way already")
        self._change(self._decisions | wanted, self._annotations | said)

    def _change(self, decisions: dict[str, bool], annotations: dict[str, Annotation]) -> None:
        """Disk first: what cannot be written is not decided."""
        same = list(decisions.items()) == list(self._decisions.items())
        if same and annotations == self._annotations:
            return
        if self._store is not None:
            write_decisions(self._store, decisions, self.documents, annotations)
        self._decisions, self._annotations = decisions, annotations
        if not same:
            self._answers = None

    def check(self, doc_id: str) -> str:
        """The id, if it is one of the list's; `UnknownDocumentError` otherwise."""
        if doc_id not in self._places:
            raise UnknownDocumentError(f"there is no document '{doc_id}' in this list")
        return doc_id

    @staticmethod
    def _checked(doc_id: str, relevant: bool) -> bool:
        if not isinstance(relevant, bool | np.bool_):
            raise ParameterError(f"the decision on '{doc_id}' must be True or False, not {relevant!r}")
        return bool(relevant)

    # -- what follows from them ----------------------------------------------------------------------------------------

    def next(self, n: int = 10) -> list[Suggestion]:
        """The next n documents to read, best first; fewer if fewer are unread."""
        now = self._now
        sample = self._sample
        if sample is None:
            first = () if True in self._decisions.values() else self._first
            chosen = next_to_read(now.fit.scores, now.labels, self._ranker.rows, n, self.explore, first)
        else:
            unread = sample.places[now.labels[sample.places] == Mark.UNMARKED]
            chosen = [(int(place), False) for place in unread[: max(0, n)]]
        return [
            Suggestion(
                self._ids[place],
                float(now.probabilities[place]),
                tuple(word for word in self._words(place) if word.amount > 0.0)[:WORDS],
                explores,
                sample is not None,
            )
            for place, explores in chosen
        ]

    def probability(self, doc_id: str) -> float:
        """P(relevant) of a document, calibrated (`remaining.calibrated`)."""
        return float(self._now.probabilities[self._places[self.check(doc_id)]])

    @property
    def calibrated(self) -> bool:
        """Are there decisions enough, two of each kind, for probabilities that can be taken at their word?"""
        return can_calibrate(self._now.labels)

    def explain(self, doc_id: str) -> Explanation:
        """The words that speak for and against a document."""
        place, now = self._places[self.check(doc_id)], self._now
        return Explanation(
            doc_id,
            float(now.probabilities[place]),
            float(now.fit.scores[place]),
            now.fit.bias,
            self._words(place),
            self._decisions.get(doc_id),
        )

    def estimate(self) -> Remaining:
        """How many relevant documents are unread."""
        now = self._now
        known = self.calibrated or not (now.labels == Mark.UNMARKED).any()
        unread = now.probabilities[now.labels == Mark.UNMARKED] if known else None
        return remaining(len(self._ids), self._read, unread, self.rule, self._silence)

    def recommendation(self) -> Recommendation:
        """Stop, or go on, and why."""
        reading = True in self._decisions.values() and len(self._decisions) < len(self._ids)
        if self.rule.sample and reading and self._sample is None:
            return self.rule.before_the_sample()
        return self.rule.recommend(len(self._ids), self._read, self._silence)

    @property
    def _sample(self) -> Sample | None:
        """The random sample of the unread, where the rule wants one and it has begun."""
        if not self.rule.sample:
            return None
        places = [self._places[doc_id] for doc_id in self._decisions]
        return sample_of(len(self._ids), places, self._read, self.rule.target, self._random_state)

    @property
    def _silence(self) -> Silence | None:
        """What the rule tests: None for the silence since the last find."""
        if not self.rule.sample:
            return None
        sample = self._sample
        return Silence(len(self._ids) - len(self._decisions), 0) if sample is None else sample.silence

    @property
    def _read(self) -> Mask:
        return np.fromiter(self._decisions.values(), bool, len(self._decisions))

    @property
    def _now(self) -> "_Answers":
        if self._answers is None:
            labels = np.full(len(self._ids), Mark.UNMARKED, np.int8)
            for doc_id, relevant in self._decisions.items():
                labels[self._places[doc_id]] = relevant
            self._answers = _Answers(self._ranker, labels)
        return self._answers

    @cached_property
    def _weighted(self) -> tuple[Ranker, list[str]]:
        weighted = weigh_documents(list(self.documents.values()), analyzer=self._analyzer)
        return Ranker(weighted.rows, **asdict(self._parameters)), weighted.words

    @property
    def _ranker(self) -> Ranker:
        return self._weighted[0]

    def _words(self, place: int) -> tuple[Word, ...]:
        ranker, words = self._weighted
        here = slice(ranker.rows.indptr[place], ranker.rows.indptr[place + 1])
        columns = ranker.rows.indices[here]
        amounts = ranker.rows.data[here] * self._now.fit.coefficients[columns]
        order = np.argsort(-np.abs(amounts), kind="stable")
        return tuple(Word(words[columns[k]], float(amounts[k])) for k in order)


class _Answers:
    """What one state of the decisions gives, computed when first asked for, always from a cold start."""

    def __init__(self, ranker: Ranker, labels: Labels) -> None:
        self._ranker = ranker
        self.labels = labels

    @cached_property
    def fit(self) -> Fit:
        return self._ranker.fit(self.labels)

    @cached_property
    def probabilities(self) -> Floats:
        return calibrated(self._ranker, self.labels, self.fit)

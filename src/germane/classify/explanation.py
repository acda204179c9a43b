"""Why this class? The score of each class as a sum over the words of the text."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline

from germane.arrays import Floats
from germane.classify.one_versus_rest import OneVersusRestRanker
from germane.classify.pooling import PooledClassifier
from germane.classify.smoothed_dirichlet import LogRatioClassifier, SmoothedDirichletClassifier, log_ratio_matrix
from germane.schema import Response

Label = Any
"""A class as the labels name it: a string or a number."""

SHOWN_CLASSES = 3


@dataclass(frozen=True, slots=True)
class WordPart:
    """What one word of the text adds to the score of a class: above 0 it argues for the class, below 0 against."""

    word: str
    term: str
    count: int
    amount: float


@dataclass(frozen=True, slots=True)
class ClassPart:
    """The score of one class: `score` = `constant` + Σ `amount` over all `words`, the strongest first.

    `chosen` says whether the text got this class.
    """

    label: Label
    score: float
    constant: float
    words: tuple[WordPart, ...]
    chosen: bool

    def arguments_for(self, top: int | None = None) -> tuple[WordPart, ...]:
        """The words that argue for the class."""
        return tuple(word for word in self.words if word.amount > 0)[:top]

    def arguments_against(self, top: int | None = None) -> tuple[WordPart, ...]:
        """The words that argue against the class."""
        return tuple(word for word in self.words if word.amount < 0)[:top]


@dataclass(frozen=True, slots=True)
class ClassResponse(Response):
    """The score of one class: `score` = `constant` + Σ amounts of `words`, the strongest, + `other_words`."""

    label: Label
    chosen: bool
    score: float
    constant: float
    words: tuple[WordPart, ...]
    other_words: float


@dataclass(frozen=True)
class TextExplanation:
    """The classes of a text, the best first, each with the words that argued for and against it.

    `explanation["sport"]` is one class; `str(explanation)` shows the `top` words of the first few classes.
    """

    classes: tuple[ClassPart, ...]
    top: int

    def __getitem__(self, label: Label) -> ClassPart:
        for part in self.classes:
            if part.label == label:
                return part
        raise KeyError(label)

    def __iter__(self) -> Iterator[ClassPart]:
        return iter(self.classes)

    def __len__(self) -> int:
        return len(self.classes)

    @property
    def predicted(self) -> tuple[Label, ...]:
        """The classes that the text got: one, or any number of a multi-label classifier."""
        return tuple(part.label for part in self.classes if part.chosen)

    def shown(self) -> tuple[ClassPart, ...]:
        """The classes worth showing: those chosen, and the first few."""
        return tuple(part for i, part in enumerate(self.classes) if part.chosen or i < SHOWN_CLASSES)

    def responses(self) -> tuple[ClassResponse, ...]:
        """The classes as JSON has them, with the `top` strongest words of each."""
        return tuple(
            ClassResponse(
                part.label,
                part.chosen,
                part.score,
                part.constant,
                part.words[: self.top],
                sum(word.amount for word in part.words[self.top :]),
            )
            for part in self.classes
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it."""
        return {"classes": [response.to_dict() for response in self.responses()]}

    def __str__(self) -> str:
        lines = []
        for part in self.shown():
            lines.append(f"{'*' if part.chosen else ' '} {part.label}: score {part.score:.4g}")
            for name, words in (("for", part.arguments_for(self.top)), ("against", part.arguments_against(self.top))):
                said = ", ".join(f"{word.word} {word.amount:+.3g}" for word in words)
                lines.append(f"    {name}: {said or 'nothing'}")
            kept = {*part.arguments_for(self.top), *part.arguments_against(self.top)}
            rest = sum(word.amount for word in part.words if word not in kept)
            others = f", other words {rest:+.3g}" if len(kept) < len(part.words) else ""
            lines.append(f"    constant {round(part.constant, 9) + 0.0:+.3g}{others}")
        return "\n".join(lines)


def word_contributions(estimator: Any, counts: sparse.csr_array) -> Floats:
    """Words × classes, for one document: a row of counts, whose words are in the order of its `indices`.

    A multinomial adds f_j log θ_j^T, SD (2.11); the Bernoulli its log-odds; DCM log Γ(α_j^T+f_j)/Γ(α_j^T), (4.17); SD
    and the Dirichlet α_j^T log(1 + λθ̂_j/((1-λ)θ^GE_j)), (4.29); a linear SVM its coefficient times the weight of the
    word; the ranker the difference of the two classes of each label, (4.13).
    """
    if isinstance(estimator, PooledClassifier):
        return _pooled_contributions(estimator, counts)
    if isinstance(estimator, OneVersusRestRanker):
        pairs = [word_contributions(one, counts) for one in estimator.estimators_]
        return np.column_stack([pair[:, 1] - pair[:, 0] for pair in pairs])
    if isinstance(estimator, Pipeline):
        weights = estimator[:-1].transform(counts)
        parts: Floats = weights.data[:, np.newaxis] * _coefficients(estimator[-1])[:, weights.indices].T
        return np.column_stack([-parts, parts]) if parts.shape[1] == 1 else parts
    if isinstance(estimator, LogRatioClassifier):
        ratios = log_ratio_matrix(counts, estimator._ratio).data
        scale = estimator.S_ if isinstance(estimator, SmoothedDirichletClassifier) else 1.0
        return np.asarray(scale * ratios[:, np.newaxis] * estimator._alpha[counts.indices])
    n_words = counts.nnz
    alone = sparse.csr_array((counts.data, counts.indices, np.arange(n_words + 1)), shape=(n_words, counts.shape[1]))
    # No look at the document's length: `TextClassifier` gives DCM one S for all classes.
    return np.asarray(estimator._log_evidence(alone), np.float64)


def _pooled_contributions(pool: PooledClassifier, counts: sparse.csr_array) -> Floats:
    """Σ_m w_m times what a word adds to the score of member m, if that looks at it."""
    found = np.zeros((counts.nnz, len(pool.classes_)))
    place = np.full(counts.shape[1], -1)
    place[counts.indices] = np.arange(counts.nnz)
    for weight, columns, member in zip(pool.weights_, pool.columns_, pool.members_, strict=True):
        counts_of_part = sparse.csr_array(counts[:, columns])
        if counts_of_part.nnz:
            found[place[columns[counts_of_part.indices]]] += weight * word_contributions(member, counts_of_part)
    return found


def _coefficients(svm: Any) -> Floats:
    if isinstance(svm, OneVsRestClassifier):
        return np.vstack([one.coef_ for one in svm.estimators_])
    return np.asarray(svm.coef_)

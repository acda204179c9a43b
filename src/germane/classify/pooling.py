"""Several classifiers as one: a log-linear pool whose weights are learnt on documents that its members have not seen.

    P(T|D) ∝ exp(b_T + Σ_m w_m s_m(D, T)),  w_m ≥ 0

s_m is the score that member m gives class T, b_T what all of them think too little of it. Stacking (Wolpert 1992,
Neural Networks 5) with the pool of Genest and Zidek (1986, Statistical Science 1). Members differ in the model and in
the terms that they look at. What decides between them is the collection, not a table of ours: on short questions the
words that are commonly stopped say most, on many small classes the SD alone is lost and still helps the others.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy import optimize
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from germane.arrays import AnyArray, Floats, Integers
from germane.classify.generative import counts_of
from germane.classify.text_models import fit_weights, text_model
from germane.classify.tuning import best_sharpness
from germane.errors import ParameterError

CONTENT, STOPPED, PAIR = 0, 1, 2
"""Kinds of terms: words, words that are commonly stopped, and two words that stand side by side."""
VIEWS: dict[str, tuple[int, ...]] = {
    "content words": (CONTENT,),
    "all words": (CONTENT, STOPPED),
    "words and pairs": (CONTENT, STOPPED, PAIR),
}
FEW = 2000
"""Up to so many documents all of them are scored by members that have not seen them, in `FOLDS` parts; of more, one
part in five."""
FOLDS, ONE_IN = 3, 5
LEAST_SHARE = 0.02
"""A member with less of the weight than this is left out."""
MOST_APART = 2000
"""Documents from which weights are learnt at most: they are few numbers."""
STEPS = 40
"""Steps of the search for the weights at most."""
PULL, BIAS_PULL = 4.0, 1.0
"""How strongly weights are drawn to 1/M, and b to 0: as much as some documents say, and a few cannot outvote it."""

OnMember = Callable[[str, float], None]
"""called with the name of each member and its accuracy on documents it has not seen"""


@dataclass(frozen=True)
class Member:
    """A text model with its parameters, and the terms it looks at."""

    model: str
    view: str
    parameters: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        values = "".join(f" {name}={value:g}" for name, value in self.parameters.items())
        return f"{self.model}{values}, {self.view}"

    def estimator(self, random_state: Any) -> Any:
        """A new one."""
        model = text_model(self.model)
        return model.estimator({**model.start, **self.parameters}, "uniform", random_state)


MEMBERS = (
    Member("svm", "content words"),
    Member("svm", "all words", {"lam": 0.5}),
    Member("tfidf-svm", "all words"),
    Member("tfidf-svm", "words and pairs"),
    Member("multinomial", "content words", {"delta": 0.1}),
    Member("multinomial", "words and pairs", {"delta": 0.1}),
    Member("sd-ce", "content words"),
    Member("sd-ce", "words and pairs"),
    Member("sd", "all words", {"lam": 0.01}),
)


class _Part(NamedTuple):
    """A member with its columns, and of the documents set apart its scores, sharpened."""

    name: str
    member: Member
    columns: Integers
    sharpness: float
    scores: npt.NDArray[np.float32]


class PooledClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The log-linear pool of `MEMBERS` over counts.

    `kinds`: of each column `CONTENT`, `STOPPED` or `PAIR`; None takes all to be words. Members whose views hold the
    same columns are one. `members`: others than `MEMBERS`; one alone gets a constant for each class.

    Attributes: `classes_`; `names_` of the members kept, the strongest first; `shares_` of the weight that they have;
    `members_`, their estimators; `columns_` of each; `weights_` w_m; `bias_` b_T; `alone_`, the accuracy of every
    member tried, and `together_` that of the pool, on documents set apart; empty and None where there are none.
    """

    def __init__(
        self,
        kinds: Sequence[int] | None = None,
        random_state: int | None = 0,
        members: Sequence[Member] | None = None,
    ) -> None:
        self.kinds = kinds
        self.members = members
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None, *, on_member: OnMember | None = None
    ) -> Self:
        """Learn from counts `X` (documents × vocabulary, sparse or dense) and one label a document."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        if y.dtype.kind not in "biuU":  # those are labels; of others scikit-learn refuses measurements
            check_classification_targets(y)
        X, weight = counts_of(X, type(self).__name__), None
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
            X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
        self.classes_, number = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ParameterError("a classifier needs documents of two classes or more; there is 1 class")
        rng = np.random.default_rng(self.random_state)
        folds = _folds(number, rng)
        apart = rng.permutation(np.flatnonzero(folds >= 0))[:MOST_APART]
        truth = number[apart]
        parts = []
        self.alone_: dict[str, float] = {}
        for member, columns in self._views(X.shape[1]):
            found = self._unseen_scores(member, X[:, columns], number, weight, folds)[apart]
            name, t = str(member), 1.0
            if len(apart):
                self.alone_[name] = float(np.mean(found.argmax(axis=1) == truth))
                t = best_sharpness(found, truth[:, np.newaxis] == np.arange(len(self.classes_)))
                if on_member is not None:
                    on_member(name, self.alone_[name])
            scores = np.asarray(t * (found - found.mean(axis=1, keepdims=True)), np.float32)
            parts.append(_Part(name, member, columns, t, scores))
        weights, _ = _pool(parts, truth, len(self.classes_))
        kept = np.flatnonzero(weights >= LEAST_SHARE * weights.sum())
        parts = [parts[m] for m in kept[np.argsort(-weights[kept], kind="stable")]]
        weights, self.bias_ = _pool(parts, truth, len(self.classes_))
        pooled = _together(weights, [part.scores for part in parts]) + self.bias_
        self.together_ = float(np.mean(pooled.argmax(axis=1) == truth)) if len(apart) else None
        self.names_, self.shares_ = [part.name for part in parts], weights / weights.sum()
        self.weights_ = weights * np.array([part.sharpness for part in parts])
        self.columns_ = [part.columns for part in parts]
        self.members_ = [self._fitted(part.member, X[:, part.columns], number, weight) for part in parts]
        return self

    def _views(self, n_columns: int) -> Iterator[tuple[Member, Integers]]:
        """The members, each with its columns; those that would be the same only once."""
        kinds = np.zeros(n_columns, np.int64) if self.kinds is None else np.asarray(self.kinds)
        if kinds.shape != (n_columns,):
            raise ParameterError(f"kinds has {len(kinds):,} entries for {n_columns:,} columns")
        seen: set[tuple[Any, ...]] = set()
        for member in MEMBERS if self.members is None else self.members:
            columns = np.flatnonzero(np.isin(kinds, VIEWS[member.view]))
            key = member.model, *member.parameters.items(), len(columns)
            if len(columns) and key not in seen:
                seen.add(key)
                yield member, columns

    def _fitted(self, member: Member, X: Any, number: Integers, weight: Floats | None) -> Any:
        estimator = member.estimator(self.random_state)
        return estimator.fit(X, number, **fit_weights(estimator, weight))

    def _unseen_scores(
        self, member: Member, X: Any, number: Integers, weight: Floats | None, folds: Integers
    ) -> Floats:
        """The member's scores of each document that has a fold, from documents of the others."""
        scores = np.zeros((X.shape[0], len(self.classes_)))
        for fold in np.unique(folds[folds >= 0]):
            learning, asked = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            part = None if weight is None else weight[learning]
            scores[asked] = class_scores(self._fitted(member, X[learning], number[learning], part), X[asked])
        return scores

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """b_T + Σ_m w_m s_m(D, T) for each document and class: log P(T|D) up to a constant of the document."""
        check_is_fitted(self)
        X = counts_of(validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False), type(self).__name__)
        scores = [class_scores(m, X[:, columns]) for m, columns in zip(self.members_, self.columns_, strict=True)]
        return np.asarray(_together(self.weights_, scores) + self.bias_)

    def predict_proba(self, X: Any) -> Floats:
        """P(T|D)."""
        return np.asarray(softmax(self.predict_joint_log_proba(X), axis=1))

    def predict(self, X: Any) -> AnyArray:
        """The most probable class."""
        best = self.predict_joint_log_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True  # counts are asked for, and the checks give measurements
        return tags


def class_scores(estimator: Any, X: Any) -> Floats:
    """The score of each class, documents × classes: joint log-probabilities, or margins."""
    if hasattr(estimator, "predict_joint_log_proba"):
        return np.asarray(estimator.predict_joint_log_proba(X), np.float64)
    found = np.asarray(estimator.decision_function(X), np.float64)
    return np.column_stack([-found, found]) if found.ndim == 1 else found


def _folds(number: Integers, rng: np.random.Generator) -> Integers:
    """The part of each document, about as many of every class in each; -1 for those that are never set apart.

    A class's only document is always learnt from. Of many documents one in five is set apart, once.
    """
    n = FOLDS if len(number) <= FEW else ONE_IN
    folds = np.empty(len(number), np.int64)
    first = 0
    for rows in (np.flatnonzero(number == c) for c in np.unique(number)):
        folds[rng.permutation(rows)] = (first + np.arange(len(rows))) % n if len(rows) > 1 else -1
        first += len(rows)
    if len(number) > FEW:
        folds[folds > 0] = -1
    return folds


def _together(weights: Floats, scores: Sequence[AnyArray]) -> AnyArray:
    return np.asarray(sum(w * s for w, s in zip(weights, scores, strict=True)))


def _pool(parts: Sequence[_Part], truth: Integers, n_classes: int) -> tuple[Floats, Floats]:
    """w and b by maximum likelihood, drawn a little to equal weights and no bias."""
    n_members, rows = len(parts), np.arange(len(truth))
    table = np.stack([part.scores.ravel() for part in parts])  # in single precision: it is read in every step
    shape = len(truth), n_classes

    def loss(x: Floats) -> tuple[float, Floats]:
        w, b = x[:n_members], x[n_members:]
        pooled = (w.astype(np.float32) @ table).reshape(shape) + b.astype(np.float32)
        logs = log_softmax(pooled, axis=1) if len(truth) else pooled
        over = np.exp(logs)
        over[rows, truth] -= 1
        away = w - 1 / n_members
        value = -logs[rows, truth].sum(dtype=np.float64) + PULL * away @ away + BIAS_PULL * b @ b / 2
        of_w = table @ over.ravel() + 2 * PULL * away
        return float(value), np.concatenate([of_w, over.sum(axis=0, dtype=np.float64) + BIAS_PULL * b])

    start = np.concatenate([np.full(n_members, 1 / n_members), np.zeros(n_classes)])
    bounds = [(0.0, None)] * n_members + [(None, None)] * n_classes
    rules = {"maxiter": STEPS, "ftol": 1e-6}
    found = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=rules)
    return np.asarray(found.x[:n_members]), np.asarray(found.x[n_members:])

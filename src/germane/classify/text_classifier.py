"""Texts in, labels out: a classifier that cuts words, tunes itself, explains itself and can be saved."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import expit, log_expit, log_softmax, logit, logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import LabelBinarizer
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from germane.arrays import Floats, Mask
from germane.classify.bernoulli import BernoulliClassifier
from germane.classify.dcm import DCMClassifier
from germane.classify.dirichlet import DirichletClassifier
from germane.classify.explanation import ClassPart, Label, TextExplanation, WordPart, word_contributions
from germane.classify.log_ratio import SmoothedLogRatio
from germane.classify.multinomial import MultinomialClassifier
from germane.classify.one_versus_rest import OneVersusRestRanker
from germane.classify.pooling import CONTENT, PAIR, STOPPED, PooledClassifier, class_scores
from germane.classify.saving import LARGEST_TABLE, read_model, refusing_what_is_forged, write_model
from germane.classify.smoothed_dirichlet import SmoothedDirichletClassifier
from germane.classify.targets import Targets
from germane.classify.text_models import AUTO, MARGINS, fit_weights, text_model
from germane.classify.tuning import (
    OnTrial,
    Setting,
    Trial,
    best,
    best_sharpness,
    best_threshold,
    climb,
    stratified_split,
)
from germane.errors import GermaneError, InputError, ParameterError
from germane.lm.parameters import distribution
from germane.text import Analyzer, AnyAnalyzer, WordPairs, analyzer_from_dict
from germane.text.counting import Counted, count_all, count_known
from germane.text.word_pairs import JOINED

VALIDATION_SHARE = 0.2
FAR_BELOW = 0.1
"""How much less right than the largest class is common a model may be before it warns."""
OF_LABELS = ("sd-ce", "multinomial", "svm")
"""What "auto" chooses from where documents have several labels."""

SAVED_CLASSES: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        BernoulliClassifier, DCMClassifier, DirichletClassifier, LabelBinarizer, LinearSVC, MultinomialClassifier,
        OneVersusRestRanker, OneVsRestClassifier, Pipeline, PooledClassifier, SmoothedDirichletClassifier,
        SmoothedLogRatio, TfidfTransformer,
    )
}  # fmt: skip
"""What the file of a saved classifier may hold."""


class Answers(NamedTuple):
    """What a classifier says of some texts: texts × classes, but for the first and the last.

    `labels`: as `predict` gives them. `ranking`: scores that can be compared between texts, to rank them for each
    class: log-odds, the SVM's margins, or the scores of a multi-label classifier. `wordless`: the texts without a known
    word.
    """

    labels: Any
    scores: Floats
    probabilities: Floats
    ranking: Floats
    wordless: Mask


class TextClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn classifier of raw strings.

    `model`: "auto", "sd-ce", "sd", "multinomial", "multinomial-jm", "bernoulli", "dcm", "dirichlet", "svm" or
    "tfidf-svm"; what each computes is in docs/classification.md. "auto" is a pool of several, weighted by what they do
    on documents set apart (`pooling.PooledClassifier`); with several labels a document it is the best of `OF_LABELS`.
    `analyzer`: how texts become terms; None is `Analyzer()`, and for "auto" stemmed words, stopped or not, and pairs of
    them. `prior`: "uniform" (SD ch. 4), "empirical" (the Lecture), or a probability for each class, as a dictionary or
    in the order of `classes_`; the SVMs have none, and "auto" finds its own unless it is given in numbers.

    `parameters`: free parameters by hand (`{"lam": 1e-4, "beta": 0.01}`), which are then not tuned; those that a model
    has are in `germane.classify.text_models`: λ, β, δ, S and C.

    `fit` sets a fifth of the documents apart, class by class. With `tune`, the free parameters climb from their
    defaults to the best value on that fifth (SD §4.3): accuracy, or with several labels a document the macro-mean of
    each class's best F1. It also gives the thresholds of a multi-label classifier, and how sharp probabilities are.
    Then the model is learnt from everything. A class with one document only is never set apart.

    Attributes: `classes_`; `model_`, "auto" or the model that it chose; `chosen_`, the parameters, or of "auto" the
    members of the pool with their shares of the weight; `tuning_`, every `Trial` in order; `estimator_`, on counts;
    `vocabulary_`, term to column; `thresholds_`, one for each class, or None; `sharpness_` of the probabilities, one
    for all classes or for each; `n_empty_`, documents without a word, which are not learnt from; `notes_`, anything of
    JSON's kinds to be kept with a saved model.

    A text without a known word is labelled by how common the classes were in training (or by the `prior`, if it was
    given in numbers).
    """

    chosen_: Setting
    tuning_: list[Trial]
    thresholds_: Floats | None
    sharpness_: Any

    def __init__(
        self,
        model: str = AUTO,
        *,
        analyzer: AnyAnalyzer | None = None,
        tune: bool = True,
        random_state: int | None = 0,
        prior: str | Mapping[Label, float] | Sequence[float] = "uniform",
        parameters: Mapping[str, float] | None = None,
    ) -> None:
        self.model = model
        self.analyzer = analyzer
        self.tune = tune
        self.random_state = random_state
        self.prior = prior
        self.parameters = parameters

    # -- learning ------------------------------------------------------------------------------------------------------

    def fit(
        self,
        texts: Sequence[str],
        labels: Sequence[Any],
        sample_weight: npt.ArrayLike | None = None,
        *,
        on_trial: OnTrial | None = None,
    ) -> Self:
        """Learn from texts and their labels: one a text, or a collection of any number for each.

        `on_trial(parameters, value)` is told of every setting that is tried.
        """
        texts, labels = _texts(texts), _label_list(labels)
        if len(texts) != len(labels):
            raise ParameterError(f"{len(texts):,} texts and {len(labels):,} labels: there must be as many of each")
        if not len(texts):
            raise InputError("there are no documents to learn from")
        weight = _weights(sample_weight, len(texts))
        text_model(self.model).checked(self.model, self.parameters or {})  # what is wrong is told at once
        targets = Targets.of(labels)
        self.model_ = self.model
        self.analyzer_ = self._analyzer_for(targets)
        counts, terms, surfaces = count_all(texts, self.analyzer_)
        if isinstance(self.analyzer_, WordPairs):
            counts, terms, surfaces = _without_rare_pairs(counts, terms, surfaces)
        self.classes_, self.multi_label_ = targets.classes, targets.several
        if len(self.classes_) * len(terms) > LARGEST_TABLE:
            raise InputError(f"{len(self.classes_):,} classes and {len(terms):,} words are too many for the memory")
        share, self._prior = self._shares(targets)
        filled = np.diff(counts.indptr) > 0
        self.n_empty_ = int((~filled).sum())
        wordless = self.classes_[~targets.members[filled].any(axis=0)]
        if len(wordless):
            raise InputError(f"no document of the class {wordless[0].item()!r} has a word in it")
        kept = filled if weight is None else filled & (weight > 0)
        counts, members, weight = counts[kept], targets.members[kept], weight[kept] if weight is not None else None
        weightless = self.classes_[~members.any(axis=0)]
        if len(weightless):
            raise ParameterError(f"the documents of the class {weightless[0].item()!r} all weigh 0: leave them out")
        if self.model == AUTO and not self.multi_label_:
            self._pool(counts, members, weight, _kinds(terms, surfaces, self.analyzer_), share, on_trial)
        else:
            self._search(counts, members, weight, on_trial)
            self.estimator_ = self._learnt(self.chosen_, counts, members, weight)
        # What a text without words gets: scores whose probabilities are the shares of the classes.
        with np.errstate(divide="ignore"):
            if self.thresholds_ is not None:
                self._empty_scores = logit(share) / self.sharpness_ + self.thresholds_
            else:
                self._empty_scores = np.log(share) / self.sharpness_
        self.terms_, self.surfaces_ = terms, surfaces
        self.vocabulary_ = {term: column for column, term in enumerate(terms)}
        self.notes_: dict[str, Any] = {}
        return self

    def _analyzer_for(self, targets: Targets) -> AnyAnalyzer:
        if self.analyzer is not None:
            return self.analyzer
        return Analyzer() if self.model != AUTO or targets.several else WordPairs(Analyzer(stopwords="none"))

    def _pool(
        self, counts: Any, members: Any, weight: Any, kinds: Any, share: Floats, on_trial: OnTrial | None
    ) -> None:
        """Learn the pool; its probabilities are honest as they are."""
        pool = PooledClassifier(kinds, self.random_state)
        self.tuning_ = []

        def tell(name: str, accuracy: float) -> None:
            self.tuning_.append(Trial({name: 1.0}, accuracy))
            if on_trial is not None:
                on_trial({name: 1.0}, accuracy)

        self.estimator_ = pool.fit(counts, members.argmax(axis=1), weight, on_member=tell)
        self.chosen_ = dict(zip(pool.names_, pool.shares_.tolist(), strict=True))
        if pool.together_ is not None:
            self.tuning_.append(Trial(self.chosen_, pool.together_))
        self.thresholds_, self.sharpness_ = None, 1.0
        if not isinstance(self.prior, str):  # the pool has learnt how common classes are
            with np.errstate(divide="ignore"):
                pool.bias_ = pool.bias_ + np.log(share) - np.log(members.mean(axis=0))

    def _shares(self, targets: Targets) -> tuple[Floats, Any]:
        """How common each class is, or was said to be; and the prior as an estimator takes it."""
        common = targets.size() / len(targets.members)
        if isinstance(self.prior, str):
            if self.prior not in ("uniform", "empirical"):
                raise ParameterError(f"the prior is 'uniform', 'empirical' or probabilities, not '{self.prior}'")
            return common, self.prior
        if targets.several:
            raise ParameterError("with several labels a document the prior is 'uniform' or 'empirical'")
        given: Any = self.prior
        if isinstance(self.prior, Mapping):
            missing = [label for label in targets.classes.tolist() if label not in self.prior]
            if missing or len(self.prior) != len(targets.classes):
                raise ParameterError(f"the prior must name the classes {', '.join(map(str, targets.classes))}")
            given = [self.prior[label] for label in targets.classes.tolist()]
        shares = distribution("prior", given)
        if len(shares) != len(targets.classes):
            raise ParameterError(f"the prior has {len(shares)} probabilities for {len(targets.classes)} classes")
        return shares, shares

    def _search(self, counts: Any, members: Any, weight: Any, on_trial: OnTrial | None) -> None:
        """Choose the parameters, the thresholds and the sharpness on a validation split; of "auto" the model first."""
        apart = np.hstack([members, ~members]) if self.multi_label_ else members  # a label needs both sides
        learning, validating = stratified_split(apart, VALIDATION_SHARE, self.random_state)
        if self.model == AUTO:
            self.model_ = OF_LABELS[0]
        model = text_model(self.model_)
        given = model.checked(self.model_, self.parameters or {})
        self.chosen_ = {**model.start, **given}
        self.tuning_ = []
        self.thresholds_ = np.zeros(len(self.classes_)) if self.multi_label_ else None
        self.sharpness_ = np.ones(len(self.classes_)) if self.multi_label_ else 1.0
        if not len(validating):
            return
        truth = members[validating]
        known: dict[tuple[Any, ...], Floats] = {}

        def scores(setting: Setting) -> Floats:
            key = self.model_, *setting.values()
            if key not in known:
                part = None if weight is None else weight[learning]
                estimator = self._learnt(setting, counts[learning], members[learning], part)
                known[key] = self._scores_of(estimator, counts[validating])
            return known[key]

        def objective(setting: Setting) -> float:
            found = scores(setting)
            if not self.multi_label_:
                return float(np.mean(truth[np.arange(len(found)), found.argmax(axis=1)]))
            there = truth.any(axis=0)
            return float(np.mean([best_threshold(found[:, c], truth[:, c])[1] for c in np.flatnonzero(there)]))

        if self.model == AUTO:
            self.model_ = self._best_of_labels(objective)
            model = text_model(self.model_)
            self.chosen_ = dict(model.start)
        axes = {name: values for name, values in model.axes.items() if self.tune and name not in given}
        self.tuning_ = climb(objective, axes, self.chosen_, on_trial)
        self.chosen_ = best(self.tuning_).parameters
        found = scores(self.chosen_)
        if self.multi_label_:
            self.thresholds_ = np.array([best_threshold(found[:, c], truth[:, c])[0] for c in range(truth.shape[1])])
            margins = found - self.thresholds_
            self.sharpness_ = np.array([
                best_sharpness(np.column_stack([-margin / 2, margin / 2]), np.column_stack([~true, true]))
                for margin, true in zip(margins.T, truth.T, strict=True)
            ])  # fmt: skip
        else:
            self.sharpness_ = best_sharpness(found, truth)
            right, largest = objective(self.chosen_), float(truth.mean(axis=0).max())
            if right < largest - FAR_BELOW:
                warnings.warn(
                    f"'{self.model_}' is right for {right:.0%} of the documents set apart, and the largest class holds "
                    f"{largest:.0%} of them: '{AUTO}' or 'svm' may suit these classes better",
                    stacklevel=3,
                )

    def _best_of_labels(self, objective: Callable[[Setting], float]) -> str:
        """The model that is best where its tuning starts; of equals the first."""
        values = {}
        for self.model_ in OF_LABELS:
            values[self.model_] = objective(dict(text_model(self.model_).start))
        return max(OF_LABELS, key=lambda name: values[name])

    def _learnt(self, setting: Setting, counts: Any, members: Any, weight: Any) -> Any:
        model = text_model(self.model_)
        if self.multi_label_:
            ranker = model.ranker(setting, self.random_state)
            return ranker.fit(counts, members.astype(np.int64), **fit_weights(ranker, weight))
        estimator = model.estimator(setting, self._prior, self.random_state)
        return estimator.fit(counts, members.argmax(axis=1), **fit_weights(estimator, weight))

    # -- answering -----------------------------------------------------------------------------------------------------

    def _scores_of(self, estimator: Any, counts: Any) -> Floats:
        """The score of each class, documents × classes."""
        return class_scores(estimator, counts)

    def _counts(self, texts: Sequence[str]) -> sparse.csr_array:
        check_is_fitted(self, "estimator_")
        return count_known(_texts(texts), self.analyzer_, self.vocabulary_)

    def _scores(self, counts: sparse.csr_array) -> Floats:
        scores = np.tile(self._empty_scores, (counts.shape[0], 1))
        filled = np.flatnonzero(np.diff(counts.indptr))
        if len(filled):
            scores[filled] = self._scores_of(self.estimator_, counts[filled])
        return scores

    def class_scores(self, texts: Sequence[str]) -> Floats:
        """What the classes are chosen by, texts × classes: log P(D|T) + log P(T) up to a constant of the text; margins
        of the SVM; log P(D|R) - log P(D|N), SD (4.13), of a multi-label classifier."""
        return self._scores(self._counts(texts))

    def answer(self, texts: Sequence[str]) -> Answers:
        """All there is to say of some texts, from one reading of them."""
        counts = self._counts(texts)
        scores = self._scores(counts)
        return Answers(
            self._labels(scores),
            scores,
            self._probabilities(scores),
            self._ranking_scores(scores),
            np.diff(counts.indptr) == 0,
        )

    def predict(self, texts: Sequence[str]) -> Any:
        """The class of each text, an array; or of a multi-label classifier a tuple of classes for each, a list."""
        return self._labels(self.class_scores(texts))

    def decision_function(self, texts: Sequence[str]) -> Floats:
        """`class_scores`; of two classes, as scikit-learn has it, one number: above 0 for the second."""
        scores = self.class_scores(texts)
        if self.multi_label_ or len(self.classes_) > 2:
            return scores
        return np.asarray(scores[:, 1] - scores[:, 0])

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """P(T|D), texts × classes: rows sum to 1, or of a multi-label classifier each number is a probability.

        Calibrated on the validation split: softmax(t·scores), or σ(t·(score - threshold)), t being `sharpness_`.
        """
        return self._probabilities(self.class_scores(texts))

    def predict_log_proba(self, texts: Sequence[str]) -> Floats:
        """log P(T|D): the logarithm of `predict_proba`, also where that is too small for a number."""
        scores = self.class_scores(texts)
        if self.thresholds_ is not None:
            return np.asarray(log_expit(self.sharpness_ * (scores - self.thresholds_)))
        return np.asarray(log_softmax(self.sharpness_ * scores, axis=1))

    def _labels(self, scores: Floats) -> Any:
        if self.thresholds_ is None:
            return self.classes_[scores.argmax(axis=1)]
        return [tuple(self.classes_[row].tolist()) for row in scores > self.thresholds_]

    def _probabilities(self, scores: Floats) -> Floats:
        if self.thresholds_ is not None:
            return np.asarray(expit(self.sharpness_ * (scores - self.thresholds_)))
        return np.asarray(softmax(self.sharpness_ * scores, axis=1))

    def _ranking_scores(self, scores: Floats) -> Floats:
        """Log-odds log P(T|D)/(1 - P(T|D)), without the rounding of probabilities near 1."""
        if self.multi_label_ or self.model_ in MARGINS:
            return scores
        scaled, rows, top = self.sharpness_ * scores, np.arange(len(scores)), scores.argmax(axis=1)
        total = logsumexp(scaled, axis=1, keepdims=True)
        losers = scaled.copy()
        losers[rows, top] = -np.inf
        with np.errstate(divide="ignore"):
            others = total + np.log1p(-np.exp(scaled - total))
        others[rows, top] = logsumexp(losers, axis=1)  # where the difference above loses all digits
        return np.asarray(scaled - others)

    def score(self, texts: Sequence[str], labels: Sequence[Any], sample_weight: npt.ArrayLike | None = None) -> float:
        """Accuracy: the share of texts whose label, or whole set of labels, is right."""
        predicted = self.predict(texts)
        if self.multi_label_:
            right = [set(p) == set(t) for p, t in zip(predicted, labels, strict=True)]
        else:
            right = [p == t for p, t in zip(predicted, labels, strict=True)]
        return float(np.average(np.array(right, np.float64), weights=_weights(sample_weight, len(right))))

    def explain(self, text: str, top: int = 10) -> TextExplanation:
        """Which words argued for and against each class: constant + Σ of the words' amounts = the class's score.

        Where classes are chosen by comparing their densities, scores and amounts are those above the mean of all
        classes: what is the same for all decides nothing. Otherwise they are those of `class_scores`.
        """
        if not isinstance(text, str):
            raise ParameterError(f"explain takes one text, not a {type(text).__name__}")
        counts = self._counts([text])
        scores = self._scores(counts)[0]
        amounts = word_contributions(self.estimator_, counts) if counts.nnz else np.zeros((0, len(scores)))
        if not self.multi_label_ and self.model_ not in MARGINS:
            amounts = amounts - amounts.mean(axis=1, keepdims=True)
            scores = scores - scores[np.isfinite(scores)].mean()  # a prior of 0 makes a score infinite
        constants = scores - amounts.sum(axis=0)
        chosen = (
            scores > self.thresholds_ if self.thresholds_ is not None else np.arange(len(scores)) == scores.argmax()
        )
        rank = scores - self.thresholds_ if self.thresholds_ is not None else scores
        parts = []
        for c in np.argsort(-rank, kind="stable"):
            words = tuple(
                WordPart(self.surfaces_[j], self.terms_[j], int(counts.data[i]), float(amounts[i, c]))
                for i in np.argsort(-np.abs(amounts[:, c]), kind="stable")
                for j in (counts.indices[i],)
            )
            label = self.classes_[c].item()
            parts.append(ClassPart(label, float(scores[c]), float(constants[c]), words, bool(chosen[c])))
        return TextExplanation(tuple(parts), top)

    # -- keeping -------------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the fitted classifier to one file, whole or not at all; no pickle (see `germane.classify.saving`)."""
        check_is_fitted(self, "estimator_")
        analyzer = self.analyzer_
        prior = self.prior if isinstance(self.prior, str) else [float(p) for p in self._prior]
        content = {
            "model": self.model,
            "model_chosen": self.model_,
            "analyzer": {"settings": analyzer.to_dict(), "fingerprint": analyzer.fingerprint},
            "tune": self.tune,
            "random_state": self.random_state if isinstance(self.random_state, int) else None,
            "prior": prior,
            "parameters": None if self.parameters is None else dict(self.parameters),
            "classes": self.classes_,
            "multi_label": self.multi_label_,
            "chosen": self.chosen_,
            "tuning": [[trial.parameters, trial.value] for trial in self.tuning_],
            "thresholds": self.thresholds_,
            "sharpness": self.sharpness_,
            "empty_scores": self._empty_scores,
            "n_empty": self.n_empty_,
            "terms": self.terms_,
            "surfaces": self.surfaces_,
            "notes": self.notes_,
            "estimator": self.estimator_,
        }
        write_model(path, content, SAVED_CLASSES)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The classifier that `save` wrote; `InputError` where the file is missing, damaged or something else."""
        content = read_model(path, SAVED_CLASSES)
        with refusing_what_is_forged(path):
            try:
                found = cls._from_content(content)
            except KeyError as error:
                raise InputError(f"the saved classifier lacks {error}", source=str(path)) from None
            except GermaneError as error:
                raise InputError(str(error), source=str(path)) from None
            found._check_loaded()
        return found

    @classmethod
    def _from_content(cls, content: Mapping[str, Any]) -> Self:
        analyzer = analyzer_from_dict(content["analyzer"]["settings"])
        if analyzer.fingerprint != content["analyzer"]["fingerprint"]:
            raise InputError("was learnt with other stop words or another tokeniser: learn it again")
        found = cls(
            content["model"], analyzer=analyzer, tune=content["tune"], random_state=content["random_state"],
            prior=content["prior"], parameters=content.get("parameters"),
        )  # fmt: skip
        found.model_ = content.get("model_chosen", found.model)
        text_model(found.model_)
        found.analyzer_ = analyzer
        found.classes_, found.multi_label_ = content["classes"], content["multi_label"]
        found.chosen_ = content["chosen"]
        found.tuning_ = [Trial(parameters, value) for parameters, value in content["tuning"]]
        found.thresholds_, found.sharpness_ = content["thresholds"], content["sharpness"]
        found._empty_scores, found.n_empty_ = content["empty_scores"], content["n_empty"]
        found.terms_, found.surfaces_ = content["terms"], content["surfaces"]
        found.notes_, found.estimator_ = content["notes"], content["estimator"]
        found._prior = found.prior
        found.vocabulary_ = {term: column for column, term in enumerate(found.terms_)}
        return found

    def _check_loaded(self) -> None:
        """Raise unless the parts of a loaded classifier fit together, and it answers."""
        n_classes, n_terms = len(self.classes_), len(self.terms_)
        of_classes = [self._empty_scores, *([] if self.thresholds_ is None else [self.thresholds_])]
        if self.multi_label_ is not (self.thresholds_ is not None) or isinstance(self.sharpness_, str):
            raise ValueError
        if self.multi_label_:
            of_classes.append(self.sharpness_)
        words = [*self.terms_, *self.surfaces_]
        if (
            any(numbers.shape != (n_classes,) or numbers.dtype != np.float64 for numbers in of_classes)
            or self.classes_.shape != (n_classes,)
            or not all(isinstance(word, str) for word in words)
            or not n_terms == len(self.vocabulary_) == len(self.surfaces_)
            or not all(isinstance(kept, dict) for kept in (self.notes_, self.chosen_, self.parameters or {}))
            or not all(isinstance(kept, int) for kept in (self.tune, self.n_empty_))
            or (not isinstance(self.prior, str) and distribution("prior", self._prior).shape != (n_classes,))
        ):
            raise ValueError
        one_word = sparse.csr_array(np.eye(1, n_terms))
        for numbers in (self._scores(one_word), word_contributions(self.estimator_, one_word)):
            if numbers.shape != (1, n_classes):
                raise ValueError
        self.answer([""])


def _without_rare_pairs(counts: sparse.csr_array, terms: list[str], surfaces: list[str]) -> Counted:
    """What was counted but for pairs of words that only one document has: they teach nothing of others."""
    seen = np.bincount(counts.indices, minlength=len(terms))
    kept = [column for column, term in enumerate(terms) if seen[column] > 1 or JOINED not in term]
    return Counted(counts[:, kept], [terms[column] for column in kept], [surfaces[column] for column in kept])


def _kinds(terms: Sequence[str], surfaces: Sequence[str], analyzer: AnyAnalyzer) -> list[int] | None:
    """Of each term whether it is a pair, or a word that is commonly stopped; None where the analyser is not ours."""
    if not isinstance(analyzer, WordPairs):
        return None
    stopped = Analyzer(analyzer.words.stemmer).stop_tokens
    return [
        PAIR if JOINED in term else STOPPED if surface in stopped else CONTENT
        for term, surface in zip(terms, surfaces, strict=True)
    ]


def _texts(texts: Sequence[str]) -> list[str]:
    if isinstance(texts, str):
        raise ParameterError("a list of texts is needed, not one text")
    found = list(texts)
    for i, text in enumerate(found):
        if not isinstance(text, str):
            raise ParameterError(f"text {i} is of type {type(text).__name__}, not a string")
    return found


def _label_list(labels: Sequence[Any]) -> list[Any]:
    if getattr(labels, "ndim", 1) == 2 and np.isin(np.asarray(labels), (0, 1)).all():
        raise ParameterError("labels are a table of 0 and 1: give each text the list of its labels instead")
    return list(labels)


def _weights(sample_weight: npt.ArrayLike | None, n: int) -> Floats | None:
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, np.float64)
    if weight.shape != (n,) or not np.isfinite(weight).all() or (weight < 0).any():
        raise ParameterError(f"sample_weight must be {n:,} numbers of 0 or more, one for each text")
    return weight

"""Quality of a classifier: accuracy, F1, break-even precision, the confusion matrix; and two classifiers compared.

Break-even precision is the precision at the rank where it equals recall, R = N_rel; also called R-precision.
"""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from germane.errors import ParameterError
from germane.lazy import on_first_use

with on_first_use(__name__):
    from germane.evaluate import significance

if TYPE_CHECKING:
    from germane.evaluate.significance import Alternative, Effect, Significance

Labels = Collection[str]


class F1(NamedTuple):
    """F1 averaged over classes (macro) and over decisions (micro), and the value of each class."""

    macro: float
    micro: float
    per_class: dict[str, float]


def accuracy(truth: Sequence[str], predicted: Sequence[str]) -> float:
    """Σ_i δ(T_i, T̂_i)/N, SD (4.1): the share of documents that got their class."""
    _same_length(truth, predicted)
    return sum(t == p for t, p in zip(truth, predicted, strict=True)) / len(truth)


def confusion_matrix(
    truth: Sequence[str], predicted: Sequence[str], labels: Sequence[str] | None = None
) -> tuple[list[str], npt.NDArray[np.int64]]:
    """(labels, counts): the row is the true class, the column the predicted one."""
    _same_length(truth, predicted)
    names = list(labels) if labels is not None else sorted({*truth, *predicted})
    number = {name: i for i, name in enumerate(names)}
    unknown = sorted({*truth, *predicted} - number.keys())
    if unknown:
        raise ParameterError(f"'{unknown[0]}' is not among the labels")
    counts = np.zeros((len(names), len(names)), np.int64)
    np.add.at(counts, ([number[t] for t in truth], [number[p] for p in predicted]), 1)
    return names, counts


def f1(truth: Sequence[str], predicted: Sequence[str], labels: Sequence[str] | None = None) -> F1:
    """F1 = 2TP/(2TP + FP + FN) where each document has one class; micro-F1 then equals accuracy."""
    return f1_multilabel([{t} for t in truth], [{p} for p in predicted], labels)


def f1_multilabel(
    truth: Sequence[Collection[str]], predicted: Sequence[Collection[str]], labels: Sequence[str] | None = None
) -> F1:
    """F1 = 2TP/(2TP + FP + FN) where a document may have several classes, or none.

    A class that neither occurs nor is predicted has F1 0, as in scikit-learn.
    """
    _same_length(truth, predicted)
    names = list(labels) if labels is not None else sorted({name for row in (*truth, *predicted) for name in row})
    per_class: dict[str, float] = {}
    both = either = 0
    for name in names:
        true = np.array([name in row for row in truth])
        guess = np.array([name in row for row in predicted])
        tp, total = int((true & guess).sum()), int(true.sum() + guess.sum())
        per_class[name] = 2.0 * tp / total if total else 0.0
        both, either = both + tp, either + total
    macro = float(np.mean(list(per_class.values()))) if per_class else 0.0
    return F1(macro, 2.0 * both / either if either else 0.0, per_class)


def break_even_precision(scores: npt.ArrayLike, relevant: npt.ArrayLike) -> float:
    """BEP = Rel(N_rel)/N_rel, SD (4.2): the share of relevant documents among the first N_rel.

    Tied scores are cut by expectation: of t tied documents with r relevant ones, m places hold m·r/t of them. SD does
    not say how it treats ties; trec_eval (the measure `BEP`) orders them by id.
    """
    score, label = np.asarray(scores, np.float64), np.asarray(relevant, bool)
    n_rel = int(label.sum())
    if score.shape != label.shape or score.ndim != 1:
        raise ParameterError("scores and relevance must be two lists of one length")
    if n_rel == 0:
        raise ParameterError("break-even precision needs a relevant document")
    threshold = np.partition(score, len(score) - n_rel)[len(score) - n_rel]
    above, tied = score > threshold, score == threshold
    places = n_rel - int(above.sum())
    return float((label[above].sum() + places * label[tied].mean()) / n_rel)


def macro_bep(bep: npt.ArrayLike) -> float:
    """Macro-BEP = (1/|T|) Σ_T BEP(T), SD (4.3): every class counts the same."""
    values = np.asarray(bep, np.float64)
    if not len(values):
        raise ParameterError("there is no class to average over")
    return float(values.mean())


def micro_bep(bep: npt.ArrayLike, n_rel: npt.ArrayLike) -> float:
    """Micro-BEP = Σ_T N_rel(T)·BEP(T) / Σ_T N_rel(T), SD (4.4): every relevant document counts the same."""
    values, weight = np.asarray(bep, np.float64), np.asarray(n_rel, np.float64)
    if values.shape != weight.shape or not weight.sum() > 0:
        raise ParameterError("each class needs its number of relevant documents, and one of them some")
    return float(values @ weight / weight.sum())


class ClassJudged(NamedTuple):
    """One class: documents that have it, documents that got it, and how well the two agree. NaN: not defined."""

    label: str
    n_true: int
    n_predicted: int
    precision: float
    recall: float
    f1: float
    bep: float


class Judged(NamedTuple):
    """Accuracy (the share of documents whose labels are exactly right), F1 and break-even precision."""

    accuracy: float
    micro_f1: float
    macro_f1: float
    micro_bep: float
    macro_bep: float
    classes: tuple[ClassJudged, ...]


def judge(
    truth: Sequence[Labels], predicted: Sequence[Labels], scores: npt.ArrayLike, classes: Sequence[str]
) -> Judged:
    """Judge predicted labels, and the ranking of documents for each of `classes` by the columns of `scores`.

    Accuracy is SD (4.1), BEP SD (4.2) with its means (4.3) and (4.4). Macro means are over the classes that some
    document has; a class that the classifier does not know has F1 and BEP 0.
    """
    table = np.asarray(scores, np.float64)
    if table.shape != (len(truth), len(classes)):
        raise ParameterError(f"{len(truth)} documents and {len(classes)} classes need a table of that size")
    names = sorted({label for row in (*truth, *predicted) for label in row})
    of = f1_multilabel(truth, predicted, names)
    column = {label: i for i, label in enumerate(classes)}
    rows = []
    for name in names:
        true = np.array([name in row for row in truth])
        got = np.array([name in row for row in predicted])
        hits, n_true, n_got = int((true & got).sum()), int(true.sum()), int(got.sum())
        bep = np.nan
        if n_true:
            bep = break_even_precision(table[:, column[name]], true) if name in column else 0.0
        precision = hits / n_got if n_got else np.nan
        recall = hits / n_true if n_true else np.nan
        rows.append(ClassJudged(name, n_true, n_got, precision, recall, of.per_class[name], bep))
    there = [row for row in rows if row.n_true]
    if not there:
        raise ParameterError("no document has a label to judge by")
    beps = [row.bep for row in there]
    return Judged(
        float(np.mean(correct(truth, predicted))),
        of.micro,
        float(np.mean([row.f1 for row in there])),
        micro_bep(beps, [row.n_true for row in there]),
        macro_bep(beps),
        tuple(rows),
    )


def correct(truth: Sequence[Labels], predicted: Sequence[Labels]) -> npt.NDArray[np.float64]:
    """1 for each document whose labels are exactly right, else 0."""
    return np.array([set(t) == set(p) for t, p in zip(truth, predicted, strict=True)], np.float64)


def agreement(truth: Sequence[Labels], predicted: Sequence[Labels]) -> npt.NDArray[np.float64]:
    """F1 of each document's own labels, 2|T∩P|/(|T|+|P|); 1 where there are none and none was given.

    With one label a document it equals `correct`.
    """
    values = []
    for t, p in zip(truth, predicted, strict=True):
        total = len(set(t)) + len(set(p))
        values.append(2.0 * len(set(t) & set(p)) / total if total else 1.0)
    return np.array(values, np.float64)


class LabellingsCompared(NamedTuple):
    """Two classifiers on the same documents: means, a - b with its interval, wins, losses, and the tests."""

    a: float
    b: float
    effect: "Effect"
    wins: int
    losses: int
    tests: dict[str, "Significance"]


def compare_labellings(
    truth: Sequence[Labels], a: Sequence[Labels], b: Sequence[Labels], alternative: "Alternative" = "two-sided"
) -> LabellingsCompared:
    """Paired tests over documents of how right each is (`agreement`).

    With one label a document the sign test is McNemar's exact test: among documents where only one of the two is
    right, each is equally likely to be that one (McNemar 1947; exact form by the binomial).
    """
    x, y = agreement(truth, a), agreement(truth, b)
    tests = {name: test(x, y, alternative) for name, test in significance.TESTS.items()}
    return LabellingsCompared(
        float(x.mean()),
        float(y.mean()),
        significance.paired_effect(x, y),
        int((x > y).sum()),
        int((x < y).sum()),
        tests,
    )


def _same_length(truth: Sequence[object], predicted: Sequence[object]) -> None:
    if len(truth) != len(predicted) or not truth:
        raise ParameterError(f"{len(truth)} true and {len(predicted)} predicted classes: as many of each, and some")

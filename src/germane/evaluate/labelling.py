"""A labelling judged: everything one says of a classifier's answers, for one label a document or several."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from germane.errors import ParameterError
from germane.evaluate.break_even import break_even_precision, macro_bep, micro_bep
from germane.evaluate.classification import f1_multilabel
from germane.evaluate.effect import Effect, paired_effect
from germane.evaluate.significance import TESTS, Alternative, Significance

Labels = Collection[str]


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
    effect: Effect
    wins: int
    losses: int
    tests: dict[str, Significance]


def compare_labellings(
    truth: Sequence[Labels], a: Sequence[Labels], b: Sequence[Labels], alternative: Alternative = "two-sided"
) -> LabellingsCompared:
    """Paired tests over documents of how right each is (`agreement`).

    With one label a document the sign test is McNemar's exact test: among documents where only one of the two is
    right, each is equally likely to be that one (McNemar 1947; exact form by the binomial).
    """
    x, y = agreement(truth, a), agreement(truth, b)
    tests = {name: test(x, y, alternative) for name, test in TESTS.items()}
    return LabellingsCompared(
        float(x.mean()), float(y.mean()), paired_effect(x, y), int((x > y).sum()), int((x < y).sum()), tests
    )

"""Accuracy, F1 and the confusion matrix of hard decisions."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from germane.errors import ParameterError


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


def _same_length(truth: Sequence[object], predicted: Sequence[object]) -> None:
    if len(truth) != len(predicted) or not truth:
        raise ParameterError(f"{len(truth)} true and {len(predicted)} predicted classes: as many of each, and some")

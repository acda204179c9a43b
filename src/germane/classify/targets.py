"""Labels as they come, one for each document or several, checked and turned into a table of memberships."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from germane.arrays import AnyArray, Integers, Mask
from germane.errors import InputError, ParameterError

MANY_CLASSES = 100
"""From here on, more than one class for every two documents is taken for a mistake."""

LARGEST_TABLE = 1 << 32
"""Documents × classes, one byte each."""

_SEVERAL = (list, tuple, set, frozenset, np.ndarray)


@dataclass(frozen=True, eq=False)
class Targets:
    """The classes in order, which document has which (documents × classes), and whether one may have several."""

    classes: AnyArray
    members: Mask
    several: bool

    @classmethod
    def of(cls, labels: Sequence[Any]) -> "Targets":
        """Labels are strings or whole numbers, or collections of them where a document may have several or none."""
        given = list(labels)
        several = any(isinstance(label, _SEVERAL) for label in given)
        if several and not all(isinstance(label, _SEVERAL) for label in given):
            raise ParameterError("some labels are lists and others are not: give each document a list, or none")
        rows = [list(label) for label in given] if several else [[label] for label in given]
        flat = [label for row in rows for label in row]
        _check_kinds(flat)
        classes, numbers = np.unique(np.array(flat), return_inverse=True)
        _check_classes(classes, len(rows))
        members = np.zeros((len(rows), len(classes)), bool)
        members[np.repeat(np.arange(len(rows)), [len(row) for row in rows]), numbers] = True
        if several and members.all(axis=0).any():
            everywhere = classes[members.all(axis=0)][0]
            raise InputError(f"every document has the label {everywhere.item()!r}: there is nothing to tell apart")
        return cls(classes, members, several)

    def numbers(self) -> Integers:
        """The number of each document's one class."""
        return np.asarray(self.members.argmax(axis=1), np.int64)

    def size(self) -> Integers:
        """How many documents each class has."""
        return np.asarray(self.members.sum(axis=0), np.int64)


def _check_kinds(flat: Sequence[Any]) -> None:
    if not flat:
        raise InputError("no document has a label")
    words = isinstance(flat[0], str)
    for label in flat:
        if not isinstance(label, str | int | np.integer | np.bool_) or isinstance(label, str) is not words:
            kind = type(label).__name__
            raise ParameterError(f"labels are all strings or all whole numbers; {label!r} ({kind}) is among them")
        if isinstance(label, str) and not label.strip():
            raise InputError("a label is empty: leave the document out, or name its class")


def _check_classes(classes: AnyArray, n_docs: int) -> None:
    if len(classes) < 2:
        raise InputError(f"there is one label only, {classes[0].item()!r}: a classifier needs two classes or more")
    if len(classes) >= MANY_CLASSES and 2 * len(classes) > n_docs:
        raise InputError(
            f"{len(classes):,} different labels for {n_docs:,} documents: nearly every document has its own, "
            "so this is not a column of classes"
        )
    if len(classes) * n_docs > LARGEST_TABLE:
        raise InputError(f"{len(classes):,} classes and {n_docs:,} documents are too many for the memory")

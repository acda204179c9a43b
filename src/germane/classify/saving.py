"""A fitted classifier as one file, without pickle: plain numbers and text that cannot run anything when they are read.

`data/model_file.py` has the file; its settings hold the tree of estimators, which names the arrays.
"""

import math
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from germane.arrays import AnyArray
from germane.classify.statistics import ClassStatistics
from germane.data.model_file import KINDS, Arrays, ModelFile
from germane.errors import InputError, ParameterError

FILE = ModelFile(b"GERMANE CLASSIFIER", 1, "saved classifier", "germane classify train --into FILE writes one")
MAGIC = FILE.magic
MAX_TABLE_RATIO = 1000
FREE_TABLE_BYTES = 1 << 30
"""How many times as long as the file its tables may be, which are kept without their zeros, and the bytes that are not
counted."""
LARGEST_TABLE = 1 << 30
"""Classes × words that a model may hold: 8 GB of numbers."""
_FITTED = frozenset((
    "_alpha", "_log_alpha", "S_", "alone_", "bias_", "class_log_prior_", "classes_", "coef_", "columns_", "estimators_",
    "idf_", "intercept_", "label_binarizer_", "members_", "n_features_in_", "n_iter_", "names_", "shares_",
    "sparse_input_", "theta_GE_", "thresholds_", "together_", "weights_", "y_type_",
))  # fmt: skip
"""What fitting leaves in the estimators that are saved with it."""
_PLAIN = (bool, int, float, str, type(None))

Classes: TypeAlias = Mapping[str, type[Any]]
"""The estimators that a file may hold, by the names it calls them."""


def write_model(path: str | Path, content: Mapping[str, Any], classes: Classes) -> None:
    """Write a dictionary of numbers, texts, arrays, sparse arrays and estimators of `classes`, all or nothing."""
    arrays: Arrays = {}
    tree = _Packing(classes, arrays).pack(dict(content))
    FILE.write(path, tree, arrays)


def is_model(path: str | Path) -> bool:
    """Whether the file begins as a saved classifier does; what comes then may still be damaged."""
    return FILE.begins(path)


def read_model(path: str | Path, classes: Classes) -> dict[str, Any]:
    """What `write_model` wrote; `InputError` for what is missing, damaged, of a newer version or something else."""
    content: dict[str, Any] | None = None
    with FILE.reading(path) as (settings, arrays, size_of_file):
        if (size := 8 * _table_cells(settings)) > FREE_TABLE_BYTES + MAX_TABLE_RATIO * size_of_file:
            message = f"the tables of the saved classifier need {size:,} bytes, far more than its size: refused"
            raise InputError(message, source=str(path))
        content = _unpack(settings, arrays, classes)
        if not isinstance(content, dict):
            raise TypeError
    return content


def refusing_what_is_forged(path: str | Path) -> AbstractContextManager[None]:
    """Any failure within is the file's: with a right checksum, it was never written by `write_model`."""
    return FILE.refusing_what_is_forged(path)


def _table_cells(settings: Any) -> float:
    """How many numbers all tables have together, zeros included."""
    cells = 0
    rest = [settings]
    for item in rest:  # which grows meanwhile
        if isinstance(item, dict):
            cells += abs(math.prod(item["shape"])) if "sparse" in item else 0
            rest += item.values()
        elif isinstance(item, list):
            rest += item
    return cells


class _Packing:
    """Values to JSON; arrays are put aside and named."""

    def __init__(self, classes: Classes, arrays: Arrays) -> None:
        self._names = {kind: name for name, kind in classes.items()}
        self._arrays = arrays

    def pack(self, value: Any) -> Any:
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, _PLAIN):
            return value
        if isinstance(value, np.ndarray):
            return {"array": self._put_aside(value)}
        if sparse.issparse(value):
            rows = sparse.csr_array(value)
            parts = [self._put_aside(part) for part in (rows.data, rows.indices, rows.indptr)]
            return {"sparse": parts, "shape": list(rows.shape)}
        if isinstance(value, list | tuple):
            return {"tuple" if isinstance(value, tuple) else "list": [self.pack(item) for item in value]}
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return {"dict": self._packed(value)}
        if isinstance(value, ClassStatistics):
            return self.pack({**vars(value), "sums": sparse.csr_array(value.sums)})
        if type(value) in self._names and hasattr(value, "statistics_"):
            # The parameters follow from the statistics, which are mostly zeros: the file is smaller.
            return {
                "estimator": self._names[type(value)],
                "parameters": self._packed(value.get_params(deep=False)),
                "statistics": self.pack(value.statistics_),
            }
        if type(value) in self._names:
            parameters = value.get_params(deep=False)
            fitted = {name: item for name, item in vars(value).items() if name not in parameters}
            return {
                "estimator": self._names[type(value)],
                "parameters": self._packed(parameters),
                "fitted": self._packed(fitted),
            }
        raise ParameterError(f"a {type(value).__name__} cannot be saved")

    def _packed(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.pack(item) for name, item in values.items()}

    def _put_aside(self, array: AnyArray) -> str:
        if array.dtype == object:
            array = np.array(array.tolist())  # words, which NumPy keeps as Python's own strings
        if array.dtype.kind not in KINDS:
            raise ParameterError(f"an array of {array.dtype} cannot be saved")
        name = f"a{len(self._arrays)}"
        self._arrays[name] = array
        return name


def _unpack(value: Any, arrays: Arrays, classes: Classes) -> Any:
    if isinstance(value, _PLAIN):
        return value
    if "array" in value:
        return arrays[value["array"]]
    if "sparse" in value:
        data, columns, starts = (arrays[name] for name in value["sparse"])
        return _sparse_rows(data, columns, starts, *value["shape"])
    if "list" in value:
        return [_unpack(item, arrays, classes) for item in value["list"]]
    if "tuple" in value:
        return tuple(_unpack(item, arrays, classes) for item in value["tuple"])
    if "dict" in value:
        return {key: _unpack(item, arrays, classes) for key, item in value["dict"].items()}
    estimator = classes[value["estimator"]](
        **{name: _unpack(item, arrays, classes) for name, item in value["parameters"].items()}
    )
    if "statistics" in value:
        parts = _unpack(value["statistics"], arrays, classes)
        return estimator.fit_statistics(_checked(ClassStatistics(**{**parts, "sums": parts["sums"].toarray()})))
    for name, item in value["fitted"].items():
        if name not in _FITTED:
            raise ValueError
        setattr(estimator, name, _unpack(item, arrays, classes))
    _check_shapes(estimator)
    return estimator


def _sparse_rows(data: AnyArray, columns: AnyArray, starts: AnyArray, n_rows: int, n_columns: int) -> Any:
    """The rows of a table. SciPy trusts `columns` and `starts`, and its own check of them can overflow."""
    if any(array.ndim != 1 for array in (data, columns, starts)) or {columns.dtype.kind, starts.dtype.kind} != {"i"}:
        raise ValueError
    at, ends = columns.astype(np.int64), starts.astype(np.int64)
    if (
        n_rows * n_columns > LARGEST_TABLE
        or ends.shape != (n_rows + 1,)
        or not 0 == ends[0] <= ends[-1] == len(data) == len(at)
        or (ends[1:] < ends[:-1]).any()
        or ((at < 0) | (at >= n_columns)).any()
        or not np.isfinite(data).all()
    ):
        raise ValueError
    return sparse.csr_array((data, columns, starts), shape=(n_rows, n_columns))


def _checked(statistics: ClassStatistics) -> ClassStatistics:
    """The statistics, if their parts fit together: kernels trust them."""
    n_classes, n_words = statistics.sums.shape
    vectors = [(statistics.n_docs, n_classes)]
    if statistics.background is not None:
        vectors.append((statistics.background, n_words))
    good = statistics.classes.shape == (n_classes,) and statistics.sums.dtype == np.float64
    for vector, size in vectors:
        good = good and vector.shape == (size,) and vector.dtype == np.float64 and bool(np.isfinite(vector).all())
        good = good and bool((vector >= 0).all())
    if not good:
        raise ValueError
    return statistics


def _check_shapes(estimator: Any) -> None:
    """Raise where an estimator's arrays do not fit together, or those within it were made for other words."""
    fitted = vars(estimator)
    n_words, n_classes = fitted.get("n_features_in_"), len(fitted.get("classes_", ()))
    due = {
        "_alpha": (n_words, n_classes),
        "_log_alpha": (n_words, n_classes),
        "S_": (n_classes,),
        "class_log_prior_": (n_classes,),
        "theta_GE_": (n_words,),
        "coef_": (len(fitted.get("intercept_", ())), n_words),
        "thresholds_": (n_classes,),
        "bias_": (n_classes,),
        "weights_": (len(fitted.get("members_", ())),),
        "idf_": (n_words,),
    }
    for name, shape in due.items():
        if name in fitted and (fitted[name].shape != shape or fitted[name].dtype != np.float64):
            raise ValueError
    if any(inner.n_features_in_ != n_words for inner in fitted.get("estimators_", ())):
        raise ValueError
    for inner, columns in zip(fitted.get("members_", ()), fitted.get("columns_", ()), strict=True):
        if columns.dtype.kind != "i" or columns.shape != (inner.n_features_in_,):
            raise ValueError
        if len(columns) and not (columns[0] >= 0 and columns[-1] < n_words and (np.diff(columns) > 0).all()):
            raise ValueError

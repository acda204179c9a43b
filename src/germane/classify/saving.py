"""A fitted model as one file, without pickle: plain numbers and text that cannot run anything when they are read.

    GERMANE CLASSIFIER <version> <SHA-256 of what follows>\n
    an .npz archive: `settings`, UTF-8 JSON that holds the tree of estimators, and the arrays it names

The file is written whole or not at all, and one flipped bit or a missing end is noticed before anything is read. The
same model gives the same bytes.
"""

import hashlib
import io
import json
import math
import re
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from germane.arrays import AnyArray
from germane.classify.statistics import ClassStatistics
from germane.data.atomic import write_bytes
from germane.errors import InputError, ParameterError

VERSION = 1
MAGIC = b"GERMANE CLASSIFIER"
_HEADER = re.compile(rb"GERMANE CLASSIFIER (\d{1,9}) ([0-9a-f]{64})\n")
_LONGEST_HEADER = 100
MAX_RATIO = 100
FREE_BYTES = 1 << 26
"""How many times as long as the file its arrays may be, and the bytes that are not counted."""
MAX_TABLE_RATIO = 1000
FREE_TABLE_BYTES = 1 << 30
"""The same for its tables, which are kept without their zeros."""
LARGEST_TABLE = 1 << 30
"""Classes × words that a model may hold: 8 GB of numbers."""
KINDS = "biufU"
"""The arrays that are kept: truth values, numbers and text."""
_SETTINGS = "settings"
_FITTED = frozenset((
    "_alpha", "_log_alpha", "S_", "class_log_prior_", "classes_", "coef_", "estimators_", "intercept_",
    "label_binarizer_", "n_features_in_", "n_iter_", "sparse_input_", "theta_GE_", "thresholds_", "y_type_",
))  # fmt: skip
"""What fitting leaves in the estimators that are saved with it."""
_PLAIN = (bool, int, float, str, type(None))

Arrays: TypeAlias = dict[str, AnyArray]
Classes: TypeAlias = Mapping[str, type[Any]]
"""The estimators that a file may hold, by the names it calls them."""


def write_model(path: str | Path, content: Mapping[str, Any], classes: Classes) -> None:
    """Write a dictionary of numbers, texts, arrays, sparse arrays and estimators of `classes`, all or nothing."""
    arrays: Arrays = {}
    tree = _Packing(classes, arrays).pack(dict(content))
    settings = json.dumps(tree, ensure_ascii=False, separators=(",", ":")).encode()
    archive = io.BytesIO()
    arrays[_SETTINGS] = np.frombuffer(settings, np.uint8)
    np.savez_compressed(archive, allow_pickle=False, **arrays)
    body = archive.getvalue()
    header = b"%s %d %s\n" % (MAGIC, VERSION, hashlib.sha256(body).hexdigest().encode())
    write_bytes(path, header + body)


def is_model(path: str | Path) -> bool:
    """Whether the file begins as a saved classifier does; what comes then may still be damaged."""
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source=str(path)) from None


def read_model(path: str | Path, classes: Classes) -> dict[str, Any]:
    """What `write_model` wrote; `InputError` for what is missing, damaged, of a newer version or something else."""
    try:
        with open(path, "rb") as file:
            head = file.readline(_LONGEST_HEADER)
            header = _HEADER.fullmatch(head)
            body = file.read() if header is not None else b""  # else it may be anything, of any length
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source=str(path)) from None
    except MemoryError:
        raise InputError("the saved classifier needs more memory than there is", source=str(path)) from None
    if header is None:
        if head.startswith(MAGIC) or (head and MAGIC.startswith(head)):
            raise InputError("the saved classifier is damaged or cut off at its beginning", source=str(path))
        raise InputError("not a saved classifier: germane classify train --into FILE writes one", source=str(path))
    version, digest = int(header[1]), header[2].decode()
    if version != VERSION:
        raise InputError(
            f"has format version {version}, this program reads {VERSION}: upgrade germane", source=str(path)
        )
    if hashlib.sha256(body).hexdigest() != digest:
        raise InputError("the saved classifier is damaged or cut off (its checksum differs)", source=str(path))
    with refusing_what_is_forged(path):
        arrays = _read_arrays(body, str(path))
        settings = json.loads(arrays.pop(_SETTINGS).tobytes())
        if (size := 8 * _table_cells(settings)) > FREE_TABLE_BYTES + MAX_TABLE_RATIO * len(body):
            message = f"the tables of the saved classifier need {size:,} bytes, far more than its size: refused"
            raise InputError(message, source=str(path))
        content = _unpack(settings, arrays, classes)
        if not isinstance(content, dict):
            raise TypeError
    return content


@contextmanager
def refusing_what_is_forged(path: str | Path) -> Iterator[None]:
    """Any failure within is the file's: with a right checksum, it was never written by `write_model`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except InputError:
        raise
    except MemoryError:
        raise InputError("the saved classifier needs more memory than there is", source=str(path)) from None
    except Exception:
        raise InputError("the saved classifier holds something this program cannot read", source=str(path)) from None


def _read_arrays(body: bytes, source: str) -> Arrays:
    """The arrays of the archive, none larger than the archive says, all together no larger than is likely."""
    arrays: Arrays = {}
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        size = sum(member.file_size for member in archive.infolist())
        if size > FREE_BYTES + MAX_RATIO * len(body):
            raise InputError(
                f"the saved classifier unpacks to {size:,} bytes, more than {MAX_RATIO} times its size: refused",
                source=source,
            )
        for member in archive.infolist():
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError
            arrays[member.filename.removesuffix(".npy")] = _array(archive.read(member))
    return arrays


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


def _array(data: bytes) -> AnyArray:
    """An array in NumPy's format. Its numbers are counted before room is made for them."""
    file = io.BytesIO(data)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(file)
    n = math.prod(shape)
    if dtype.kind not in KINDS or min(shape, default=0) < 0 or len(data) - file.tell() != n * dtype.itemsize:
        raise ValueError
    flat = np.frombuffer(data, dtype, n, file.tell())
    return flat.reshape(shape, order="F" if by_columns else "C").copy(order="K")


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
    }
    for name, shape in due.items():
        if name in fitted and (fitted[name].shape != shape or fitted[name].dtype != np.float64):
            raise ValueError
    if any(inner.n_features_in_ != n_words for inner in fitted.get("estimators_", ())):
        raise ValueError

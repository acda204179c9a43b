"""Vectors in files: NumPy's .npy with ids beside it, or JSON Lines with an id and a vector each."""

from pathlib import Path

import numpy as np
import orjson

from germane.arrays import AnyArray
from germane.data.fields import document_id
from germane.data.jsonl import json_object
from germane.data.lines import decode, read_lines
from germane.errors import InputError


def read_vectors(path: Path, ids: Path | None = None) -> tuple[list[str], AnyArray]:
    """The ids and the matrix of their vectors, a row each.

    `path`: a .npy file, with the ids one a line in the file `ids`; or JSON Lines with `id` and `vector`.
    """
    if path.suffix == ".npy":
        if ids is None:
            raise InputError("a .npy file says nothing of documents: give a file with an id a line", source=str(path))
        return [decode(line, str(ids), n).strip() for n, line in read_lines(ids) if line.strip()], _matrix(path)
    if ids is not None:
        raise InputError("JSON Lines have their own ids", source=str(path))
    names: list[str] = []
    rows: list[AnyArray] = []
    for number, line in read_lines(path):
        if not line.strip():
            continue
        record = json_object(line, str(path), number)
        name, vector = document_id(record.get("id")), record.get("vector")
        if name is None or not isinstance(vector, list) or not vector:
            raise InputError("a line needs an 'id' and a 'vector', a list of numbers", source=str(path), line=number)
        if rows and len(rows[0]) != len(vector):
            raise InputError(
                f"the vector has {len(vector)} numbers, the first has {len(rows[0])}", source=str(path), line=number
            )
        names.append(name)
        rows.append(_row(vector, str(path), number))
    if not rows:
        raise InputError("there are no vectors in it", source=str(path))
    return names, np.stack(rows)


def read_vector(path: Path) -> AnyArray:
    """One vector: a .npy file, or a JSON list of numbers."""
    if path.suffix == ".npy":
        return _matrix(path).reshape(-1)
    try:
        vector = orjson.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", source=str(path)) from None
    except orjson.JSONDecodeError as error:
        raise InputError(f"not a JSON list of numbers ({error.msg})", source=str(path)) from None
    if not isinstance(vector, list) or not vector:
        raise InputError("not a JSON list of numbers", source=str(path))
    return _row(vector, str(path), None)


def _row(vector: list[object], source: str, line: int | None) -> AnyArray:
    if not all(type(value) in (int, float) for value in vector):
        raise InputError("a vector is a list of numbers, and this one holds something else", source=source, line=line)
    return np.array(vector, np.float64)


def _matrix(path: Path) -> AnyArray:
    try:
        found: AnyArray = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source=str(path)) from None
    except ValueError as error:
        raise InputError(f"not an array of numbers ({error})", source=str(path)) from None
    return found

"""Data sets by name: each a folder with `docs.jsonl.gz`, `queries.tsv` and `qrels.txt`, below `GERMANE_DATA`."""

import os
from pathlib import Path

from germane.data.compression import ENDINGS
from germane.errors import InputError

VARIABLE = "GERMANE_DATA"
DOCUMENTS = "docs.jsonl"
TOPICS = "queries.tsv"
QRELS = "qrels.txt"


def data_root() -> Path:
    """The folder that the environment variable `GERMANE_DATA` names."""
    value = os.environ.get(VARIABLE, "")
    if not value:
        raise InputError(f"data sets are looked up by name in the folder that {VARIABLE} names, and it is not set")
    root = Path(value)
    if not root.is_dir():
        raise InputError(f"{VARIABLE} must name a folder, and this is none", source=value)
    return root


def dataset_names() -> list[str]:
    """The data sets below `data_root()`: its folders that hold documents."""
    return sorted(folder.name for folder in data_root().iterdir() if documents_in(folder) is not None)


def dataset_path(name: str) -> Path:
    """The folder of a data set."""
    root = data_root()
    if _is_name(name) and (root / name).is_dir():
        return root / name
    known = ", ".join(dataset_names()) or "none"
    raise InputError(f"no data set called '{name}'; there are: {known}", source=str(root))


def documents_in(folder: Path) -> Path | None:
    """The documents of a data-set folder: `docs.jsonl`, compressed or not."""
    return _variant(folder / DOCUMENTS)


def resolve(source: str | Path, file: str | None = None) -> Path:
    """The existing path, or else the data set of that name; with `file`, that file inside a data set's folder."""
    path = Path(source)
    try:
        exists = path.exists()
    except (OSError, ValueError):  # a name too long for the system, or with a NUL in it
        exists = False
    if not exists:
        if not _is_name(str(source)):
            raise InputError("no such file or folder", source=str(source))
        try:
            path = dataset_path(str(source))
        except InputError as error:
            raise InputError(f"no such file or folder; as a data set: {error}", source=str(source)) from None
    if file is not None and path.is_dir():
        inside = _variant(path / file)
        if inside is None:
            raise InputError(f"the folder has no {file}", source=str(path))
        path = inside
    return path


def _variant(path: Path) -> Path | None:
    """The file of this name, with or without a compression ending."""
    names = (path, *(path.with_name(path.name + ending) for ending in ENDINGS))
    return next((candidate for candidate in names if candidate.is_file()), None)


def _is_name(source: str) -> bool:
    return bool(source) and source not in (".", "..") and not any(mark in source for mark in "/\\.:\0")

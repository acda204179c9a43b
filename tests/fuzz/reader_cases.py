"""Mutations of every input format, plain and compressed. What the oracles ask of a file that is not refused:

- compressed: the documents are those of the file before the change (every compression here carries a checksum);
- documents: records that end before the change are read as they were, and a reading that stops at the first bad
  record gives the beginning of one that skips them;
- JSON Lines, qrels and runs: Python's own `json.loads` or `split` of every line gives the same.
"""

import bz2
import codecs
import gzip
import json
import math
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import zstandard

from fuzz import corpus
from fuzz.harness import Verdict
from fuzz.mutations import TOKENS, mutate
from germane.cli.label_files import read_predictions
from germane.cli.result_list import ResultSource
from germane.data import SkipReport, read_documents, read_qrels, read_run, read_topics
from germane.errors import GermaneError, InputError
from germane.evaluate.rankings import load_qrels, load_run
from germane.experiments.kinds import read_experiment
from germane.refine.screening.decisions import read_decisions, write_decisions

PACKERS: tuple[tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]], ...] = (
    (lambda data: gzip.compress(data, mtime=0), gzip.decompress),
    (bz2.compress, bz2.decompress),
    (
        zstandard.ZstdCompressor(write_checksum=True).compress,
        lambda data: zstandard.ZstdDecompressor().decompress(data),
    ),
)
COMPRESSED = (b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd")
FORMATS = tuple(corpus.DOCUMENTS)
SAMPLES = {
    **corpus.DOCUMENTS, **corpus.TOPICS, **corpus.RANKINGS,
    **{f"decisions{ending}": data for ending, data in corpus.DECISIONS.items()},
    "predictions": corpus.PREDICTIONS, "hits": corpus.HITS, "experiment": corpus.EXPERIMENT,
}  # fmt: skip
NAMES = tuple(SAMPLES)
LONGEST = 1 << 19
ENCODINGS = ("utf-16", "latin-1", "cp1252", "shift_jis", "utf-7")
LISTS: dict[str, Callable[[Path], Any]] = {
    "run": lambda path: list(read_run(path)),
    "qrels": lambda path: list(read_qrels(path)),
    "json run": load_run,
    "three-column run": load_run,
    "json qrels": load_qrels,
    "predictions": lambda path: read_predictions(str(path), ["d1", "d2"], ";"),
    "hits": lambda path: ResultSource(str(path), (), None, "utf-8", "stop").read(),
    "experiment": read_experiment,
}
"""How all but documents, topics and decisions are read: whole."""


class ReaderJudge:
    """Case n is a change to sample n mod 24, in one of several ways."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "folder" / "file.x"
        self._path.parent.mkdir()
        self._path.touch()
        for ending in corpus.DECISIONS:
            (folder / f"d{ending}").touch()
        self._folder = folder
        for encoding in ENCODINGS:
            codecs.lookup(encoding)  # loads a file that another user may not be allowed to read
        self._whole = {name: self._read(name, data)[0] for name, data in SAMPLES.items()}

    def __call__(self, case: int) -> Verdict:
        rng = Random(f"readers {case}")
        name = NAMES[case % len(NAMES)]
        way = rng.randrange(8)
        if way == 0:
            return self._packed(name, rng)
        if way == 1 and name in FORMATS:
            return self._unnamed(name, rng)
        return self._plain(name, rng)

    def _packed(self, name: str, rng: Random) -> Verdict:
        """A change to a compressed file."""
        pack, unpack = rng.choice(PACKERS)
        data = mutate(pack(SAMPLES[name]), rng).data
        found, error = self._read(name, data)
        if error is None and data[:4] == pack(b"")[:4]:
            assert found in (self._whole[name], self._read(name, unpack(data))[0]), "another content than was packed"
        return _verdict(error)

    def _unnamed(self, name: str, rng: Random) -> Verdict:
        """A change to a file in some encoding, whose format nobody names."""
        encoding = rng.choice(ENCODINGS)
        data = mutate(SAMPLES[name].decode().encode(encoding, "replace"), rng).data
        self._path.write_bytes(data)
        format = None if rng.random() < 0.7 or name == "folder" else name
        report = SkipReport()
        for document in read_documents(self._path, format=format, encoding=encoding, on_error="skip", report=report):
            _fit(document)
        return Verdict("same")

    def _plain(self, name: str, rng: Random) -> Verdict:
        mutated = mutate(SAMPLES[name], rng, tuple(SAMPLES.values()))
        data = mutated.data
        found, error = self._read(name, data)
        packed = data.startswith(COMPRESSED)
        if name in FORMATS:
            stopped, first = self._read(name, data, stop=True)
            assert stopped == found[: len(stopped)], "stopping gives something else than skipping"
            assert (first is None) <= (stopped == found), "nothing was wrong, and yet something was skipped"
            if name != "folder" and not packed:
                before = self._read(name, SAMPLES[name][: mutated.kept])[0][:-1]  # the last may be cut
                if error is not None:
                    before = before[: len(found)]
                assert found[: len(before)] == before, "a record before the change is another"
        if not packed:
            _check_lines(name, data, found, error)
        return _verdict(error)

    def _read(self, name: str, data: bytes, *, stop: bool = False) -> tuple[Any, InputError | None]:
        """What can be read, and the error that ended it."""
        path = self._path
        if name.startswith("decisions"):
            path = self._folder / f"d{Path(name).suffix}"
        path.write_bytes(data)
        found: Any = []
        try:
            if name in LISTS:
                found = LISTS[name](path)
            elif path is not self._path:
                found = read_decisions(path)
                self._write_again(path, found)
            elif name.endswith("topics"):
                for topic in read_topics(path):
                    found.append(topic)
                    json.dumps(topic).encode()
            else:
                source = path.parent if name == "folder" else path
                on_error = "stop" if stop or name == "folder" else "skip"  # the one file of the folder is a record
                for document in read_documents(source, format=name, on_error=on_error, report=SkipReport()):
                    found.append(document)
                    _fit(document)
        except InputError as error:
            failure = error
        else:
            return found, None
        assert failure.source in (str(path), str(path.parent)), "the error names another file"
        assert "\n" not in failure.message, "an error of two lines"
        return found, failure

    def _write_again(self, path: Path, found: dict[str, bool]) -> None:
        """Decisions that were read are written and read again as they are, or refused for what the format cannot."""
        try:
            write_decisions(path, found)
        except GermaneError:
            return
        assert read_decisions(path) == found, "decisions changed when written"


class LongReaderJudge(ReaderJudge):
    """Case n repeats a piece of sample n mod 24 until it is LONGEST bytes: what is not linear hangs."""

    def __call__(self, case: int) -> Verdict:
        rng = Random(f"long {case}")
        name = NAMES[case % len(NAMES)]
        data = SAMPLES[name]
        start, at = rng.randrange(len(data)), rng.randrange(len(data))
        piece = rng.choice(TOKENS) if rng.random() < 0.5 else data[start : start + rng.choice((1, 2, 5, 12, 40))]
        return _verdict(self._read(name, data[:at] + piece * (LONGEST // len(piece)) + data[at:])[1])


def _fit(document: Any) -> None:
    """What was read must be fit to go on with."""
    json.dumps(document.fields, allow_nan=False, ensure_ascii=False).encode()
    document.id.encode()
    assert document.id.strip(), "an empty id"


def _verdict(error: InputError | None) -> Verdict:
    return Verdict("refused", str(error)[:300]) if error else Verdict("same")


# -- oracles -----------------------------------------------------------------------------------------------------------


def _check_lines(name: str, data: bytes, found: Any, error: InputError | None) -> None:
    lines = data.removeprefix(b"\xef\xbb\xbf").partition(b"\0")[0].split(b"\n")
    if name == "jsonl":
        records = [record for record in map(_record, lines) if record is not None]
        assert len(found) == len(records), "another number of records"
        for document, (doc_id, fields) in zip(found, records, strict=True):
            assert document.id == doc_id, "another id"
            assert list(document.fields) == list(fields), "other fields"
            for value, own in zip(fields.values(), document.fields.values(), strict=True):
                if not isinstance(value, dict | list):
                    assert (type(own), own) == (type(value), value), "another value"
    elif name == "run" and error is None:
        rows = [[x.decode() for x in line.split()] for line in lines]
        assert [list(entry) for entry in found] == [[r[0], r[2], int(r[3]), float(r[4]), r[5]] for r in rows if r]
    elif name == "qrels" and error is None:
        rows = [[x.decode() for x in line.split()] for line in lines]
        assert [(j.query_id, j.doc_id, j.grade) for j in found] == [(r[0], r[-2], int(r[-1])) for r in rows if r]
    elif name == "json run" and error is None:
        assert all(not math.isnan(score) for scores in found.values() for score in scores.values())


def _record(line: bytes) -> tuple[str, dict[str, Any]] | None:
    """The id and the fields of a line of JSON Lines, by Python's own parser; None where it must be skipped."""
    try:
        record = json.loads(line.decode(), parse_constant=float, parse_int=_whole)
        json.dumps(record, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    first = next((name for name in ("id", "_id", "docno", "doc_id", "docid") if record.get(name) is not None), "id")
    value = record.pop(first, None)
    if first != "id":
        record.pop("id", None)  # it is there, and null
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value), record
    return (value, record) if isinstance(value, str) and value.strip() else None


def _whole(digits: str) -> int:
    number = int(digits[:30])
    if not -(2**63) <= number < 2**64:
        raise ValueError
    return number

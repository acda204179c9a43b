"""Mutations of the files of an index, and what must come of each.

A damaged file (`mutated`) must be refused or make no difference to any answer, and `check` must see it. A forged one,
whose checksums are right, is a file that somebody made: it may say what it likes, but no more than be read or refused.
"""

import contextlib
import os
import random
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from fuzz.harness import Verdict, mutated
from germane.engine import Engine
from germane.errors import GermaneError
from germane.index import durable
from germane.index.check import check_index
from germane.index.ciff import export_ciff
from germane.index.container import _TRAILER, PIECE
from germane.index.manifest import NAME
from germane.index.repair import repair_index
from germane.index.sequences import TextFields, documents_with_phrase, documents_with_terms_in_field
from germane.rank.maxscore import posting_cache as decoded
from germane.rank.registry import model_named
from germane.types import Document

QUERIES = ("w1", "w3 w2 w90", "+w1 -w5 w2 year:1990..1995", "w7 tags:red", "wxyz w11")
LONG = " ".join(f"w{i}" for i in range(1, 30))
MODELS = ("bm25", "dirichlet", "jm", "bm25", "tfidf")


def make_corpus(folder: Path) -> list[Path]:
    """Two indexes: one with several segments, deletions and columns, one of more documents than a kernel's window."""
    rng = random.Random(7)

    def text(words: int) -> str:
        return " ".join(f"w{min(int(rng.expovariate(0.03)), 300)}" for _ in range(words))

    def document(doc_id: str, words: int) -> Document:
        fields: dict[str, Any] = {"text": text(words), "year": rng.randrange(1980, 2000)}
        if rng.random() < 0.7:
            fields["tags"] = rng.sample(["red", "green", "blau ü"], rng.randrange(3))
        return Document(doc_id, fields)

    with Engine.create(folder / "small") as engine:
        engine.add([document(f"a{i}", 12) for i in range(400)])
        engine.add([document(f"b{i}", 2000) for i in range(12)])
        engine.add([document(f"a{i}", 5) for i in range(3)], on_duplicate="replace")
        engine.delete(["a7", "b8", "a300"])
    with Engine.create(folder / "wide") as engine:
        engine.add([Document(f"d{i}", {"text": text(3)}) for i in range(17_000)])
    for index in ("small", "wide"):
        (folder / index / durable.LOCK_NAME).unlink()
    return [folder / "small", folder / "wide"]


def answers(engine: Engine, *, long: bool) -> list[Any]:
    """What a search shows: scores to the last bit, ids, fields, words, an explanation, learnt words."""
    found: list[Any] = []
    for query, model in [("w1 w2", "bm25"), (LONG, "bm25")] if long else zip(QUERIES, MODELS, strict=True):
        result = engine.search(query, 10, model=model)
        found.append((result.ids, result.scores.tolist(), [dict(hit.fields) for hit in result][:3]))
    texts = TextFields(engine.analyzer, engine.text_fields)
    for live in engine.retriever.snapshot.segments:
        terms = live.segment.find_terms(["w1", "w2"]).tolist()
        for slop in (0, 4):
            found.append(documents_with_phrase(live.segment, terms, slop, texts).tolist())
        found.append(documents_with_terms_in_field(live.segment, terms, "text", texts).tolist())
    ids = found[0][0]
    if ids:
        found.append(repr(engine.explain("w1 w2", ids[0])))
    if not long:
        learnt = engine.search("w1 w2", 5, feedback="rm3")
        found.append((learnt.ids, learnt.scores.tolist(), repr(learnt.feedback.words) if learnt.feedback else None))
        found.append(engine.stats().terms)
        found.append(engine.suggest("w33x"))
    return found


def inconsistent(engine: Engine) -> str | None:
    """Where a search that skips what cannot count differs from one that does not, or a score is no number."""
    weights = {f"w{i}": 1.0 + i % 3 for i in (1, 2, 3, 5, 90)}
    for name in ("bm25", "dirichlet", "jm", "tfidf", "dce"):
        model = model_named(name)
        searcher = engine.retriever._searcher
        found, all_of_it = (searcher.search(weights, model, 10, prune=prune) for prune in (True, False))
        if not np.isfinite(found.scores).all():
            return f"{name}: scores {found.scores.tolist()}"
        if found.scores.tolist() != all_of_it.scores.tolist() or found.docs.tolist() != all_of_it.docs.tolist():
            return f"{name}: {found} is not {all_of_it}"
    return None


class IndexJudge:
    """Judges one mutation of one file by its number; `folder` is where it may work."""

    def __init__(self, corpus: list[Path], folder: Path) -> None:
        self._folder = folder
        self._indexes = [
            {path.name: path.read_bytes() for path in sorted(index.iterdir()) if path.is_file()} for index in corpus
        ]
        self._corpus = corpus
        self._expected = [answers(Engine.open(index), long=i == 1) for i, index in enumerate(corpus)]
        self._documents = [sorted(doc.id for doc in Engine.open(index).documents()) for index in corpus]

    def __call__(self, case: int) -> Verdict:
        rng = random.Random(case)
        which = 1 if rng.random() < 0.05 else 0
        files = self._indexes[which]
        name = rng.choice([name for name in files for _ in range(1 if name.startswith("deletions") else 2)])
        forged = rng.random() < 0.4
        content = (forge_manifest if name == NAME else forge_container)(files[name], rng) if forged else None
        if content is None:
            forged, content = False, mutated(files[name], rng)
        work = self._folder / f"case-{os.getpid()}"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        for other in files:
            if other != name:
                os.link(self._corpus[which] / other, work / other)
        (work / name).write_bytes(content)
        resized = name.startswith("segment") and len(content) != len(files[name])
        if forged and resized:
            (work / NAME).unlink()
            (work / NAME).write_bytes(_resized(files[NAME], name, len(content)))
        verdict = self._judge(work, which, forged, rng)
        return Verdict(verdict.outcome, f"{name}, forged: {forged}: {verdict.detail}")

    def _judge(self, folder: Path, which: int, forged: bool, rng: random.Random) -> Verdict:
        decoded.LEAST_DOCS = 100
        durable.os.fsync = lambda descriptor: None  # type: ignore[attr-defined] # no power fails here
        refused = None
        try:
            engine = Engine.open(folder)
            found = answers(engine, long=which == 1)
            if not forged and found != self._expected[which]:
                return Verdict("wrong", "another answer")
            wrong = inconsistent(engine) if forged else None
            if wrong is not None:
                return Verdict("wrong", wrong)
        except GermaneError as error:
            refused = str(error)
            if not forged and ("MANIFEST" not in refused and ".germane" not in refused):
                return Verdict("wrong", f"no file is named: {refused}")
        try:
            report = check_index(folder)
        except GermaneError as error:
            return Verdict("wrong", f"check reports nothing and raises: {error}")
        if not forged and report.ok:
            return Verdict("wrong", "check sees nothing")
        if which == 0:
            _USES[rng.randrange(len(_USES))](folder)
        return Verdict("refused" if refused else "same", refused or "")


def _repair(folder: Path) -> None:
    with contextlib.suppress(GermaneError):
        repair_index(folder)
        report = check_index(folder)
        assert report.ok, report.problems


def _add_and_merge(folder: Path) -> None:
    with contextlib.suppress(GermaneError), Engine.open(folder) as engine:
        engine.update([Document("a1", {"text": "w1 w2"}), Document("new", {"text": "w1"})])
        engine.delete(["a9", "b3"], missing="ignore")
        engine.merge()


def _export(folder: Path) -> None:
    with contextlib.suppress(GermaneError):
        export_ciff(folder, folder / "out.ciff")


def _read_all(folder: Path) -> None:
    with contextlib.suppress(GermaneError):
        list(Engine.open(folder).documents())


_USES: list[Callable[[Path], None]] = [_repair, _add_and_merge, _export, _read_all]


# -- forgeries ---------------------------------------------------------------------------------------------------------


def _resized(manifest: bytes, name: str, size: int) -> bytes:
    parsed = orjson.loads(manifest.partition(b"\n")[2])
    for entry in parsed["segments"]:
        if entry["name"] == name:
            entry["size"] = size
    return _sealed(parsed)


def _sealed(parsed: Any) -> bytes:
    body = orjson.dumps(parsed)
    return b"%08x\n" % zlib.crc32(body) + body


_VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2, 7, 255, 2**31, 2**32 - 1, 2**32, 2**53, 2**63 - 1, 2**64 - 1, 1e308, 0.5, "", "x",
    "../victim", "/etc/passwd", "segment-0000000000000001.germane", "|u1", "<f8", "|O8", [], {}, [1],
    {"a": 1}, "\u0000",
)  # fmt: skip


def _changed_somewhere(value: Any, rng: random.Random) -> Any:
    """The JSON value with one of its parts replaced, removed or repeated."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        if rng.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: _changed_somewhere(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at = rng.randrange(len(value))
        if rng.random() < 0.2:
            return [*value[:at], value[at], *value[at:]]
        return [*value[:at], _changed_somewhere(value[at], rng), *value[at + 1 :]]
    if isinstance(value, int) and not isinstance(value, bool) and rng.random() < 0.5:
        return value + rng.choice((-64, -8, -1, 1, 8, 64, value))
    return rng.choice(_VALUES)


def forge_manifest(content: bytes, rng: random.Random) -> bytes | None:
    """Another manifest with a right checksum."""
    parsed = orjson.loads(content.partition(b"\n")[2])
    return _sealed(_changed_somewhere(parsed, rng))


def forge_container(content: bytes, rng: random.Random) -> bytes | None:
    """Another file with right checksums: its sections changed, or its table of contents."""
    offset, length, _, magic = _TRAILER.unpack(content[-_TRAILER.size :])
    parsed = orjson.loads(content[offset : offset + length])
    body = bytearray(content[:offset])
    if rng.random() < 0.25:
        parsed = _changed_somewhere(parsed, rng)
    else:
        for _ in range(rng.choice((1, 1, 2))):
            _forge_section(body, parsed["sections"], rng)
    offset = len(body)
    contents = orjson.dumps(parsed)
    return bytes(body) + contents + _TRAILER.pack(offset, len(contents), zlib.crc32(contents), magic)


def _forge_section(body: bytearray, sections: dict[str, Any], rng: random.Random) -> None:
    name = rng.choice(list(sections))
    section = sections[name]
    data = bytes(body[section["offset"] : section["offset"] + section["bytes"]])
    dtype = np.dtype(section["dtype"])
    if len(data) and rng.random() < 0.6:  # numbers at the edges of what fits
        array = np.frombuffer(data, dtype).copy()
        for _ in range(rng.choice((1, 2, 5))):
            at = rng.randrange(len(array))
            if dtype.kind == "f":
                array[at] = rng.choice((np.nan, np.inf, -1.0, 1e300))
            else:
                info = np.iinfo(dtype)
                near = int(array[at]) + rng.choice((-1, 1, 2, 32))
                array[at] = min(max(rng.choice((0, 1, 31, 32, 33, 255, info.max, info.min, near)), info.min), info.max)
        forged = array.tobytes()
    else:
        forged = mutated(data, rng)
        forged = forged[: len(forged) // dtype.itemsize * dtype.itemsize]
    body.extend(b"\0" * (-len(body) % 64))
    section["offset"], section["bytes"] = len(body), len(forged)
    body.extend(forged)
    body.extend(b"\0" * (-len(body) % 64))
    section.pop("crc", None)
    section.pop("pieces", None)
    section.pop("step", None)
    sums = [zlib.crc32(forged[at : at + PIECE]) for at in range(0, max(len(forged), 1), PIECE)]
    section |= {"step": PIECE, "pieces": "".join(f"{crc:08x}" for crc in sums)} if len(sums) > 1 else {"crc": sums[0]}

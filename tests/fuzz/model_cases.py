"""Saved classifiers and CIFF files, damaged and forged.

A damaged classifier that is not refused must be the one that was saved; one that was forged, with a right checksum over
wrong content, must answer, explain and save again. A CIFF file that is not refused makes a whole index, which `check`
passes; a packed one the index that it should.
"""

import gzip
import hashlib
import json
import math
import shutil
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fuzz import corpus
from fuzz.harness import Verdict, mutated
from fuzz.mutations import mutate
from germane import Document, Engine, TextClassifier
from germane.classify.saving import MAGIC
from germane.classify.text_models import TEXT_MODELS
from germane.index.check import check_index
from germane.index.ciff import export_ciff, import_ciff

TEXTS = [
    "A goal in the last match of the league", "The team and its coach lost the match", "Goal, goal: a player scores",
    "The minister and the vote on a law", "A tax law for the parliament", "The party lost the vote in parliament",
    "Light of a far star", "Energy of atoms and of light", "A planet near the star",
]  # fmt: skip
LABELS = ["sport"] * 3 + ["politics"] * 3 + ["science"] * 3
SEVERAL = [[label] if i % 3 else [label, "more"] for i, label in enumerate(LABELS)]
NEW = ["The goal of the law", "star light star", "", "nothing known"]
VALUES = (None, True, 0, -1, 3, 2**40, 10**30, 1e308, float("nan"), "", "x", [], {}, {"list": []},
    {"array": "a0"}, {"dict": {}},
          {"tuple": [1]}, {"sparse": ["a0", "a1", "a2"], "shape": [3, 3]}, {"estimator": "LinearSVC",
          "parameters": {}, "fitted": {}},
          {"estimator": "Popen"})  # fmt: skip
ARRAYS = (np.zeros(0), np.ones(1), np.zeros((3, 3)), np.full(3, np.nan), np.arange(3), np.array(["a", "b"]),
    np.array(True),
          np.full(30, 1 << 30, np.int32), np.full(40, -1), np.full(3, -1.0), np.ones(3, np.float32), np.zeros((2,
          0)))  # fmt: skip

EDGES: dict[str, Callable[[Any], tuple[float, ...]]] = {
    "b": lambda kind: (False, True),
    "f": lambda kind: (0.0, 1.0, -1.0, 5e-324, 1e308, -1e308, math.nan, math.inf, -math.inf),
    "i": lambda kind: (0, 1, -1, 100, int(np.iinfo(kind).min), int(np.iinfo(kind).max)),
    "u": lambda kind: (0, 1, 100, int(np.iinfo(kind).max)),
}


class ClassifierJudge:
    """Case n changes the saved classifier n mod (twice the number of models)."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "classifier"
        self._saved: list[bytes] = []
        self._answers: list[Any] = []
        for model in TEXT_MODELS:
            for labels in (LABELS, SEVERAL):
                classifier = TextClassifier(model, tune=False).fit(TEXTS, labels)
                classifier.notes_ = {"text": ["body"], "separator": ";"}
                classifier.save(self._path)
                self._saved.append(self._path.read_bytes())
                use(self._path)
                self._answers.append(classifier.class_scores(NEW))

    def __call__(self, case: int) -> Verdict:
        rng = Random(f"models {case}")
        i = case % len(self._saved)
        saved, path = self._saved[i], self._path
        if case // len(self._saved) % 4 == 0:
            path.write_bytes(mutated(saved, rng))
            assert (TextClassifier.load(path).class_scores(NEW) == self._answers[i]).all(), "another classifier"
            return Verdict("same")
        body = saved[saved.index(b"\n") + 1 :]
        body = mutated(body, rng) if rng.random() < 0.2 else forged(body, rng)
        path.write_bytes(b"%s 1 %s\n" % (MAGIC, hashlib.sha256(body).hexdigest().encode()) + body)
        use(path)
        return Verdict("same")


def use(path: Path) -> None:
    """All that a classifier is asked."""
    found = TextClassifier.load(path)
    found.answer(NEW)
    found.predict_log_proba(NEW)
    found.decision_function(NEW)
    found.explain(NEW[0]).responses()
    str(found.explain(NEW[1]))
    found.save(path)


def forged(body: bytes, rng: Random) -> bytes:
    """The archive with other settings, other arrays, or arrays that lie about themselves."""
    with zipfile.ZipFile(BytesIO(body)) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    kind = rng.randrange(5)
    if kind == 0:
        name = rng.choice(sorted(members))
        members[name] = mutate(members[name], rng).data
    elif kind == 1:
        members[rng.choice(sorted(members))] = packed(rng.choice(ARRAYS))
    elif kind == 2:
        name = rng.choice(sorted(members.keys() - {"settings.npy"}))
        members[name] = packed(with_other_numbers(np.load(BytesIO(members[name])), rng))
    else:
        settings = json.loads(np.load(BytesIO(members["settings.npy"])).tobytes())
        for _ in range(rng.choice((1, 1, 3))):
            change(settings, rng)
        members["settings.npy"] = packed(np.frombuffer(json.dumps(settings).encode(), np.uint8))
    out = BytesIO()
    method = zipfile.ZIP_BZIP2 if rng.random() < 0.05 else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def with_other_numbers(array: Any, rng: Random) -> Any:
    """The same shape and type; one number, or all of them, at an edge."""
    if array.dtype.kind == "U" or not array.size:
        return array
    flat = array.reshape(-1).copy()
    places = slice(None) if rng.random() < 0.3 else rng.randrange(array.size)
    flat[places] = rng.choice(EDGES[array.dtype.kind](array.dtype))
    return flat.reshape(array.shape)


def packed(array: Any) -> bytes:
    out = BytesIO()
    np.save(out, array)
    return out.getvalue()


def change(tree: Any, rng: Random) -> None:
    """Replace, remove or add something, somewhere in the tree."""
    while True:
        keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
        if not keys:
            return
        key = rng.choice(keys)
        if isinstance(tree[key], dict | list) and tree[key] and rng.random() < 0.8:
            tree = tree[key]
            continue
        match rng.randrange(3):
            case 0:
                del tree[key]
            case 1 if isinstance(tree, dict):
                tree[rng.choice(("array", "predict", "x", "_alpha", "coef_"))] = tree.pop(key)
            case _:
                tree[key] = rng.choice(VALUES)
        return


class CiffJudge:
    """Case n changes a CIFF file, every third time a packed one."""

    def __init__(self, folder: Path) -> None:
        source, self._path, self._made = folder / "source", folder / "file.ciff", folder / "made"
        with Engine.create(source) as engine:
            engine.add([Document(f"d{i}", {"text": f"{t} {t} knee"}) for i, t in enumerate(corpus.WORDS)], threads=1)
        export_ciff(source, self._path)
        self._plain = self._path.read_bytes()
        self._packed = gzip.compress(self._plain, mtime=0)
        import_ciff(self._path, self._made)
        self._expected = self._answers()

    def _answers(self) -> list[tuple[list[str], list[float]]]:
        engine = Engine.open(self._made)
        found = [engine.search(query, 20, model="dirichlet") for query in ("knee", "heart", "copper knee diet")]
        return [(result.ids, result.scores.tolist()) for result in found]

    def __call__(self, case: int) -> Verdict:
        rng = Random(f"ciff {case}")
        shutil.rmtree(self._made, ignore_errors=True)
        data = self._packed if case % 3 == 0 else self._plain
        data = mutated(data, rng) if rng.random() < 0.5 else mutate(data, rng).data
        self._path.write_bytes(data)
        import_ciff(self._path, self._made, lengths="exact" if rng.random() < 0.5 else "recompute")
        assert not check_index(self._made).problems, "the index is not whole"
        found = self._answers()
        if data.startswith(b"\x1f\x8b"):
            assert found == self._expected, "another index than was packed"
        return Verdict("same")

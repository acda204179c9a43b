"""Kernels are compiled for this processor at their first use, and kept on disk: here it is done beforehand."""

import fcntl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from germane import kernel_cache
from germane.index.segment import SMALL
from germane.lazy import load_compiler, on_first_use
from germane.types import Document

with on_first_use(__name__):
    from germane import feedback, latent, rank
    from germane.engine import engine as engine_module
    from germane.index import vector_fields
    from germane.rank.scoring import priors

N_DOCUMENTS = 4 * SMALL + 100
"""So many that there is a large segment, and a small one beside it."""


def warm_up(everything: bool = False) -> float:
    """Compile all that building, changing and searching an index need, feedback, priors and groups included; with
    `everything`, what vectors and models learnt from clicks need, too. The seconds it took.

    What is compiled already is loaded, so that a second time is quick. Numba keeps it beside the package, or where
    `NUMBA_CACHE_DIR` says.
    """
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        _work(Path(folder) / "index")
        kernel_cache.note()
        if everything:
            _learn(Path(folder) / "vectors")
    return time.perf_counter() - began


def warm_up_apart(*, politely: bool) -> "subprocess.Popen[bytes]":
    """Start a process that warms up, unless another does or did: then it waits for that one. It ends with this process.
    `politely`: it leaves the processor to all others."""
    command = [sys.executable, "-P", "-c", _APART, "19" if politely else "0"]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, start_new_session=True)


_APART = """
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(1)), daemon=True).start()
os.nice(int(sys.argv[1]))
from germane.engine.compiling import warm_up_once
warm_up_once()
os._exit(0)
"""


def warm_up_once() -> None:
    """`warm_up`, one process at a time, where the kernels are not kept yet."""
    folder = kernel_cache.folder()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "germane-kernels.turn").open("ab") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        if not kernel_cache.are_kept():
            warm_up()


def _work(folder: Path) -> None:
    """Build, search, delete, search, merge: a little of everything."""
    load_compiler()
    documents = list(_documents())
    many = {word: 1.0 + i for i, word in enumerate(_words()[:60])}
    with engine_module.Engine.create(folder) as engine:
        engine.add(documents[:-50])
        for changed in (False, True):
            for model in rank.MODEL_NAMES:
                found = engine.search("aba abe year:>=2000", model=model)
                engine.search(many, model=model)
                engine.search(many, model=model, priors=[priors.LengthPrior(0.1)])
                engine.explain("aba abe", found.ids[0], model=model)
            engine.search(str(documents[-1].fields["text"]))  # in the end a recent document among the best
            engine.search('+aba -abe kind:odd (ab* OR abx~1 OR "aba abe" OR text:abe)')
            for method in feedback.FEEDBACK_NAMES:
                list(engine.search("aba abe", feedback=method))
                engine.search("aba abe", marks={found.ids[0]: True, found.ids[1]: False}, feedback=method)
            engine.search("aba abe", 30).groups(4)
            if not changed:  # then there are two segments, and deleted documents
                engine.add(documents[-50:])
                engine.update(documents[:10])
                engine.delete([document.id for document in documents[10:20]])
        engine.suggest("abx")
        engine.merge()
        engine.stats()
    opened = engine_module.Engine.open(folder)  # what was written here was trusted, and lists are verified now
    opened.search("aba abe")
    opened.search(many)
    list(opened.documents())


def _learn(folder: Path) -> None:
    """Vectors of both kinds, alone and beside words; topics, tied and not, and translations that rank again."""
    words, rng = _words(), np.random.default_rng(0)
    pairs = latent.Pairs.build(
        [(f"{a} {b}", f"{b} {c}", 1.0) for a, b, c in zip(words, words[1:], words[2:], strict=False)]
    )
    models = [
        latent.latent_named(name, n_topics=10, n_iterations=2).fit(pairs)
        for name in ("bltm", "bltm-pr", "bltm-pr-tied")
    ]
    models += [
        latent.latent_named("wtm", n_iterations=2).fit(pairs),
        latent.latent_named("opca", n_dimensions=8).fit(pairs),
    ]
    rows = rng.standard_normal((N_DOCUMENTS, 8)).astype(np.float32)
    documents = [
        Document(document.id, document.fields, {"exact": row, "small": row})
        for document, row in zip(_documents(), rows, strict=True)
    ]
    fields = {"exact": vector_fields.VectorField(8), "small": vector_fields.VectorField(8, dtype="int8")}
    with engine_module.Engine.create(folder, vectors=fields) as engine:
        engine.add(documents)
        for name in fields:
            engine.vector_search(rows[0], 10, field=name)
            engine.hybrid_search("aba abe", rows[0], k=10, field=name)
        for model in models:
            engine.search("aba abe", 10, rerank=model)


def _words() -> list[str]:
    return [a + b + c for a in "abcdefgh" for b in "bcdlmnprst" for c in "aeiou"]


def _documents() -> Iterator[Document]:
    """Twelve words each, frequent and rare ones; some in other letters."""
    words = np.array(_words())
    chosen = (len(words) * np.random.default_rng(0).random((N_DOCUMENTS, 12)) ** 2).astype(np.int64)
    for i, text in enumerate(words[chosen].tolist()):
        own = [*text, "café", "東京"] if i % 100 == 0 else text
        yield Document(str(i), {"text": " ".join(own), "year": 1990 + i % 30, "kind": "even" if i % 2 == 0 else "odd"})

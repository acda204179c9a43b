"""PISA (Dirichlet query likelihood), through pyterrier-pisa's extension module, without PyTerrier around it.

The algorithms are the fastest of those it has on the synthetic collection: block-max WAND for short queries, MaxScore
for long ones.  Query weights are whole numbers here: PISA takes them as repetitions of a word.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import os
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from protocol import Query, Worker, file_bytes, read_documents, serve

ctypes.CDLL(str(Path(sys.prefix) / "lib" / "libtbb.so.2"), ctypes.RTLD_GLOBAL)
_folder = Path(importlib.util.find_spec("pyterrier_pisa").submodule_search_locations[0])
_spec = importlib.util.spec_from_file_location("_pisathon", next(_folder.glob("_pisathon*.so")))
pisa = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(pisa)

MU = 1000.0
FOR_SHORT, FOR_LONG = "block_max_wand", "maxscore"
ENCODING = "block_simdbp"
WEIGHT_SCALE = 1_000


class Pisa(Worker):
    path: Path

    def version(self) -> str:
        return f"pyterrier-pisa {importlib.metadata.version('pyterrier-pisa')}, {FOR_SHORT} or {FOR_LONG}, {ENCODING}"

    def build(self, source: str, path: Path) -> None:
        path.mkdir(parents=True)
        with tempfile.TemporaryDirectory() as folder:
            pipe = os.path.join(folder, "plain")
            os.mkfifo(pipe)
            threading.Thread(target=self._feed, args=(source, pipe), daemon=True).start()
            pisa.index(pipe, str(path), "", 100_000, 1)
        self.open(path)  # writes the compressed index and the block maxima
        for left in ("fwd", "inv.docs", "inv.freqs"):
            (path / left).unlink()

    @staticmethod
    def _feed(source: str, pipe: str) -> None:
        with open(pipe, "w") as out:
            for doc_id, text in read_documents(source):
                out.write(f"{doc_id} {text}\n")

    def open(self, path: Path) -> None:
        self.path = path
        self.context = pisa.RetrievalContext()
        pisa.prepare_index(self.context, str(path), ENCODING, "qld", "", qld_mu=MU)

    def prepare(self, query: Query) -> tuple[bool, object]:
        if all(weight == 1 for _, weight in query):
            return False, " ".join(word for word, _ in query)
        return True, {word: float(max(1, round(weight * WEIGHT_SCALE))) for word, weight in query}

    def _retrieve(self, prepared: Sequence[tuple[bool, object]], k: int) -> list[str]:
        weighted, room = prepared[0][0], len(prepared) * k
        docnos = np.empty(room, dtype=object)
        queries = [(i, query) for i, (_, query) in enumerate(prepared)]
        size = pisa.retrieve(
            self.context,
            FOR_LONG if weighted else FOR_SHORT,
            queries,
            k=k,
            threads=1,
            pretokenised=int(weighted),
            query_weighted=int(weighted),
            result_qidxs=np.empty(room, dtype=np.int32),
            result_docnos=docnos,
            result_ranks=np.empty(room, dtype=np.int32),
            result_scores=np.empty(room, dtype=np.float32),
        )
        return docnos[:size].tolist()

    def search(self, prepared: Sequence[tuple[bool, object]], k: int) -> int:
        return len(self._retrieve(prepared, k))

    def top(self, prepared: tuple[bool, object], k: int) -> list[int]:
        return [int(docno[1:]) - 1 for docno in self._retrieve([prepared], k)]

    def size(self) -> tuple[int, str]:
        files = [p for p in self.path.iterdir() if p.name == "fwd.termlex" or ".bmw." in p.name]
        return file_bytes(files), "fwd.termlex, compressed index, block-max data (document lengths within)"


if __name__ == "__main__":
    serve(Pisa())

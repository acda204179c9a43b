"""Power cuts while an index is made, changed, merged, repaired and imported: what was acknowledged is there."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuzz.harness import Verdict
from fuzz.power import Trace, acknowledged, cut
from germane.engine import Engine
from germane.errors import GermaneError, IndexFormatError
from germane.index import merge, merge_scheduler
from germane.index.check import check_index
from germane.index.ciff import export_ciff, import_ciff
from germane.index.manifest import read_manifest
from germane.index.repair import repair_index
from germane.types import Document

Content = dict[str, Any] | None
"""What an index holds; None where there is none."""
Scenario = tuple[dict[str, bytes], Trace, list[Content]]
"""The files at the start, the calls, and what the index holds before the first and after each acknowledged change."""


def content_of(folder: Path) -> Content:
    """All documents by id."""
    try:
        return {doc.id: dict(doc.fields) for doc in Engine.open(folder).documents()}
    except IndexFormatError:
        if (folder / "MANIFEST").exists():
            raise
        return None


def _files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def _documents(rng: random.Random, n: int) -> list[Document]:
    return [
        Document(f"d{rng.randrange(40)}", {"text": " ".join(f"w{rng.randrange(30)}" for _ in range(rng.randrange(12)))})
        for _ in range(n)
    ]


def _changes(root: Path, rng: random.Random) -> Scenario:
    """A new index in new folders, then adds, deletions, merges within commits and beside them."""
    trace, folder = Trace(root), root / "deep" / "index"
    states: list[Content] = [None]
    with trace.recording():
        engine = Engine.create(folder)
        trace.mark()
        states.append({})
        for _ in range(rng.randrange(2, 7)):
            held = states[-1] or {}
            batch, doomed = _documents(rng, rng.randrange(1, 8)), [f"d{rng.randrange(40)}" for _ in range(5)]
            kind = rng.randrange(4)
            if kind <= 1:
                engine.update(batch)
                held = held | {doc.id: dict(doc.fields) for doc in batch}
            elif kind == 2:
                engine.delete(doomed, missing="ignore")
                held = {key: value for key, value in held.items() if key not in doomed}
            else:
                engine.merge()
            trace.mark()
            states.append(held)
        engine.close()
    return {}, trace, states


def _prepared(root: Path, rng: random.Random) -> tuple[Path, dict[str, Any]]:
    folder = root / "index"
    with Engine.create(folder) as engine:
        for _ in range(3):
            engine.update(_documents(rng, 8))
        held = {doc.id: dict(doc.fields) for doc in engine.documents()}
    return folder, held


def _repair(root: Path, rng: random.Random) -> Scenario:
    """The repair of a segment whose lists are damaged: the documents are indexed again, and none is lost."""
    folder, held = _prepared(root, rng)
    path = folder / rng.choice(read_manifest(folder).segments).name
    data = bytearray(path.read_bytes())
    data[64] ^= 1  # of section `words`, the first
    path.write_bytes(data)
    start, trace = _files(root), Trace(root)
    with trace.recording():
        repair_index(folder)
        trace.mark()
    return start, trace, [held, held]


def _import(root: Path, rng: random.Random) -> Scenario:
    """An index from a CIFF file."""
    folder, held = _prepared(root, rng)
    export_ciff(folder, root / "x.ciff")
    shutil.rmtree(folder)
    start, trace = _files(root), Trace(root)
    with trace.recording():
        import_ciff(root / "x.ciff", folder)
        trace.mark()
    return start, trace, [None, {key: {} for key in held}]


SCENARIOS: tuple[Callable[[Path, random.Random], Scenario], ...] = (_changes, _changes, _changes, _repair, _import)
CUTS = 10
"""Power cuts tried of each trace."""


class PowerJudge:
    """Case n: cut n % CUTS of scenario n // CUTS."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._last: tuple[int, Scenario] | None = None

    def _scenario(self, number: int) -> Scenario:
        if self._last is None or self._last[0] != number:
            rng, root = random.Random(number), self._folder / "traced"
            shutil.rmtree(root, ignore_errors=True)
            root.mkdir()
            self._last = number, SCENARIOS[number % len(SCENARIOS)](Path(root).resolve(), rng)
        return self._last[1]

    def __call__(self, case: int) -> Verdict:
        try:
            return self._judge(case)
        except GermaneError as error:  # a power cut is no reason to refuse
            return Verdict("wrong", str(error))

    def _judge(self, case: int) -> Verdict:
        merge.FANOUT = 3
        merge_scheduler.BACKGROUND_DOCS = 15
        start, trace, states = self._scenario(case // CUTS)
        rng = random.Random(case)
        calls = trace.calls[: rng.randrange(len(trace.calls) + 1)]
        root = self._folder / "cut"
        shutil.rmtree(root, ignore_errors=True)
        cut(start, calls, root, rng)
        (folder,) = {trace_folder(trace)}
        done = acknowledged(calls)
        expected = states[done : done + 2]
        where = f"after {len(calls)} of {len(trace.calls)} calls, {done} acknowledged"
        if SCENARIOS[case // CUTS % len(SCENARIOS)] is _repair:
            repair_index(root / folder)
        found = content_of(root / folder)
        if found not in expected and not (found == {} and None in expected):
            return Verdict("wrong", f"{where}: {found}, not {expected}")
        if found is not None:
            report = check_index(root / folder)
            if not report.ok:
                return Verdict("wrong", f"{where}: {report.problems}")
            with Engine.open(root / folder) as engine:
                engine.update([Document("after", {"text": "w1"})])
            if content_of(root / folder) != found | {"after": {"text": "w1"}}:
                return Verdict("wrong", f"{where}: cannot go on")
        return Verdict("same")


def trace_folder(trace: Trace) -> str:
    """The index's folder below the root."""
    return next(os_dir for call in trace.calls if call.path.endswith("MANIFEST") or call.other.endswith("MANIFEST")
                for os_dir in [str(Path(call.other or call.path).parent)])  # fmt: skip

"""What is said of a first compilation, and that a warm-up leaves nothing to compile."""

import fcntl
import json
import subprocess
import sys
from pathlib import Path

import pytest

from germane import kernel_cache
from germane.engine import compiling
from germane.engine.announcing import FEATURES as FEATURES_NAMED
from germane.engine.announcing import feature_of

SIGNATURES = """
import gc, json
from numba.core.dispatcher import Dispatcher

def compiled():
    found = (o for o in gc.get_objects() if isinstance(o, Dispatcher) and o.py_func.__module__.startswith("germane"))
    return {f"{o.py_func.__module__}.{o.py_func.__name__}": sorted(map(str, o.signatures)) for o in found}
"""

ORDINARY_WORK = """
import tempfile
from germane import Document, Engine
from germane.cli.samples import sample_path
from germane.data import read_documents
from germane.engine.compiling import warm_up
from germane.feedback import FEEDBACK_NAMES
from germane.latent import Pairs, latent_named
from germane.rank import MODEL_NAMES

assert warm_up(everything=True) > 0.0
before = compiled()
with tempfile.TemporaryDirectory() as folder:
    engine = Engine.create(folder + "/index")
    documents = list(read_documents(sample_path()))
    query = documents[0].fields["text"]
    engine.add(documents[:30])
    for part in (documents[30:40], documents[40:]):
        for model in MODEL_NAMES:
            ids = engine.search(query[:40], model=model, syntax=False).ids
        for method in FEEDBACK_NAMES:
            engine.search(query[:40], feedback=method, marks={ids[0]: True}, syntax=False)
        engine.search("+history -science")
        engine.suggest("histroy")
        engine.add(part)
        engine.delete(ids[:1])
    engine.merge()
    engine.search(query, syntax=False)
    engine.close()
    pairs = Pairs.build([("old letters", "history of letters", 1.0), ("stars", "the sky at night", 2.0)])
    with Engine.create(folder + "/learnt", vectors={"own": 4}) as engine:
        engine.add(Document(str(i), {"text": d.fields["text"]}, {"own": [1, 2, 3, i]}) for i, d in enumerate(documents))
        engine.vector_search([1, 2, 3, 4])
        for name, parameters in (("bltm-pr", {"n_topics": 4}), ("wtm", {}), ("opca", {"n_dimensions": 2})):
            engine.search("old stars", rerank=latent_named(name, **parameters).fit(pairs))
after = compiled()
print(json.dumps({name: after[name] for name in after if after[name] != before.get(name)}))
"""


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=3000, check=True)


def test_after_a_warm_up_nothing_is_compiled() -> None:
    assert json.loads(python(SIGNATURES + ORDINARY_WORK).stdout) == {}


BUILD = """
import gc, sys, tempfile
from germane import Document, Engine
from germane.lazy import load_compiler
load_compiler()
documents = [Document(str(i), {"text": f"a stone and a river {i} " * 20}) for i in range(2000)]
with tempfile.TemporaryDirectory() as folder, Engine.create(folder + "/index") as engine:
    engine.add(documents, threads=2)
assert "numba" in sys.modules and gc.isenabled() and not gc.get_freeze_count()
print("numba.np.linalg" in sys.modules)
"""


def test_what_is_on_the_disk_is_loaded_without_what_compiles() -> None:
    python(BUILD)
    assert python(BUILD).stdout == "False\n"


TWO_KERNELS = """
from germane.jit import njit
njit(lambda x: x + 1)(1)
njit(lambda x: x + 2)(1)
"""


def test_python_is_told_once_through_logging() -> None:
    said = python(
        "import tempfile\nfrom germane import Engine\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    Engine.create(folder + '/one').close(); Engine.create(folder + '/two').close()\n" + TWO_KERNELS
    )
    assert said.stderr.count("compiling kernels for searching, once") == 1
    assert said.stdout == ""


FEATURES = """
from germane.engine.announcing import announce_compiling
from germane.jit import njit
announce_compiling()
for module in ("rank.maxscore.decoding_kernels", "index.kernels", "rank.suggest_kernels", "text.kernels"):
    function = lambda x: x + 1
    function.__module__ = f"germane.{module}"
    njit(function)(1)
"""


def test_it_says_once_for_each_feature_what_is_compiled() -> None:
    said = python(FEATURES).stderr
    assert [line.split(",")[0] for line in said.splitlines()] == [
        "compiling kernels for searching", "compiling kernels for indexing"
    ]  # fmt: skip


def test_every_feature_that_is_named_has_kernels() -> None:
    package = Path(compiling.__file__).parents[1]
    modules = {f"germane.{'.'.join(path.relative_to(package).with_suffix('').parts)}" for path in package.rglob("*.py")}
    assert all(any(module.startswith(begin) for module in modules) for begin in FEATURES_NAMED)
    assert feature_of("germane.rank.maxscore.search_kernels") == feature_of("germane.feedback.kernels") == "searching"
    assert feature_of("germane.rank.vector_kernels") == "vectors"


def test_a_note_says_that_kernels_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    assert not kernel_cache.are_kept()
    kernel_cache.note()
    assert kernel_cache.are_kept()
    monkeypatch.setenv("NUMBA_CPU_NAME", "of another machine")
    assert not kernel_cache.are_kept()
    monkeypatch.delenv("NUMBA_CPU_NAME")
    (tmp_path / "kernels" / kernel_cache.NAME).write_bytes(b"\xff")
    assert not kernel_cache.are_kept()


def test_one_process_warms_up_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def warm_up() -> None:
        made.append(1)
        kernel_cache.note()

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setattr(compiling, "warm_up", warm_up)
    compiling.warm_up_once()
    compiling.warm_up_once()
    assert made == [1]


def test_the_process_that_warms_up_ends_with_the_one_that_started_it(tmp_path: Path, monkeypatch) -> None:
    """It would wait for the lock for ever."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    with (tmp_path / "germane-kernels.turn").open("ab") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        process = compiling.warm_up_apart(politely=True)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait() == 1


def test_logging_can_silence_it_or_say_more() -> None:
    announce = "from germane.engine.announcing import announce_compiling; announce_compiling()\n"
    logging = "import logging; logging.basicConfig(level='{}', format='%(name)s %(levelname)s %(message)s')\n"
    assert python(logging.format("ERROR") + announce + TWO_KERNELS).stderr == ""
    lines = python(logging.format("INFO") + announce + TWO_KERNELS).stderr.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["germane.compiling", "WARNING"], ["germane.compiling", "INFO"], ["germane.compiling", "INFO"]
    ]  # fmt: skip
    assert all("compiled <lambda> in " in line for line in lines[1:])

"""Importing is cheap and has no effects; help appears without loading a compiler."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import germane

HEAVY = {"numpy", "numba", "llvmlite", "scipy", "torch", "ray", "pandas", "matplotlib", "fastapi", "sklearn", "duckdb"}

SCRIPT = """
import json, runpy, sys
statement, *arguments = sys.argv[1:]
sys.argv = ["germane", *arguments]
try:
    exec(statement)
except SystemExit as end:
    code = end.code or 0
else:
    code = 0
print("\\nLOADED " + json.dumps([code, sorted({name.partition(".")[0] for name in sys.modules})]))
"""


def loaded(folder: Path, statement: str, *arguments: str) -> tuple[int, set[str], str]:
    """Run a statement in a new interpreter: exit code, top-level modules loaded, output."""
    command = [sys.executable, "-W", "error", "-c", SCRIPT, statement, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=3000)
    assert done.returncode == 0, done.stderr
    output, _, report = done.stdout.rpartition("\nLOADED ")
    code, names = json.loads(report)
    assert list(folder.iterdir()) == [], "something was written"
    return code, set(names), output


def test_importing_the_package(tmp_path: Path) -> None:
    _, names, output = loaded(tmp_path, "import germane; germane.__version__; dir(germane)")
    assert output == ""
    assert names & HEAVY == set()
    assert names & {"Stemmer", "orjson", "zstandard", "typer", "rich"} == set()


@pytest.mark.parametrize(
    "arguments", [("--help",), ("--version",), ("search", "--help"), ("classify", "train", "--help")]
)
@pytest.mark.parametrize(
    "door", ["from germane.cli import main; main()", "runpy.run_module('germane', run_name='__main__')"]
)
def test_help(tmp_path: Path, door: str, arguments: tuple[str, ...]) -> None:
    """By the console script's function and by `python -m germane`. NumPy may be loaded, a compiler may not."""
    code, names, output = loaded(tmp_path, door, *arguments)
    assert code == 0
    assert (arguments[0].strip("-") if "--help" in arguments else germane.__version__) in output
    assert names & (HEAVY - {"numpy"}) == set()


def test_no_command_loads_a_compiler_at_its_top(tmp_path: Path) -> None:
    """Help, and a complaint about the command line, do without the modules that do the work."""
    statement = "from germane.cli.app import COMMANDS, function_of; [function_of(each.name) for each in COMMANDS]"
    _, names, _ = loaded(tmp_path, statement)
    assert names & (HEAVY - {"numpy"}) == set()


def test_the_help_of_the_program_loads_no_command(tmp_path: Path) -> None:
    statement = (
        "from germane.cli import main\ntry: main()\nfinally: print([m for m in sys.modules if '.commands' in m])"
    )
    _, _, output = loaded(tmp_path, statement, "--help")
    assert output.rstrip().endswith("\n[]")


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index and a file of references, made of the sample."""
    from germane import Engine
    from germane.cli.samples import sample_path, write_sample_files
    from germane.data import read_documents

    folder = tmp_path_factory.mktemp("sample")
    write_sample_files(folder)
    with Engine.create(folder / "index") as engine:
        engine.add(read_documents(sample_path()))
        engine.delete(["moon-landing"])
    return folder


@pytest.mark.parametrize(
    "typed",
    [
        ("show", "index", "malaria-vaccine"),
        ("show", "index", "malaria-vaccine", "--json"),
        ("export", "index"),
        ("export", "index", "--format", "ris"),
        ("search", "index", "vaccine trial"),
        ("search", "index", "vaccine AND trial", "--json", "--model", "jm"),
        ("search", "index", "vaccine", "--snippets"),
        ("search", "index", "antibiotc resistance"),
        ("explain", "index", "vaccine trial", "malaria-vaccine"),
        ("stats", "index"),
        ("demo",),
        ("dedupe", "references.ris"),
        ("dedupe", "references.ris", "--json"),
    ],
    ids=" ".join,
)
def test_a_few_documents_and_one_search_load_no_compiler(tmp_path: Path, sample: Path, typed: tuple[str, ...]) -> None:
    words = [str(sample / word) if (sample / word).exists() else word for word in typed]
    code, names, output = loaded(tmp_path, "from germane.cli import main; main()", *words)
    assert code == 0
    assert "moon-landing" not in output or typed[0] in ("dedupe", "demo")
    assert names & (HEAVY - {"numpy"}) == set()


def test_a_command_loads_no_other(tmp_path: Path) -> None:
    statement = (
        "from germane.cli import main\ntry: main()\nfinally: print(*(m for m in sys.modules if '.commands.' in m))"
    )
    _, _, output = loaded(tmp_path, statement, "show", "--help")
    assert output.rstrip().endswith("\ngermane.cli.commands.show")


THREADS = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from germane.lazy import LazyModule
homes = {"germane.rank.maxscore.decoding_kernels": "decode", "germane.text.word_kernels": "__name__",
    "germane.index.block_kernels": "decode_list", "germane.rank.maxscore.search_kernels": "top_k"}
together = Barrier(len(homes))
def use(item):
    together.wait()
    return getattr(LazyModule(item[0]), item[1])
with ThreadPoolExecutor(len(homes)) as pool:
    assert len(list(pool.map(use, homes.items()))) == len(homes)
"""


def test_threads_may_load_kernels_at_once(tmp_path: Path) -> None:
    """Two that import Numba at the same time would see it half made."""
    _, names, _ = loaded(tmp_path, THREADS)
    assert "numba" in names

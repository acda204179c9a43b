"""The program as the shell sees it: start-up, pipes, signals, messages. Each start costs a second, so they are few."""

import json
import os
import subprocess
import sys

import pytest

PROGRAM = [sys.executable, "-m", "germane.cli"]


def start(*words, **settings):
    return subprocess.run([*PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=3000, **settings)


def test_help_loads_nothing_but_the_command_line_and_registries():
    """What makes it instant: a count of seconds would judge the machine."""
    assert start("--help").returncode == 0
    code = "import json, sys, germane.cli; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = json.loads(done.stdout)
    assert not {"numpy", "numba", "scipy", "rich", "orjson"} & {name.partition(".")[0] for name in loaded}
    own = {name for name in loaded if name.startswith("germane.") and not name.startswith("germane.cli")}
    assert {name.partition(".")[2] for name in own} <= {
        "errors", "lazy", "types", "engine", "engine.registry", "rank.snippets", "rank", "rank.registry", "feedback",
        "feedback.registry", "refine", "refine.registry", "classify", "classify.text_models", "tables",
            "kernel_cache", "wording",
    }  # fmt: skip


def test_results_and_remarks_are_apart(built):
    done = start("search", built, "antibiotc resistance", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["suggestion"] == "antibiotic resistance"
    assert "did you mean" in done.stderr


def test_errors_are_one_line_unless_debugging(tmp_path):
    done = start("search", tmp_path, "heart")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("germane: error: ")
    assert done.stderr.count("\n") == 1
    assert "Traceback" in start("search", tmp_path, "heart", env={**os.environ, "GERMANE_DEBUG": "1"}).stderr


def test_a_reader_that_leaves_early(built):
    command = f"{sys.executable} -m germane.cli export {built} | head -n 1"
    done = subprocess.run(
        ["bash", "-c", f"{command}; exit ${{PIPESTATUS[0]}}"], capture_output=True, text=True, timeout=3000
    )
    assert json.loads(done.stdout)["id"]
    assert done.stderr == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_behind_stdout(built):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*PROGRAM, "export", str(built)], stdout=full, stderr=subprocess.PIPE, text=True, timeout=3000
        )
    assert done.returncode == 2
    assert done.stderr == "germane: error: No space left on device\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_must_not_be_written(sample, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    done = start("index", sample, "--into", locked / "index")
    assert done.returncode == 2
    assert "permission denied" in done.stderr


def test_the_first_kernel_that_is_compiled_is_announced(capsys):
    code = (
        "from germane.engine.announcing import announce_compiling; announce_compiling(); announce_compiling()\n"
        "from germane.jit import njit\n"
        "njit(lambda x: x + 1)(1); njit(lambda x: x + 2)(1)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=3000, check=True)
    assert done.stderr.count("compiling kernels for searching, once") == 1


def test_errors_speak_python_in_python_and_commands_here(fails, tmp_path):
    """The same error, once from the package and once from the program."""
    from germane import Engine
    from germane.errors import DocumentExistsError, IndexFormatError

    nowhere = tmp_path / "it's nowhere"
    with pytest.raises(
        IndexFormatError, match=r"""does not exist; Engine\.create\(".*it's nowhere"\) would make one"""
    ):
        Engine.open(nowhere)
    assert f"does not exist; 'germane index SRC --into {nowhere}' would make one" in fails("stats", nowhere)
    python = "on_duplicate='replace', on_duplicate='skip' or"
    with Engine.create(":memory:") as engine, pytest.raises(DocumentExistsError, match=python):
        engine.add([{"id": "1"}, {"id": "1"}])
    twice = tmp_path / "twice.jsonl"
    twice.write_text('{"id": "1", "text": "a"}\n' * 2)
    told = fails("index", twice, "--into", tmp_path / "new")
    assert "--on-duplicate replace, --on-duplicate skip or --on-duplicate merge says what becomes of them" in told

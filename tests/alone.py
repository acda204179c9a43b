"""Imports modules and runs commands, each in a process in which nothing of Germane was imported before.

    python alone.py germane germane.cli.app ...      a line of JSON: the modules that fail, and with which words
    python alone.py                                  commands, a line of JSON each on stdin; how each ended on stdout

One interpreter loads what others wrote and many modules need, and forks. For modules it forks for each package, which
imports itself and forks for what is in it: Python too imports the packages first that a module is in.
"""

import base64
import contextlib
import ctypes
import gc
import importlib
import json
import os
import runpy
import sys
import tempfile
import traceback
from typing import Any

OTHERS = (
    "alembic", "httpcore", "httpx", "jinja2", "mcp.server", "numba.extending", "orjson", "scipy.integrate",
    "scipy.optimize", "scipy.sparse.linalg", "scipy.special", "sklearn.multiclass", "sklearn.pipeline", "sklearn.svm",
    "sqlalchemy", "starlette.applications", "starlette.staticfiles", "typer", "uvicorn.protocols.http.httptools_impl",
    "zstandard",
)  # fmt: skip


def complaints(modules: list[str], within: str = "") -> dict[str, str]:
    """What was said of each module that cannot be imported; those within one package, which is imported already."""
    found: dict[str, str] = {}
    depth = within.count(".") + 1 if within else 0
    here = {".".join(name.split(".")[: depth + 1]) for name in modules if name.startswith(within and f"{within}.")}
    for name in sorted(here - {within}):
        found.update(_apart(name, modules))
    return found


def _apart(name: str, modules: list[str]) -> dict[str, str]:
    """The same of one module and what is in it, in a process of their own."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        found = {name: "the process ended"}
        try:
            importlib.import_module(name)
        except BaseException:
            found = {name: traceback.format_exc()}
        else:
            found = complaints(modules, name)
        finally:
            with os.fdopen(writing, "w") as stream:
                json.dump(found, stream)
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        told = stream.read()
    os.waitpid(child, 0)
    return json.loads(told) if told else {name: "the process ended"}


def ran(asked: dict[str, Any]) -> dict[str, Any]:
    """How `python -m germane` ends with these `args`: its exit `code`, `stdout` (base64) and `stderr`.

    `cwd`, `environment` and `stdin` (base64) are what it finds; with `powerless` a superuser obeys permissions too.
    """
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as told:
        given.write(base64.b64decode(asked.get("stdin", "")))
        given.seek(0)
        child = os.fork()
        if not child:
            for number, file in enumerate((given, out, told)):
                os.dup2(file.fileno(), number)
            os._exit(_as_program(asked))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        for file in (out, told):
            file.seek(0)
        return {"code": code, "stdout": base64.b64encode(out.read()).decode(), "stderr": told.read().decode()}


def _as_program(asked: dict[str, Any]) -> int:
    code: object = 1
    try:
        os.chdir(asked["cwd"])
        os.environ.clear()
        os.environ.update(asked["environment"])
        if asked.get("powerless"):
            _without_powers()
        sys.argv = ["germane", *asked["args"]]
        runpy.run_module("germane", run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    return code if isinstance(code, int) else 1


def _without_powers() -> None:
    """Give up all capabilities: root is then as any other owner of its files."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    if ctypes.CDLL(None, use_errno=True).capset(header, (ctypes.c_uint32 * 6)()) != 0:
        raise OSError(ctypes.get_errno(), "capabilities cannot be given up")


if __name__ == "__main__":
    for other in OTHERS:
        with contextlib.suppress(ImportError):  # an extra that is not installed
            importlib.import_module(other)
    assert not [name for name in sys.modules if name.partition(".")[0] == "germane"]
    gc.disable()
    gc.freeze()
    if sys.argv[1:]:
        print(json.dumps(complaints(sys.argv[1:])), flush=True)
    for line in sys.stdin if not sys.argv[1:] else ():
        print(json.dumps(ran(json.loads(line))), flush=True)
    os._exit(0)  # what others wrote has a word to say at the end

"""Imports modules, each in a process in which nothing of Germane was imported before it, but the packages it is in.

    python -m alone germane germane.cli.app ...      a line of JSON: the modules that fail, and with which words

One interpreter loads what others wrote and what many modules need; it forks for each package, which imports itself and
forks for what is in it. Python does the same before it imports a module: first the packages it is in.
"""

import contextlib
import gc
import importlib
import json
import os
import sys
import traceback

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


if __name__ == "__main__":
    for other in OTHERS:
        with contextlib.suppress(ImportError):  # an extra that is not installed
            importlib.import_module(other)
    assert not [name for name in sys.modules if name.partition(".")[0] == "germane"]
    gc.disable()
    gc.freeze()
    print(json.dumps(complaints(sys.argv[1:])), flush=True)
    os._exit(0)  # what others wrote has a word to say at the end

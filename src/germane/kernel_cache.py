"""A marker file that says whether the compiled kernels of this version are in the cache on disk.

`engine.compiling.warm_up` writes the marker once it has compiled the kernels for indexing and searching. The marker
holds a hash of everything that Numba's cache depends on: the package's sources, the versions of Python and Numba, and
the processor. Reading it does not load Numba. A wrong marker only costs time: missing kernels are compiled on use.
"""

import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

NAME = "germane-kernels.kept"


def folder() -> Path:
    """Return the marker's folder: NUMBA_CACHE_DIR, else the package's `__pycache__`, else the user's cache folder."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        return Path(named)
    beside = Path(__file__).parent / "__pycache__"
    if os.access(beside if beside.exists() else beside.parent, os.W_OK):
        return beside
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "germane"


def are_kept() -> bool:
    """Return whether the marker now says that a warm-up of this version has finished on this machine."""
    try:
        return (folder() / NAME).read_text("ascii") == _key()
    except (OSError, ValueError, RuntimeError):  # there is no such folder, or no home to look in
        return False


@cache
def were_kept() -> bool:
    """Return `are_kept()` as of the first call in this process."""
    return are_kept()


def note() -> None:
    """Write the marker; do nothing where its folder cannot be written."""
    with suppress(OSError, RuntimeError):
        folder().mkdir(parents=True, exist_ok=True)
        new = folder() / f"{NAME}.{os.getpid()}"
        new.write_text(_key(), "ascii")
        new.replace(folder() / NAME)
    were_kept.cache_clear()


def _key() -> str:
    import hashlib
    from importlib.util import find_spec

    package = Path(__file__).parent
    parts = [sys.version, *_processor()]
    others = [Path(spec.origin) for name in ("numba", "llvmlite") if (spec := find_spec(name)) and spec.origin]
    for path in [*sorted(package.rglob("*kernels.py")), package / "jit.py", *others]:
        status = path.stat()
        parts.append(f"{path} {status.st_size} {int(status.st_mtime)}")
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _processor() -> list[str]:
    """Return the model and features of this processor, from sources that are fast to read."""
    names = [os.environ.get(name, "") for name in ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")]
    with suppress(OSError), open("/proc/cpuinfo", "rb") as file:
        lines = file.read(1 << 13).decode("ascii", "replace").partition("\n\n")[0].splitlines()
        telling = ("model name", "flags", "Features", "CPU implementer", "CPU part", "CPU variant")
        return [*names, *(line for line in lines if line.startswith(telling))]
    import platform

    return [*names, platform.machine(), platform.processor()]

"""Whether the kernels that indexing and searching need lie on the disk, compiled: a note beside them says so.

A warm-up leaves the note when it has ended (`engine.compiling.warm_up`). It names what Numba's own index of its files
goes by: the sources of the package, Python and Numba, and the processor. Numba need not be loaded to read it. A note
that is wrong costs time and nothing else: who believes it loads or compiles what is not there.
"""

import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

NAME = "germane-kernels.kept"


def folder() -> Path:
    """Where the note lies: where NUMBA_CACHE_DIR says, else beside the package, else in the user's cache."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        return Path(named)
    beside = Path(__file__).parent / "__pycache__"
    if os.access(beside if beside.exists() else beside.parent, os.W_OK):
        return beside
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "germane"


def are_kept() -> bool:
    """Whether a warm-up of this version has ended on this machine, as the note says now."""
    try:
        return (folder() / NAME).read_text("ascii") == _key()
    except (OSError, ValueError, RuntimeError):  # there is no such folder, or no home to look in
        return False


@cache
def were_kept() -> bool:
    """The same, as it was when this process asked first."""
    return are_kept()


def note() -> None:
    """Say that they are kept from now on, where there is a folder to say it in."""
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
    found = [sys.version, *_processor()]
    others = [Path(spec.origin) for name in ("numba", "llvmlite") if (spec := find_spec(name)) and spec.origin]
    for path in [*sorted(package.rglob("*kernels.py")), package / "jit.py", *others]:
        known = path.stat()
        found.append(f"{path} {known.st_size} {int(known.st_mtime)}")
    return hashlib.sha256("\n".join(found).encode("utf-8", "surrogatepass")).hexdigest()


def _processor() -> list[str]:
    """What tells this processor from others, as far as the system says without being asked at length."""
    said = [os.environ.get(name, "") for name in ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")]
    with suppress(OSError), open("/proc/cpuinfo", "rb") as file:
        lines = file.read(1 << 13).decode("ascii", "replace").partition("\n\n")[0].splitlines()
        telling = ("model name", "flags", "Features", "CPU implementer", "CPU part", "CPU variant")
        return [*said, *(line for line in lines if line.startswith(telling))]
    import platform

    return [*said, platform.machine(), platform.processor()]

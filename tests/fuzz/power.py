"""A power cut, simulated: the calls that change the disk are traced, and replayed without what was never flushed.

The model is the weakest that a journalling file system keeps. What was written to a file since it was last flushed is
there, cut off, zeros or missing. What was done to the names in a folder (made, renamed, linked, removed) since that
folder was last flushed is there or not, each by itself and in no order. What was flushed is there.
"""

import contextlib
import io
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from germane.index import durable


class Call(NamedTuple):
    """One call: `kind`, the names it is about, and what is written."""

    kind: str
    path: str
    other: str = ""
    data: bytes = b""


@dataclass(slots=True)
class Trace:
    """The calls made under `root`, in order; marks of what was acknowledged lie between them."""

    root: Path
    calls: list[Call] = field(default_factory=list)

    def mark(self) -> None:
        """What was asked for until now has been acknowledged."""
        self.calls.append(Call("mark", ""))

    def _name(self, path: Any) -> str:
        return os.path.relpath(os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path)), self.root)

    @contextlib.contextmanager
    def recording(self) -> Iterator["Trace"]:
        """Record, and really do, every call of the index that changes the disk."""
        trace = self

        class Watched(io.FileIO):
            def write(self, data: Any, /) -> int:
                written = super().write(data)
                trace.calls.append(Call("write", trace._name(self.name), data=bytes(memoryview(data)[:written])))
                return written

        def opened(path: Any, mode: str = "r") -> Any:
            if "x" not in mode:
                return open(path, mode)
            file = io.BufferedWriter(Watched(path, "xb"))
            trace.calls.append(Call("create", trace._name(path)))
            return file

        def fsync(descriptor: int) -> None:
            path = os.readlink(f"/proc/self/fd/{descriptor}")
            trace.calls.append(Call("flush folder" if os.path.isdir(path) else "flush", trace._name(path)))

        def watched(kind: str, function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*paths: Any, **named: Any) -> Any:
                result = function(*paths, **named)
                names = [trace._name(path) for path in paths if isinstance(path, (str, os.PathLike))]
                trace.calls.append(Call(kind, *names[:2]))
                return result

            return call

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(durable, "open", opened, raising=False)
            patch.setattr(os, "fsync", fsync)
            for kind, name in (("rename", "replace"), ("remove", "unlink"), ("link", "link"), ("folder", "mkdir")):
                patch.setattr(os, name, watched(kind, getattr(os, name)))
            yield self


@dataclass(slots=True)
class _File:
    flushed: bytes = b""
    unflushed: list[bytes] = field(default_factory=list)

    def after_the_cut(self, rng: random.Random) -> bytes:
        """What was flushed, and of the rest whatever."""
        if not self.unflushed:
            return self.flushed
        rest = b"".join(self.unflushed)
        kept = rest[: rng.choice((0, len(rest), rng.randrange(len(rest) + 1)))]
        return self.flushed + (kept if rng.random() < 0.7 else bytes(len(kept)))


def acknowledged(calls: list[Call]) -> int:
    """How many marks there are among the calls."""
    return sum(call.kind == "mark" for call in calls)


def cut(start: dict[str, bytes], calls: list[Call], target: Path, rng: random.Random) -> None:
    """Make in `target` what the disk holds when the power fails after these calls; `start`: files there before."""
    names: dict[str, _File | None] = {name: _File(data) for name, data in start.items()}  # None: a folder
    names.update({str(folder): None for name in start for folder in Path(name).parents if str(folder) != "."})
    lasting = dict(names)
    pending: list[tuple[str, Callable[[dict[str, _File | None]], None]]] = []

    def change(folder_of: str, apply: Callable[[dict[str, _File | None]], None]) -> None:
        apply(names)
        pending.append((os.path.dirname(folder_of), apply))

    for call in calls:
        path, other = call.path, call.other
        if call.kind in ("create", "folder"):
            made = None if call.kind == "folder" else _File()
            change(path, lambda found, path=path, made=made: found.__setitem__(path, made))
        elif call.kind == "write":
            file = names[path]
            assert file is not None
            file.unflushed.append(call.data)
        elif call.kind == "flush":
            file = names[path]
            assert file is not None
            file.flushed += b"".join(file.unflushed)
            file.unflushed.clear()
        elif call.kind in ("rename", "link"):
            file, renamed = names[path], call.kind == "rename"

            def move(found: dict[str, _File | None], path: str = path, other: str = other, file: Any = file,
                     renamed: bool = renamed) -> None:  # fmt: skip
                found[other] = file
                if renamed:
                    found.pop(path, None)

            change(other, move)
        elif call.kind == "remove":
            change(path, lambda found, path=path: found.pop(path, None))
        elif call.kind == "flush folder":
            folder = "" if path == "." else path
            for _, apply in [one for one in pending if one[0] == folder]:
                apply(lasting)
            pending = [one for one in pending if one[0] != folder]
    for _, apply in pending:
        if rng.random() < 0.5:
            apply(lasting)
    target.mkdir()
    for name, file in sorted(lasting.items()):
        if os.path.dirname(name) and not (target / name).parent.is_dir():
            continue  # its folder is gone
        if file is None:
            (target / name).mkdir()
        else:
            (target / name).write_bytes(file.after_the_cut(rng))

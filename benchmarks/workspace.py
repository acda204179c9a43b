"""How long does a mark take where a million were made, and is every acknowledged one there after a kill?

    python benchmarks/workspace.py [--marks 1000000] [--measured 2000] [--url postgresql://...] [--folder DIR]

A list gets so many marks, in bulk. Then marks are made one by one, each on disk before the next, and taken back; wall
and processor time of each, in milliseconds. The bar is a median of wall time below 10 ms. Beside it, a plain write and
fsync of the same folder: what the disk alone takes. Exit status 1 if the bar is missed.

That acknowledged marks survive SIGKILL is a test: `GERMANE_KILLS=200 pytest tests/workspace/test_crash.py`.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from germane.types import Mark
from germane.workspace import Workspace
from germane.workspace.tables import marks

BAR_MS = 10.0
CHUNK = 10_000


def timed(action: Callable[[int], object], n: int) -> tuple[list[float], float]:
    """Wall time of each, and the mean processor time, in milliseconds."""
    taken = []
    processor = time.process_time()
    for number in range(n):
        start = time.perf_counter()
        action(number)
        taken.append(1000 * (time.perf_counter() - start))
    return taken, 1000 * (time.process_time() - processor) / n


def put(name: str, taken: list[float], processor: float) -> float:
    """One line; returns the median."""
    ordered = sorted(taken)
    median = statistics.median(ordered)
    print(
        f"{name:<28} median {median:7.2f} ms   95 % below {ordered[int(0.95 * len(ordered))]:7.2f} ms   "
        f"longest {ordered[-1]:8.2f} ms   processor {processor:6.2f} ms",
        flush=True,
    )
    return median


def fill(workspace: Workspace, collection: int, n: int) -> None:
    """So many marks at once, which is not how a person makes them."""
    rows = (
        {"search_id": None, "collection_id": collection, "document": f"d{number % (n // 3 + 1)}",
         "mark": number % 2, "by": "", "at": "", "undoes": None}
        for number in range(n)
    )  # fmt: skip
    with workspace.database.write() as connection:
        while chunk := list(islice(rows, CHUNK)):
            workspace.database.add_all(connection, marks, chunk)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--marks", type=int, default=1_000_000)
    parser.add_argument("--measured", type=int, default=2_000)
    parser.add_argument("--url", help="a PostgreSQL database, empty; else a file")
    parser.add_argument("--folder", help="where the file goes", default=None)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        with open(Path(folder, "plain"), "wb") as file:

            def plain(_: int) -> None:
                file.write(b"x" * 4096)
                file.flush()
                os.fsync(file.fileno())

            put("write and fsync", *timed(plain, 200))
        medians = []
        with Workspace.open(given.url or Path(folder, "w")) as workspace:
            for n in (0, given.marks):
                collection = workspace.collections.create(f"a list of {n}")
                fill(workspace, collection.id, n)

                def mark(number: int, on=collection) -> object:  # type: ignore[no-untyped-def]
                    return workspace.marks.mark(on, f"new {number}", Mark.RELEVANT)

                def undo(_: int, on=collection) -> object:  # type: ignore[no-untyped-def]
                    return workspace.marks.undo(on)

                medians.append(put(f"mark, after {n:,}", *timed(mark, given.measured)))
                put(f"undo, after {n:,}", *timed(undo, min(200, given.measured)))
            start = time.perf_counter()
            current = workspace.marks.current(collection)
            found = len(current.relevant) + len(current.not_relevant)
            print(f"all that hold, {found:,} of them: {time.perf_counter() - start:.1f} s")
    print("the bar holds" if max(medians) < BAR_MS else f"the bar of {BAR_MS} ms is missed")
    return 0 if max(medians) < BAR_MS else 1


if __name__ == "__main__":
    sys.exit(main())

"""How fast does a click log become pairs, in how much memory, beside plain DuckDB reading the same Parquet?

    python benchmarks/clicks.py [--rows 10000000] [--days 30] [--memory 2048] [--threads N] [--into DIR]
    python benchmarks/clicks.py --rows 100000000     # some 40 minutes of one core, and 25 GB of disk

Makes a UBI log of so many rows (queries with ten hits each, and clicks by the position-based model with θ_k = 1/k) as
Parquet, by SQL, since the simulator of the package writes row by row. Then, each in a process of its own whose peak
resident memory is read from the system:

- plain: DuckDB reads every column of every row of the log, and nothing else;
- import: `ClickStore.add`;
- pairs: `observe`, the position curve by EM, `write_pairs`.

Rows per second of wall and of CPU time, peak memory; and how far the curve is from the planted one. How far the work
has come is told on standard error. Exit status 1 if a process takes more than 4 GiB, or the curve is off by more than
5 %.
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

BAR_GIB = 4.0
CLICKS_A_SEARCH = 1.2
"""About: rows are queries and clicks."""
QUERIES, OBJECTS, DEPTH = 50_000, 200_000, 10

# A query's r-th candidate of 20 is shown at a position by rank of r plus noise; every third one is attractive.
LOG = """
CREATE TABLE searches AS
    SELECT i, CAST(floor({queries} * pow(hash(i, 1) / 18446744073709551616.0, 3)) AS BIGINT) AS q,
           hash(i, 2) % {users} AS who,
           TIMESTAMP '2026-01-01' + INTERVAL (CAST(i * ({days} * 86400e6 / {searches}) AS BIGINT)) MICROSECONDS AS time
    FROM range({searches}) t(i);
COPY (
    SELECT 'search-' || i AS query_id,
           'words of ' || chr(CAST(97 + q % 26 AS INTEGER)) || ' ' || hex(q) AS user_query,
           'client-' || who AS client_id, time AS timestamp,
           ['object-' || ((q * 7 + (3 * k + i % 20) % 20) % {objects}) FOR k IN range(0, {depth})]
               AS query_response_hit_ids
    FROM searches
) TO '{folder}/queries.parquet' (FORMAT parquet);
COPY (
    SELECT 'search-' || i AS query_id, 'client-' || who AS client_id, 'session-' || who AS session_id,
           'click' AS action_name, time + INTERVAL (3 * k) SECONDS AS timestamp,
           {{'position': {{'ordinal': k}}, 'object': {{'object_id': 'object-' || ((q * 7 + c) % {objects}),
             'name': 'title of object ' || ((q * 7 + c) % {objects})}}}} AS event_attributes
    FROM (SELECT *, (3 * (k - 1) + i % 20) % 20 AS c FROM searches, range(1, {depth} + 1) r(k))
    WHERE hash(i, k, 3) / 18446744073709551616.0 < (1.0 / k) * CASE WHEN (q + c) % 3 = 0 THEN 0.9 ELSE 0.2 END
) TO '{folder}/events.parquet' (FORMAT parquet);
"""


def make(folder: Path, rows: int, days: int, threads: int | None) -> int:
    """The log; how many rows it has."""
    import duckdb

    searches = int(rows / (1 + CLICKS_A_SEARCH))
    connection = duckdb.connect(str(folder / "made.duckdb"), config={"memory_limit": "2GB"})
    if threads:
        connection.execute(f"SET threads = {threads}")
    connection.execute("SET preserve_insertion_order = false")
    values = {"searches": searches, "users": max(searches // 20, 10), "days": days, "folder": folder}
    connection.execute(LOG.format(queries=QUERIES, objects=OBJECTS, depth=DEPTH, **values))
    found = connection.execute(f"SELECT count(*) FROM read_parquet('{folder}/events.parquet')").fetchall()[0][0]
    connection.close()
    (folder / "made.duckdb").unlink()
    return searches + int(found)


def progress(label: str, total: int | None = None) -> AbstractContextManager[Callable[[str], None]]:
    """A bar, or, where standard error is no terminal, a line a step."""
    from germane.cli.progress import steps

    start = time.perf_counter()

    def line(words: str) -> None:
        print(f"{time.perf_counter() - start:7.0f} s  {label}: {words}", file=sys.stderr, flush=True)

    return steps(label, total=total, otherwise=line)


def plain(folder: Path, memory: int, threads: int | None) -> dict:
    """Every column of every row, by DuckDB alone."""
    import duckdb

    connection = duckdb.connect(config={"memory_limit": f"{memory}MB"})
    if threads:
        connection.execute(f"SET threads = {threads}")
    for name in ("queries", "events"):
        columns = connection.execute(f"DESCRIBE FROM read_parquet('{folder}/{name}.parquet')").fetchall()
        every = ", ".join(f"max({column})" for column, *_ in columns)
        connection.execute(f"SELECT {every} FROM read_parquet('{folder}/{name}.parquet')").fetchall()
    return {}


def imported(folder: Path, memory: int, threads: int | None) -> dict:
    """The log as history."""
    from germane.clicks import ClickStore

    store = ClickStore.create(folder / "history")
    with progress("import") as step:
        files = [folder / "queries.parquet", folder / "events.parquet"]
        report = store.add(files, memory_mb=memory, threads=threads, on_progress=step)
    return {"added": report.queries + report.events, "dropped": dict(report.dropped)}


def paired(folder: Path, memory: int, threads: int | None) -> dict:
    """The history as pairs."""
    from germane.clicks import ClickStore, observe, write_pairs

    store = ClickStore.open(folder / "history")
    with (
        progress("pairs", len(store.days)) as step,
        observe(store, memory_mb=memory, threads=threads, work=folder, on_progress=step) as observations,
    ):
        report = write_pairs(observations, folder / "pairs.parquet")
        counts = observations.counts
    off = max(abs(report.curve[k] * (k + 1) - 1) for k in range(DEPTH))
    return {"pairs": report.pairs, "searches": counts.searches, "clicks": counts.kept_clicks, "curve_off": off}


STEPS = {"plain": plain, "import": imported, "pairs": paired}


def measured(step: str, folder: Path, memory: int, threads: int | None) -> dict:
    """A step in a process of its own."""
    command = [sys.executable, __file__, "--step", step, "--into", str(folder), "--memory", str(memory)]
    command += ["--threads", str(threads)] if threads else []
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--memory", type=int, default=2048)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--into", type=Path, help="a folder on a disk with room; else a temporary one")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        start = time.perf_counter()
        told = STEPS[given.step](given.into, given.memory, given.threads)
        used = resource.getrusage(resource.RUSAGE_SELF)
        told |= {
            "wall": time.perf_counter() - start,
            "cpu": used.ru_utime + used.ru_stime,
            "gib": used.ru_maxrss / 2**20,
        }
        print(json.dumps(told))
        return
    folder = Path(tempfile.mkdtemp(dir=given.into))
    try:
        rows = make(folder, given.rows, given.days, given.threads)
        size = sum(path.stat().st_size for path in folder.glob("*.parquet"))
        print(f"{rows:,} rows, {size / 2**20:,.0f} MiB of Parquet", flush=True)
        found = {step: measured(step, folder, given.memory, given.threads) for step in STEPS}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{'':8}{'rows/s':>14}{'rows/CPU s':>14}{'wall s':>10}{'CPU s':>10}{'peak GiB':>10}")
    for step, told in found.items():
        rates = f"{rows / told['wall']:14,.0f}{rows / told['cpu']:14,.0f}"
        print(f"{step:8}{rates}{told['wall']:10.1f}{told['cpu']:10.1f}{told['gib']:10.2f}")
    ours, theirs = (sum(found[step]["cpu"] for step in steps) for steps in (("import", "pairs"), ("plain",)))
    print(f"log to pairs: {rows / ours:,.0f} rows/CPU s, {ours / theirs:.0f} times the CPU time of reading alone")
    print({**found["import"], **found["pairs"]})
    worst = max(told["gib"] for told in found.values())
    sys.exit(int(worst > BAR_GIB or found["pairs"]["curve_off"] > 0.05))


if __name__ == "__main__":
    main()

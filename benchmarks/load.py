"""The server under load: 50 clients at once, over an index of 500,000 documents, beside a minimal FastAPI and tantivy.

    python benchmarks/load.py                                # some minutes: makes the collection and the indexes first
    python benchmarks/load.py --docs 50000 --seconds 5

Asked everywhere: the ten best documents for a query of two to four words, with ids, scores, stored fields and snippets,
as JSON.

- **in process**: as many processes as the server has, each with one thread, make the same JSON from `Engine.answer`.
- **germane**: `germane serve --workers N`, as it is, its limits of requests lifted.
- **peer**: FastAPI with tantivy, N processes of uvicorn (`benchmarks/load_peer.py`); its snippets are tantivy's.

Clients are coroutines over raw sockets that stay open; each sends its next request when the answer is there. They are
one process on the same cores, so its processor time is taken from what the server could have had: `client_cores` says
how many cores it used, and `ratio_of_what_was_left` divides by the share of the cores that it left. `ratio` does not.
All of these are of the clock, and mean something on a machine that does nothing else. `processor_ms` is the processor's
time for an answer, of all processes of the server; `processor_ratio`, that in process over that of the server, is what
`ratio_of_what_was_left` comes to where processors are what there is too little of, and holds on a busy machine too.

Prints one line of JSON. Bars: no error, p99 at most 10 times the median, ratio at least 0.6.
"""

import argparse
import asyncio
import contextlib
import http.client
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import corpora

K = 10
WARM_SECONDS = 3.0


def main() -> None:
    """Measure all three, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=int, default=corpora.N_DOCS)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--no-peer", action="store_true")
    given = parser.parse_args()
    folder = corpora.prepare("synthetic", given.docs)
    queries = [line.split("\t")[1].strip() for line in (folder / "queries_short.tsv").read_text().splitlines()]
    index = germane_index(folder)
    found: dict[str, object] = {"documents": given.docs, "clients": given.clients, "workers": given.workers}
    alone = in_process(index, queries, given.workers, given.seconds)
    found["in_process"] = {"per_s": round(alone.rate, 1), "processor_ms": round(alone.processor_ms, 2)}
    print(found, file=sys.stderr)
    command = [
        sys.executable, "-m", "germane.cli", "serve", "--index", str(index), "--port", "0",
        "--workspace", str(folder / "load.workspace"), "--workers", str(given.workers), "--no-browser", "--rate", "0",
    ]  # fmt: skip
    name = index.name
    paths = [f"/api/v1/collections/{name}/search?q={quote(query)}&k={K}&snippets=true" for query in queries]
    found["germane"] = served(command, paths, given.clients, given.seconds, alone)
    print(found, file=sys.stderr)
    found["second_start"] = second_start(index)
    if not given.no_peer:
        peer = [sys.executable, str(Path(__file__).parent / "load_peer.py"), str(folder), str(given.workers)]
        paths = [f"/search?q={quote(query)}&k={K}" for query in queries]
        found["fastapi_tantivy"] = served(peer, paths, given.clients, given.seconds, None)
    print(json.dumps(found))


def germane_index(folder: Path) -> Path:
    """The index of the collection, made where it is not there."""
    index = folder / "served"
    if not index.exists():
        new = folder / "served.new"
        subprocess.run(
            [sys.executable, "-m", "germane.cli", "index", str(folder / "docs.jsonl"), "--into", str(new)], check=True
        )
        new.rename(index)
    return index


def second_start(index: Path) -> dict[str, float]:
    """Seconds that `germane serve --check` takes over the index: start, three answers, end; of three the quickest."""
    command = [sys.executable, "-m", "germane.cli", "serve", "--index", str(index), "--check", "--port", "0"]
    command += ["--workspace", str(index.parent / "load.workspace")]
    wall, processor = [], []
    for _ in range(3):
        began, before = time.perf_counter(), os.times()
        subprocess.run(command, check=True, capture_output=True)
        after = os.times()
        wall.append(time.perf_counter() - began)
        processor.append(sum(after[2:4]) - sum(before[2:4]))
    return {"wall_s": round(min(wall), 2), "processor_s": round(min(processor), 2)}


# -- in process --------------------------------------------------------------------------------------------------------


class Alone(NamedTuple):
    """Answers a second, and the processor's time for one in milliseconds."""

    rate: float
    processor_ms: float


def in_process(index: Path, queries: list[str], processes: int, seconds: float) -> Alone:
    """So many processes together."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(processes) as pool:
        done = pool.starmap(answering, [(index, queries[i::processes], seconds) for i in range(processes)])
    return Alone(sum(each.rate for each in done), sum(each.processor_ms for each in done) / processes)


def answering(index: Path, queries: list[str], seconds: float) -> Alone:
    """One process, in one thread."""
    import orjson

    from germane import Engine
    from germane.engine.requests import SearchRequest

    engine = Engine.open(index)

    def measured(length: float) -> Alone:
        began, count, processor = time.perf_counter(), 0, time.process_time()
        while time.perf_counter() - began < length:
            request = SearchRequest(queries[count % len(queries)], K, snippets=True)
            orjson.dumps(engine.answer(request).to_dict())
            count += 1
        processor = time.process_time() - processor
        return Alone(count / (time.perf_counter() - began), 1000 * processor / count)

    measured(WARM_SECONDS)
    return measured(seconds)


# -- over HTTP ---------------------------------------------------------------------------------------------------------


def served(
    command: list[str], paths: list[str], clients: int, seconds: float, alone: Alone | None
) -> dict[str, object]:
    """Start a server that says its address, load it, and stop it."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        while "127.0.0.1:" not in (line := process.stderr.readline()):
            if not line:
                raise SystemExit("the server did not start")
        port = int(line.split("127.0.0.1:")[1].split("/")[0].split()[0])
        wait_for(process, port, paths[0])
        asyncio.run(load(port, paths, clients, WARM_SECONDS))
        own, theirs = time.process_time(), processor_of(process.pid)
        began = time.perf_counter()
        times, errors = asyncio.run(load(port, paths, clients, seconds))
        took = time.perf_counter() - began
        cores = (time.process_time() - own) / took
        spent = 1000 * (processor_of(process.pid) - theirs) / max(len(times), 1)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate()
    times.sort()
    rate = len(times) / took
    found: dict[str, object] = {
        "per_s": round(rate, 1), "errors": errors, "median_ms": round(1000 * times[len(times) // 2], 1),
        "p99_ms": round(1000 * times[int(len(times) * 0.99)], 1),
        "p99_over_median": round(times[int(len(times) * 0.99)] / times[len(times) // 2], 1),
        "client_cores": round(cores, 2), "processor_ms": round(spent, 2),
    }  # fmt: skip
    if alone is not None:
        total = os.cpu_count() or 1
        found["ratio"] = round(rate / alone.rate, 2)
        found["ratio_of_what_was_left"] = round(rate / alone.rate * total / (total - cores), 2)
        found["processor_ratio"] = round(alone.processor_ms / spent, 2)
    return found


def processor_of(process: int) -> float:
    """Seconds of processor time that a process and those it started have used (Linux)."""
    numbers = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    own = (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return own + sum(processor_of(int(child)) for child in children)


def wait_for(process: subprocess.Popen[str], port: int, path: str) -> None:
    """Until it answers: it may be making something for the first time, however long that takes."""
    while process.poll() is None:
        with contextlib.suppress(OSError):
            connection = http.client.HTTPConnection("127.0.0.1", port)
            connection.request("GET", path)
            if connection.getresponse().status == 200:
                return
        time.sleep(0.1)
    raise SystemExit("the server ended before it answered")


async def load(port: int, paths: list[str], clients: int, seconds: float) -> tuple[list[float], int]:
    """Seconds of every request that ended within the time, and how many were not answered with 200."""
    requests = [f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode() for path in paths]
    until = time.perf_counter() + seconds
    told = await asyncio.gather(*(client(port, requests, i, clients, until) for i in range(clients)))
    return [each for times, _ in told for each in times], sum(errors for _, errors in told)


async def client(port: int, requests: list[bytes], first: int, step: int, until: float) -> tuple[list[float], int]:
    """One after the other, over one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    times: list[float] = []
    errors, at = 0, first
    while (began := time.perf_counter()) < until:
        writer.write(requests[at % len(requests)])
        at += step
        head = await reader.readuntil(b"\r\n\r\n")
        marker = head.lower().index(b"content-length:") + 15
        await reader.readexactly(int(head[marker : head.index(b"\r", marker)]))
        times.append(time.perf_counter() - began)
        errors += not head.startswith(b"HTTP/1.1 200")
    writer.close()
    return times, errors


if __name__ == "__main__":
    main()

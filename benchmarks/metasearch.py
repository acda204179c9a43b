"""How much later than the slowest source is the list there?   python benchmarks/metasearch.py [--rounds 9]

Five sources over HTTP on loopback give 200 records each, with abstracts, from the shared reviews (GERMANE_DATA); half
of them are known to another source too. One answers last. Told are the milliseconds from its answer to the list:
taking it in, de-duplication and ranking. Medians over rounds, CPU time of this process with the server in another one,
and the time on the clock, which depends on what else the machine does. Exit status 1 if the bar is missed.
"""

import argparse
import asyncio
import gzip
import json
import multiprocessing
import os
import random
import sys
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from dedupe import FAMILIES

from germane.metasearch import Crossref, MetaSearch
from germane.metasearch.merging import RANKINGS, Merger
from germane.metasearch.rates import Buckets

SOURCES, EACH = 5, 200
LATEST = 0.4
"""Seconds after which the slowest source answers."""
BAR = 50.0


def answers(seed: int) -> dict[str, bytes]:
    """What each source says: 200 works, of which 100 are known to others."""
    path = Path(os.environ["GERMANE_DATA"], "reviews_cohen2006", "ACEInhibitors.jsonl.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        records = [record for record in map(json.loads, file) if record["abstract"]]
    draw = random.Random(seed)
    draw.shuffle(records)
    shared, rest = records[: EACH // 2 * 2], records[EACH // 2 * 2 :]
    told = {}
    for place in range(SOURCES):
        own = rest[place * EACH // 2 : (place + 1) * EACH // 2]
        chosen = own + draw.sample(shared, EACH - len(own))
        draw.shuffle(chosen)
        alone = {record["id"] for record in own}
        items = [
            {
                "DOI": f"10.5555/{place}.{n}" if record["id"] in alone else f"10.5555/{record['id']}",
                "title": [record["title"]],
                "abstract": record["abstract"],
                "type": "journal-article",
                "author": [{"family": FAMILIES[zlib.crc32(record["id"].encode()) % len(FAMILIES)], "given": "Ann"}],
                "published": {"date-parts": [[record["year"] or 2000]]},
                "score": 1000.0 - n,
            }
            for n, record in enumerate(chosen)
        ]
        message = {"total-results": len(items), "items": items}
        told[f"/{place}"] = json.dumps({"status": "ok", "message": message}).encode()
    return told


def serve(told: dict[str, bytes], port: "multiprocessing.Queue[int]") -> None:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            time.sleep(LATEST if path == "/0" else 0.0)
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(told[path])))
            self.end_headers()
            self.wfile.write(told[path])

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    port.put(server.server_address[1])
    server.serve_forever()


async def measured(search: MetaSearch, query: str, merger: Merger) -> tuple[float, float, float, int, int]:
    """CPU and clock milliseconds from the last answer to the list; CPU of all that was done; records and results."""
    begun = time.process_time()
    async for answer in search.stream(query, EACH):
        cpu, clock = time.process_time(), time.perf_counter()
        merger.add(answer)
    found = merger.merged()
    records = sum(len(answer.records) for answer in found.answers)
    assert not found.failures, found.failures
    end = time.process_time()
    return 1e3 * (end - cpu), 1e3 * (time.perf_counter() - clock), 1e3 * (end - begun), records, len(found)


def additions() -> float:
    """CPU seconds of a plain loop, to compare machines by."""
    start, total = time.process_time(), 0
    for i in range(5_000_000):
        total += i
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    ports: multiprocessing.Queue[int] = multiprocessing.Queue()
    server = multiprocessing.Process(target=serve, args=(answers(0), ports), daemon=True)
    server.start()
    port = ports.get()
    sources = [Crossref(name=f"source {n}", url=f"http://127.0.0.1:{port}/{n}") for n in range(SOURCES)]
    missed = False
    header = ("records", "results", "added CPU ms", "added clock ms", "CPU ms in all")
    print(f"{'ranking':10} " + " ".join(f"{name:>14}" for name in header))
    for ranking in RANKINGS:
        search = MetaSearch(sources, ranking=ranking, buckets=Buckets())
        rows = []
        for _ in range(options.rounds + 1):
            merger = search._merger("angiotensin converting enzyme inhibitors in heart failure")
            rows.append(asyncio.run(measured(search, "angiotensin converting enzyme inhibitors", merger)))
        rows = rows[1:]  # the first one imports and compiles
        cpu, clock, whole = (median(row[i] for row in rows) for i in range(3))
        missed = missed or cpu > BAR
        print(f"{ranking:10} {rows[0][3]:14,} {rows[0][4]:14,} {cpu:14.1f} {clock:14.1f} {whole:14.1f}")
    server.terminate()
    print(f"\nfive million additions in Python take this machine {additions():.2f} seconds")
    sys.exit(missed)


if __name__ == "__main__":
    main()

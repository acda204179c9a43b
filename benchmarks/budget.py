"""What the dearest requests cost that the server accepts, and what one caller notices of ten who send nothing else.

    python benchmarks/budget.py                      # makes 200,000 documents and their index first
    python benchmarks/budget.py --docs 20000 --seconds 5

- **cost**: the worst accepted request of each operation, one after the other: seconds of a processor that the server
  used, at the first time and at the second (words, fields and kernels are read and loaded once). What is refused of
  worse ones is counted: each of them must be.
- **abuse**: ten callers at addresses of their own (127.0.0.2 ...), four connections each, send such requests as fast as
  they are answered; an eleventh sends a plain search ten times a second, before and meanwhile. Its median and p95 are
  of the clock, and mean something on a machine that does nothing else.

Prints one line of JSON. Bars: no accepted request above 1 second of a processor, an export of all documents excepted,
which streams as it is taken; the eleventh's median at most 4 times the undisturbed one, p95 at most 500 ms, and none
refused.
"""

import argparse
import asyncio
import http.client
import json
import multiprocessing
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from urllib.parse import urlencode

import corpora
import numpy as np
from load import processor_of

from germane.refine.registry import METHOD_NAMES
from germane.server.budget import MOST_SLOWLY, SLOW

CALLERS, CONNECTIONS, PACE = 10, 4, 0.1
WARM_SECONDS = 5.0
API = "/api/v1"
HEADERS = {"content-type": "application/json", "x-requested-with": "benchmark"}
Asked = tuple[str, str, Any]
"""Method, path and body."""


def main() -> None:
    """Both, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=int, default=200_000)
    parser.add_argument("--seconds", type=float, default=20.0)
    given = parser.parse_args()
    folder = corpora.prepare("synthetic", given.docs)
    index = index_of(folder)
    queries = [line.split("\t")[1].strip() for line in (folder / "queries_short.tsv").read_text().splitlines()]
    common, middling = words_of(index)
    found: dict[str, Any] = {"documents": given.docs}
    process, port = started(index, "--rate", "0")
    try:
        found["cost"] = costs(process.pid, port, index.name, common, middling)
    finally:
        stopped(process)
    print(found, file=sys.stderr)
    process, port = started(index)
    try:
        found["abuse"] = abused(port, dearest(index.name, common, middling), queries, index.name, given.seconds)
    finally:
        stopped(process)
    print(json.dumps(found))


# -- the collection and the server -------------------------------------------------------------------------------------


def index_of(folder: Path) -> Path:
    """The index of the collection with fields beside the text, made where it is not there."""
    from germane import Engine

    index = folder / "abused"
    if not index.exists():
        new = folder / "abused.new"
        with Engine.create(new) as engine:
            engine.add(documents(folder / "docs.jsonl"))
        new.rename(index)
    return index


def documents(path: Path) -> Iterator[dict[str, Any]]:
    """The documents, with a year, a journal of many, up to four authors of very many, and a language of four."""
    rng = np.random.default_rng(35)
    with path.open() as lines:
        for line in lines:
            record = json.loads(line)
            words = record["text"].split()
            names = rng.zipf(1.3, int(rng.integers(1, 5))) % 50_000
            yield {
                "id": record["id"], "title": " ".join(words[:8]), "text": record["text"],
                "year": int(1950 + rng.integers(75)), "journal": f"Journal of {words[0]} {int(rng.zipf(1.5)) % 2000}",
                "author": [f"Author {name}" for name in names.tolist()],
                "language": ["eng", "ger", "fre", "spa"][int(rng.integers(4))],
            }  # fmt: skip


def words_of(index: Path) -> tuple[list[str], list[str]]:
    """The words of most documents, and some that stand in fewer."""
    from germane.index.snapshot import Snapshot

    segment = max((live.segment for live in Snapshot.open(index).segments), key=lambda each: each.n_docs)
    order = np.argsort(-segment.df.astype(np.int64))
    return segment.terms(order[:400]), segment.terms(order[2_000:2_100])


def started(index: Path, *options: str) -> tuple[subprocess.Popen[str], int]:
    """The server over an empty workspace, and its port, once it answers."""
    home = index.parent / f"abused-{random.randrange(10**9)}"
    home.mkdir()
    command = [
        sys.executable, "-m", "germane.cli", "serve", "--index", str(index), "--port", "0", "--workspace",
        str(home / "workspace"), "--no-browser", *options,
    ]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    while "127.0.0.1:" not in (line := process.stderr.readline()):
        if not line:
            raise SystemExit("the server did not start")
    port = int(line.split("127.0.0.1:")[1].split("/")[0].split()[0])
    for _ in range(600):
        try:
            if ask(port, ("GET", f"{API}/collections/{index.name}/search?q=first", None))[0] == 200:
                return process, port
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the server does not answer")


def stopped(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)
    process.communicate()


def ask(port: int, asked: Asked, address: str = "127.0.0.1") -> tuple[int, bytes]:
    """Status and body of one answer."""
    method, path, body = asked
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=600, source_address=(address, 0))) as connection:
        connection.request(method, path, None if body is None else json.dumps(body), HEADERS)
        answer = connection.getresponse()
        return answer.status, answer.read()


# -- cost --------------------------------------------------------------------------------------------------------------


def searches(name: str, common: Sequence[str], middling: Sequence[str]) -> Iterator[tuple[str, Asked]]:
    """Searches that are as dear as the bounds allow, each in a way of its own; worse ones are refused."""

    def search(query: str, **given: Any) -> Asked:
        return "GET", f"{API}/collections/{name}/search?" + urlencode({"q": query, **given}, doseq=True), None

    def fitting(words: Sequence[str], most: int = 2_000) -> str:
        text = " ".join(words)[:most]
        return text[: text.rfind(" ")] if len(text) == most else text

    three, facets = " ".join(common[:3]), ["year", "journal", "author", "language"]
    yield "plain", search(three)
    yield "the commonest words", search(fitting(common))
    yield "k", search(three, k=1_000)
    yield "k and snippets", search(three, k=420, snippets="true")
    yield "k, snippets and long queries", search(fitting(common), k=420, snippets="true")
    yield "k and offset", search(three, k=1_000, offset=9_000)
    yield "groups of the first", search(three, groups=50)
    yield "groups of many", search(three, groups=11, k=1_000)
    yield "facets", search(three, facet=facets, k=1_000)
    yield "order by a field", search(three, sort="author", k=1_000, facet=facets)
    ranges = [f"author:A{i}.." for i in range(20)] + [f"journal:J{i}..K" for i in range(20)]
    yield "ranges of texts", search(common[0], filter=ranges, facet=facets)
    yield "values", search(common[0], filter=[f'author:"Author {i}"' for i in range(50)], facet=facets)
    yield "years", search(common[0], filter=[f"year:{1900 + i}..2020" for i in range(50)], facet=facets)
    yield "beginnings of values", search(common[0], filter=[f"author:A{i}*" for i in range(50)])
    phrases = [f'"{a} {b}"' for a, b in pairwise(common[:10])]
    yield "phrases", search(" OR ".join(phrases))
    yield "phrases with moves", search(" OR ".join(f"{phrase}~5" for phrase in phrases[:2]))
    yield "words in one field", search(" ".join(f"text:{word}" for word in common[:2]))
    yield "prefixes", search(" ".join(f"{a}{b}*" for a in "bcdfghjklmnprstvz" for b in "aeiou"), k=100)
    yield "fuzzy words", search(" ".join(f"{word}~2" for word in middling[:6]))
    yield "misspelt words", search(" ".join(f"{word}xq" for word in middling[:32]))
    yield "a model of pairs", search(three, model="sdm", k=1_000)
    yield "a model of fields", search(three, model="bm25f", k=1_000)
    yield "a model of integrals", search(fitting(common[:30]), model="dcm", k=1_000)
    both = " ".join([*(f"{word}~2" for word in middling[:5]), *(f"{word}xq" for word in middling[5:10]), *phrases[:6]])
    yield "everything together", search(both, k=250, snippets="true", facet=facets, groups=10)


def dearest(name: str, common: Sequence[str], middling: Sequence[str]) -> list[Asked]:
    """What the ten send."""
    return [asked for _, asked in searches(name, common, middling)]


def marked(port: int, keep: dict[str, Any]) -> tuple[int, list[str]]:
    """A kept search with twenty marks: its number, and the ids of its first results."""
    number = json.loads(ask(port, ("POST", f"{API}/searches", keep))[1])["search"]
    listed = json.loads(ask(port, ("GET", f"{API}/searches/{number}?k=100", None))[1])["refinement"]["results"]
    ids = [each["id"] for each in listed]
    for at, document in enumerate(ids[:20]):
        ask(port, ("POST", f"{API}/searches/{number}/marks",
                   {"document": document, "mark": "relevant" if at % 2 else "not_relevant"}))  # fmt: skip
    return number, ids


def operations(port: int, name: str, common: Sequence[str], middling: Sequence[str]) -> Iterator[tuple[str, Asked]]:
    """The other operations, over what is as large as the bounds allow."""
    keep = {"query": " ".join(common[:3]), "k": 1_000}
    yield "POST /searches", ("POST", f"{API}/searches", keep)
    number, ids = marked(port, keep)
    yield "GET /searches/{n}", ("GET", f"{API}/searches/{number}?k=100&explain=true&fields=true", None)
    yield "GET /searches/{n}, in memory", ("GET", f"{API}/searches/{number}?k=1000", None)
    for method in METHOD_NAMES:
        of = marked(port, {**keep, "k": MOST_SLOWLY})[0] if method in SLOW else number
        asked = {"k": 100, "explain": "true", "method": method, "add": common[:50], "drop": middling[:50]}
        yield f"GET /searches/{{n}}, {method}", ("GET", f"{API}/searches/{of}?{urlencode(asked, doseq=True)}", None)
    yield "GET /searches/{n}/groups", ("GET", f"{API}/searches/{number}/groups", None)
    yield "GET /searches/{n}/export", ("GET", f"{API}/searches/{number}/export?format=ris", None)
    yield "GET /searches", ("GET", f"{API}/searches?k=1000", None)
    yield "GET /collections/{c}", ("GET", f"{API}/collections/{name}", None)
    yield "GET explain", ("GET", f"{API}/collections/{name}/explain?" + urlencode(
        {"q": " ".join(common)[:1_990], "id": ids[0]}), None)  # fmt: skip
    ask(port, ("POST", f"{API}/topics", {"name": "first", "documents": ids[:1]}))  # learns general language, once
    yield "POST /topics", ("POST", f"{API}/topics", {"name": "second", "documents": ids})
    yield "GET /topics/{name}", ("GET", f"{API}/topics/first", None)
    three = urlencode({"q": " ".join(common[:3])})
    yield "page: search", ("GET", f"/search?{three}", None)
    yield "page: a group", ("GET", f"/search?{three}&g=1", None)
    yield "page: groups", ("GET", f"/groups?{three}", None)
    yield "page: export", ("GET", f"/export?{three}&format=ris", None)
    yield "page: a document", ("GET", f"/document?{three}&id={ids[0]}", None)
    yield "page: why", ("GET", f"/why?{three}&id={ids[0]}", None)
    yield "page: a saved list", ("GET", f"/search?s={number}", None)


def worse(name: str, common: Sequence[str]) -> Iterator[Asked]:
    """Searches that are to be refused."""
    there = f"{API}/collections/{name}/search?"
    three = " ".join(common[:3])
    for given in (
        {"groups": 50, "k": 1_000, "offset": 9_000}, {"groups": 50, "k": 1_000}, {"k": 1_000, "snippets": "true"},
        {"filter": [f"year:{i}.." for i in range(110)]}, {"facet": [f"f{i}" for i in range(250)]}, {"k": 10**9},
    ):  # fmt: skip
        yield "GET", there + urlencode({"q": three, **given}, doseq=True), None
    yield "GET", there + urlencode({"q": " OR ".join(f'"{a} {b}"~5' for a in common[:6] for b in common[6:9])}), None
    yield "GET", there + urlencode({"q": " ".join(f"{word}~2" for word in common[:40])}), None
    yield "GET", there + urlencode({"q": " ".join(common[:40]), "model": "sdm"}), None
    yield "POST", f"{API}/searches", {"query": three, "k": 10**9}
    yield "POST", f"{API}/topics/feed", {}


def costs(server: int, port: int, name: str, common: list[str], middling: list[str]) -> dict[str, Any]:
    """Seconds of a processor for each, the first time and the second."""
    rows: dict[str, list[float]] = {}
    taken: list[str] = []
    for title, asked in (*searches(name, common, middling), *operations(port, name, common, middling)):
        for _ in range(2):
            before = processor_of(server)
            status, answer = ask(port, asked)
            rows.setdefault(title, []).append(round(processor_of(server) - before, 2))
        if status >= 300 and title != "POST /topics":  # which is there, the second time
            taken.append(f"{title}: {status} {answer[:200].decode(errors='replace')}")
    refused = [ask(port, asked)[0] for asked in worse(name, common)]
    most = max(rows, key=lambda title: rows[title][-1])
    return {
        "most": [most, rows[most][-1]], "most_first": max(each[0] for each in rows.values()), "rows": rows,
        "not_accepted": taken, "worse_refused": f"{sum(status == 422 for status in refused)} of {len(refused)}",
    }  # fmt: skip


# -- abuse -------------------------------------------------------------------------------------------------------------


def abused(port: int, dear: list[Asked], queries: list[str], name: str, seconds: float) -> dict[str, Any]:
    """The eleventh's answers, undisturbed and beside ten."""
    paths = [f"{API}/collections/{name}/search?" + urlencode({"q": query, "snippets": "true"}) for query in queries]
    for path in paths[:50]:
        ask(port, ("GET", path, None))
    alone, alone_refused = asyncio.run(eleventh(port, paths, seconds))
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:  # a process of their own, so that their client does not slow the eleventh's
        ten = pool.apply_async(abusing, (port, dear, seconds + WARM_SECONDS))
        time.sleep(WARM_SECONDS)
        beside, refused = asyncio.run(eleventh(port, paths, seconds))
        answers = ten.get()
    return {
        "alone": timed(alone), "beside": timed(beside), "refused": alone_refused + refused, "of": len(beside),
        "median_ratio": round(median(beside) / median(alone), 1), "answers_to_the_ten": answers,
    }  # fmt: skip


def timed(times: Sequence[float]) -> dict[str, float]:
    return {"median_ms": round(1000 * median(times), 1), "p95_ms": round(1000 * quantiles(times, n=20)[-1], 1)}


def abusing(port: int, dear: list[Asked], seconds: float) -> dict[int, int]:
    """Ten callers for so long; how many answers of each status they had."""
    counts: dict[int, int] = {}
    until = time.perf_counter() + seconds

    async def all_of_them() -> None:
        callers = (
            abuser(port, f"127.0.0.{2 + i}", dear, random.Random(10 * i + j), until, counts)
            for i in range(CALLERS)
            for j in range(CONNECTIONS)
        )
        await asyncio.wait([asyncio.create_task(each) for each in callers], timeout=seconds + 5)

    asyncio.run(all_of_them())
    return counts


async def eleventh(port: int, paths: list[str], seconds: float) -> tuple[list[float], int]:
    """Seconds for each plain search, ten a second, and how many were not answered with 200."""
    times, refused = [], 0
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=("127.0.0.12", 0), limit=1 << 22)
    until, at = time.perf_counter() + seconds, 0
    while time.perf_counter() < until:
        began = time.perf_counter()
        status = await answered(reader, writer, port, paths[at % len(paths)])
        times.append(time.perf_counter() - began)
        refused += status != 200
        at += 1
        await asyncio.sleep(max(PACE - (time.perf_counter() - began), 0.0))
    writer.close()
    return times, refused


async def abuser(
    port: int, address: str, dear: list[Asked], rng: random.Random, until: float, counts: dict[int, int]
) -> None:
    """One request after the other, without a rest unless it is refused."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0), limit=1 << 24)
    while time.perf_counter() < until:
        try:
            status = await answered(reader, writer, port, rng.choice(dear)[1])
        except (asyncio.IncompleteReadError, ConnectionError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0), limit=1 << 24)
            continue
        counts[status] = counts.get(status, 0) + 1
        if status in (429, 503):
            await asyncio.sleep(0.1)


async def answered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int, path: str) -> int:
    """The status of an answer, read whole."""
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    marker = head.lower().index(b"content-length:") + 15
    await reader.readexactly(int(head[marker : head.index(b"\r", marker)]))
    return int(head.split()[1])


if __name__ == "__main__":
    main()

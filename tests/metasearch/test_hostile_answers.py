"""Any bytes may come back: a source makes records of them, or says what is wrong with them, and raises nothing."""

import asyncio
import json
import random

import pytest

from germane.metasearch import SOURCES, merge
from germane.metasearch.answers import KINDS
from germane.metasearch.payload import Payload
from metasearch.conftest import PATHS
from metasearch.library import ROUTES

BODIES = {
    "pubmed": ["/pubmed/esearch.fcgi", "/pubmed/efetch.fcgi"], "europepmc": ["/europepmc/search"], "arxiv": ["/arxiv"],
    "openalex": ["/openalex"], "crossref": ["/crossref"], "searxng": ["/searxng/search"],
    "elasticsearch": ["/elastic/papers/_search"], "opensearch": ["/opensearch/description.xml", "/opensearch/results"],
    "feed": ["/feed"],
}  # fmt: skip
USUAL = {
    "term": "x", "retmax": "9", "retstart": "0", "WebEnv": "MCID_1", "query_key": "1", "cursorMark": "*",
    "pageSize": "9", "start": "0", "max_results": "9", "page": "1", "per_page": "9", "offset": "0", "rows": "9",
    "pageno": "1", "q": "x",
}  # fmt: skip
ODD = [None, True, -1, 1e308, 10**30, "", "\0", [], {}, [[]], [None], {"a": None}, "x" * 1000, "<b>&amp;", "\ud800"]


def usual(path):
    return ROUTES[path](dict(USUAL), json.dumps({"from": 0, "size": 9}).encode() if "elastic" in path else b"")


class Talk:
    """Hands the source one body after another, the last for ever."""

    def __init__(self, bodies):
        self.bodies, self.asked = list(bodies), 0

    async def ask(self, call, parse):
        self.asked += 1
        assert self.asked < 100
        return parse(self.bodies.pop(0) if len(self.bodies) > 1 else self.bodies[0])


def answer(kind, bodies):
    source = SOURCES[kind](**{**PATHS[kind], "url": f"https://x.example{PATHS[kind]['url']}"})

    class Answering(type(source)):
        def _batches(self, query, k, offset, web, seconds):
            return self._talk(Talk(bodies), query, k, offset)

    return asyncio.run(Answering(**{**PATHS[kind], "url": source.url}).search("copper disease", 9))


def damaged(data, draw):
    """Bytes cut, doubled, exchanged, or replaced."""
    data = bytearray(data)
    for _ in range(draw.choice((1, 2, 5))):
        at = draw.randrange(len(data)) if data else 0
        match draw.randrange(5):
            case 0:
                del data[at:]
            case 1:
                data[at : at + draw.randrange(40)] = b""
            case 2:
                data[at:at] = data[at : at + draw.randrange(200)]
            case 3:
                data[at:at] = draw.randbytes(draw.randrange(1, 9))
            case 4:
                data[at:at] = draw.choice((b"<", b">", b'"', b"{", b"]", b"&", b"\0", b"\xff", b"<![CDATA[", b"&#x0;"))
    return bytes(data)


def twisted(value, draw):
    """JSON with values of other kinds here and there."""
    if draw.random() < 0.08:
        return draw.choice(ODD)
    if isinstance(value, dict):
        return {key: twisted(item, draw) for key, item in value.items() if draw.random() > 0.05}
    if isinstance(value, list):
        return [twisted(item, draw) for item in value for _ in range(draw.choice((1, 1, 1, 0, 2)))]
    return value


@pytest.mark.parametrize("kind", BODIES)
def test_any_bytes(kind):
    draw = random.Random(kind)
    whole = [usual(path) for path in BODIES[kind]]
    for _ in range(400):
        bad = draw.randrange(len(whole))
        bodies = []
        for place, (content_type, text) in enumerate(whole):
            data = text.encode()
            if place == bad:
                if content_type.startswith("application/json") and draw.random() < 0.6:
                    data = json.dumps(twisted(json.loads(text), draw)).encode()
                else:
                    data = damaged(data, draw)
            bodies.append(
                Payload(data, draw.choice((content_type, "", "text/html; charset=utf-16", "x; charset=\x00")))
            )
        found = answer(kind, bodies)
        assert found.failure is None or found.failure.kind in KINDS
        assert len(found.records) <= 9
        assert len({record.id for record in found.records}) == len(found.records)
        merged = merge("copper disease", [found])
        assert len(merged) <= len(found.records)
        list(merged.documents())

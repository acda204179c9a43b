"""A library on loopback that speaks the protocols of all sources, and can be made to misbehave.

The answers are written from the protocols, for the same few records. `faults` says what happens to which source: the
names of FAULTS, by the first part of the path.
"""

import json
import threading
import zlib
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

TITLES = [
    "Zinc in the treatment of Wilson's disease", "Copper metabolism in the liver",
    "Penicillamine and the kidney: a cohort of children", "Kayser–Fleischer rings in neurological disease",
    "Long-term outcome after liver transplantation", "Screening of siblings for Wilson's disease",
    "Trientine as an alternative to penicillamine", "A model of copper transport in yeast",
]  # fmt: skip
RECORDS = [
    {
        "n": n, "title": title, "abstract": f"Abstract number {n}. {title} is studied in {10 + n} patients over time, "
        f"and the outcome is compared with that of group {n * 7}.",
        "family": family, "given": "Ann", "year": 2000 + n, "doi": f"10.5555/lib.{n}", "pmid": str(31000000 + n),
        "arxiv": f"2101.{10000 + n}",
    }
    for n, (title, family) in enumerate(
        zip(TITLES, ["Hoffmann", "Ōta", "Brewer", "Walshe", "Schilsky", "Roberts", "Weiss", "Culotta"], strict=True),
        start=1,
    )
]  # fmt: skip
FAULTS = (
    "silent", "rate", "rate for an hour", "server", "broken", "half", "cut", "charset", "redirect", "gigabyte",
    "gigabyte in pieces", "endless", "bomb", "empty", "refused",
)  # fmt: skip
ATOM = 'xmlns="http://www.w3.org/2005/Atom" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"'


@cache
def bomb() -> bytes:
    """200 MB of spaces, packed."""
    packing = zlib.compressobj(9, wbits=31)
    return b"".join(packing.compress(b" " * (1 << 20)) for _ in range(200)) + packing.flush()


Reply = tuple[str, str]
"""Content type and body."""


def esearch(q: dict, _: bytes) -> Reply:
    start, size = int(q.get("retstart", 0)), int(q.get("retmax", 20))
    found = [r["pmid"] for r in RECORDS][start : start + size]
    result = {
        "count": str(len(RECORDS)), "retmax": str(size), "retstart": str(start), "querykey": "1", "webenv": "MCID_1",
        "idlist": found, "translationset": [], "querytranslation": q["term"],
    }  # fmt: skip
    return "application/json", json.dumps({"header": {"type": "esearch"}, "esearchresult": result})


def efetch(q: dict, body: bytes) -> Reply:
    if body:
        wanted = parse_qs(body.decode())["id"][0].split(",")
        found = [r for r in RECORDS if r["pmid"] in wanted]
    else:
        start, size = int(q["retstart"]), int(q["retmax"])
        assert q["WebEnv"] == "MCID_1"
        assert q["query_key"] == "1"
        found = RECORDS[start : start + size]
    articles = "".join(
        f"""<PubmedArticle><MedlineCitation><PMID Version="1">{r["pmid"]}</PMID><Article><Journal><JournalIssue>
        <PubDate><Year>{r["year"]}</Year></PubDate></JournalIssue><Title>Journal of Copper</Title></Journal>
        <ArticleTitle>{escape(r["title"])}</ArticleTitle>
        <Abstract><AbstractText Label="BACKGROUND">{escape(r["abstract"])}</AbstractText></Abstract>
        <AuthorList><Author><LastName>{r["family"]}</LastName><ForeName>{r["given"]}</ForeName></Author></AuthorList>
        </Article></MedlineCitation><PubmedData><ArticleIdList><ArticleId IdType="doi">{r["doi"]}</ArticleId>
        </ArticleIdList></PubmedData></PubmedArticle>"""
        for r in reversed(found)  # the order of the search is ours to restore
    )
    doctype = (
        '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" "https://x.example/p.dtd">'
    )
    return (
        "text/xml",
        f'<?xml version="1.0" encoding="UTF-8"?>\n{doctype}<PubmedArticleSet>{articles}</PubmedArticleSet>',
    )


def europepmc(q: dict, _: bytes) -> Reply:
    start = 0 if q["cursorMark"] == "*" else int(q["cursorMark"])
    size = int(q["pageSize"])
    results = [
        {
            "id": r["pmid"], "source": "MED", "pmid": r["pmid"], "doi": r["doi"], "title": f"{r['title']}.",
            "authorString": f"{r['family']} A, Other B.", "pubYear": str(r["year"]),
            "abstractText": f"<h4>Background</h4>{escape(r['abstract'])}", "isOpenAccess": "N",
            "journalInfo": {"journal": {"title": "Journal of Copper"}},
        }
        for r in RECORDS[start : start + size]
    ]  # fmt: skip
    answer = {"version": "6.9", "hitCount": len(RECORDS), "nextCursorMark": str(start + len(results)),
              "request": {}, "resultList": {"result": results}}  # fmt: skip
    return "application/json;charset=UTF-8", json.dumps(answer, ensure_ascii=False)


def arxiv(q: dict, _: bytes) -> Reply:
    start, size = int(q["start"]), int(q["max_results"])
    entries = "".join(
        f"""<entry><id>http://arxiv.org/abs/{r["arxiv"]}v2</id><updated>{r["year"]}-05-01T00:00:00Z</updated>
        <published>{r["year"]}-02-03T00:00:00Z</published><title>{escape(r["title"])}
          </title><summary>  {escape(r["abstract"])}
        </summary><author><name>{r["given"]} {r["family"]}</name></author>
        <arxiv:doi xmlns:arxiv="http://arxiv.org/schemas/atom">{r["doi"]}</arxiv:doi>
        <link href="http://arxiv.org/abs/{r["arxiv"]}v2" rel="alternate" type="text/html"/>
        <category term="q-bio.TO" scheme="http://arxiv.org/schemas/atom"/></entry>"""
        for r in RECORDS[start : start + size]
    )
    head = f"<title>q</title><opensearch:totalResults>{len(RECORDS)}</opensearch:totalResults>"
    return "application/atom+xml", f'<?xml version="1.0" encoding="UTF-8"?><feed {ATOM}>{head}{entries}</feed>'


def openalex(q: dict, _: bytes) -> Reply:
    page, size = int(q["page"]), int(q["per_page"])

    def places(text: str) -> dict:
        found: dict[str, list[int]] = {}
        for place, word in enumerate(text.split()):
            found.setdefault(word, []).append(place)
        return found

    results = [
        {
            "id": f"https://openalex.org/W{r['n']}", "doi": f"https://doi.org/{r['doi']}", "title": r["title"],
            "publication_year": r["year"], "type": "article", "relevance_score": 100.0 - r["n"],
            "authorships": [{"author": {"display_name": f"{r['given']} {r['family']}"}}],
            "primary_location": {"landing_page_url": f"https://x.example/{r['n']}", "source": {"display_name": "J Cu"}},
            "abstract_inverted_index": places(r["abstract"]),
            "ids": {"pmid": f"https://pubmed.ncbi.nlm.nih.gov/{r['pmid']}"},
        }
        for r in RECORDS[(page - 1) * size : page * size]
    ]  # fmt: skip
    meta = {"count": len(RECORDS), "page": page, "per_page": size}
    return "application/json", json.dumps({"meta": meta, "results": results}, ensure_ascii=False)


def crossref(q: dict, _: bytes) -> Reply:
    start, rows = int(q["offset"]), int(q["rows"])
    items = [
        {
            "DOI": r["doi"].upper().replace("10.5555/LIB", "10.5555/lib"), "title": [r["title"]],
            "container-title": ["Journal of Copper"], "author": [{"given": r["given"], "family": r["family"]}],
            "published": {"date-parts": [[r["year"], None]]}, "type": "journal-article", "score": 50.0 - r["n"],
            "abstract": f"<jats:p>{escape(r['abstract'])}</jats:p>", "URL": f"https://doi.org/{r['doi']}",
        }
        for r in RECORDS[start : start + rows]
    ]  # fmt: skip
    message = {"total-results": len(RECORDS), "items-per-page": rows, "query": {}, "items": items}
    return "application/json", json.dumps({"status": "ok", "message-type": "work-list", "message": message})


def searxng(q: dict, _: bytes) -> Reply:
    page = int(q["pageno"])
    results = [
        {"url": f"https://x.example/{r['n']}", "title": r["title"], "content": r["abstract"], "score": 1.0 / r["n"],
         "engines": ["pubmed"], "positions": [r["n"]]}
        for r in RECORDS[3 * (page - 1) : 3 * page]
    ]  # fmt: skip
    silent = [["bing", "timeout"]]
    return "application/json", json.dumps({"query": q["q"], "results": results, "unresponsive_engines": silent})


def elasticsearch(_: dict, body: bytes) -> Reply:
    asked = json.loads(body)
    start, size = asked["from"], asked["size"]
    hits = [
        {"_id": f"e{r['n']}", "_score": 9.0 - r["n"], "_source": {
            "name": r["title"], "body": r["abstract"], "year": r["year"], "doi": r["doi"]}}
        for r in RECORDS[start : start + size]
    ]  # fmt: skip
    total = {"value": len(RECORDS), "relation": "eq"}
    answer = {
        "took": 3,
        "timed_out": False,
        "_shards": {"total": 1, "failed": 0},
        "hits": {"total": total, "hits": hits},
    }
    return "application/json", json.dumps(answer)


def description(_: dict, __: bytes) -> Reply:
    return "application/opensearchdescription+xml", (
        '<?xml version="1.0" encoding="UTF-8"?><OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">'
        "<ShortName>Library</ShortName><Description>All of it</Description>"
        '<Url type="text/html" template="/opensearch/page?q={searchTerms}"/>'
        '<Url type="application/x-suggestions+json" rel="suggestions" template="/opensearch/s?q={searchTerms}"/>'
        '<Url type="application/atom+xml" indexOffset="0" '
        'template="/opensearch/results?q={searchTerms}&amp;n={count?}&amp;from={startIndex?}&amp;lang={language?}"/>'
        "</OpenSearchDescription>"
    )


def results(q: dict, _: bytes) -> Reply:
    start, size = int(q.get("from", 0)), min(int(q.get("n", 3)), 3)  # it gives no more than three at a time
    entries = "".join(
        f"""<entry><id>urn:lib:{r["n"]}</id><title type="html">{escape(r["title"])}</title>
        <link href="https://x.example/{r["n"]}"/><author><name>{r["family"]}, {r["given"]}</name></author>
        <published>{r["year"]}-01-01T00:00:00Z</published><summary>{escape(r["abstract"])}</summary>
        <dc:identifier xmlns:dc="http://purl.org/dc/elements/1.1/">doi:{r["doi"]}</dc:identifier></entry>"""
        for r in RECORDS[start : start + size]
    )
    head = f"<opensearch:totalResults>{len(RECORDS)}</opensearch:totalResults>"
    return "application/atom+xml", f'<?xml version="1.0" encoding="UTF-8"?><feed {ATOM}>{head}{entries}</feed>'


def feed(_: dict, __: bytes) -> Reply:
    items = "".join(
        f"""<item><guid>urn:feed:{r["n"]}</guid><title>{escape(r["title"])}</title><link>https://x.example/{r["n"]}</link>
        <description>&lt;p&gt;{escape(escape(r["abstract"]))}&lt;/p&gt;</description>
        <dc:creator>{r["given"]} {r["family"]}</dc:creator>
        <pubDate>Mon, 06 Jan {r["year"]} 10:00:00 GMT</pubDate></item>"""
        for r in RECORDS
    )
    return "application/rss+xml", (
        '<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<channel><title>News</title>{items}</channel></rss>"
    )


ROUTES: dict[str, Callable[[dict, bytes], Reply]] = {
    "/pubmed/esearch.fcgi": esearch, "/pubmed/efetch.fcgi": efetch, "/europepmc/search": europepmc, "/arxiv": arxiv,
    "/openalex": openalex, "/crossref": crossref, "/searxng/search": searxng, "/elastic/papers/_search": elasticsearch,
    "/opensearch/description.xml": description, "/opensearch/results": results, "/feed": feed,
}  # fmt: skip


class QuietServer(ThreadingHTTPServer):
    """Clients that hang up are what is tested, and nothing to report."""

    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: object) -> None:
        pass


class Library:
    """The server: `url`, what it was asked (`log`: paths with parameters and headers), and its faults."""

    def __init__(self) -> None:
        self.faults: dict[str, str] = {}
        self.scripts: dict[str, list[tuple[int, dict, str, str]]] = {}
        """Replies of a path, each given once before the usual ones: status, headers, content type, body."""
        self.log: list[tuple[str, dict[str, str], dict[str, str]]] = []
        self.bodies: list[bytes] = []
        """What was sent with each of them."""
        self.failed: dict[str, int] = {}
        self.ended = threading.Event()
        self._server = QuietServer(("127.0.0.1", 0), _handler(self))
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def asked(self, path: str) -> list[dict[str, str]]:
        return [parameters for route, parameters, _ in self.log if route == path]

    def close(self) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()


def _handler(library: Library) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def _answer(self) -> None:
            parts = urlsplit(self.path)
            parameters = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            library.log.append((parts.path, parameters, dict(self.headers)))
            library.bodies.append(body)
            try:
                self._say(parts.path, parameters, body)
            except (BrokenPipeError, ConnectionError):
                self.close_connection = True

        def _say(self, path: str, parameters: dict[str, str], body: bytes) -> None:
            script = library.scripts.get(path)
            if script:
                status, headers, kind, text = script.pop(0)
                self._send(status, kind, text.encode(), headers)
                return
            if path not in ROUTES:
                self._send(404, "text/html", b"<html><h1>Not here</h1></html>")
                return
            name = path.split("/")[1]
            fault = library.faults.get(name, "")
            kind, text = ROUTES[path](parameters, body)
            if fault:
                count = library.failed[name] = library.failed.get(name, 0) + 1
                self._misbehave(fault, kind, text, count)
            else:
                self._send(200, kind, text.encode())

        def _misbehave(self, fault: str, kind: str, text: str, count: int) -> None:
            data = text.encode()
            if fault == "silent":
                library.ended.wait(30)
                self.close_connection = True
            elif fault == "rate" and count > 2:
                self._send(200, kind, data)
            elif fault in ("rate", "rate for an hour"):
                wait = "2" if fault == "rate" else "3600"
                self._send(429, "application/json", b'{"error":"API rate limit exceeded"}', {"Retry-After": wait})
            elif fault == "server":
                self._send(500, "text/html", b"<html><body><h1>Internal error</h1></body></html>")
            elif fault == "refused":
                self._send(400, "application/json", b'{"message":"a bad request"}')
            elif fault == "broken":
                self._send(200, kind, b"<html><p>This is & not what you asked <b>for")
            elif fault == "empty":
                self._send(200, kind, b"")
            elif fault == "half":
                self._send(200, kind, data[: len(data) * 3 // 5])
            elif fault == "cut":
                self._head(200, kind, {"Content-Length": str(len(data))})
                self.wfile.write(data[: len(data) // 2])
                self.close_connection = True
            elif fault == "charset":
                self._send(200, f"{kind.partition(';')[0]}; charset=utf-8", text.encode("cp1252", errors="replace"))
            elif fault == "redirect":
                self._send(302, "text/html", b"", {"Location": f"http://127.0.0.1:{library.port + 1}/secret"})
            elif fault == "gigabyte":
                self._head(200, kind, {"Content-Length": str(1 << 30)})
                self._pour(b" " * 65536, 1 << 30)
            elif fault == "gigabyte in pieces":
                self._head(200, kind, {"Connection": "close"})
                self._pour(b" " * 65536, 1 << 30)
            elif fault == "endless":
                self._head(200, kind, {"Connection": "close"})
                while not library.ended.wait(0.01):
                    self.wfile.write(b" ")
            elif fault == "bomb":
                self._send(200, kind, bomb(), {"Content-Encoding": "gzip"})
            else:
                raise AssertionError(fault)

        def _head(self, status: int, kind: str, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in {"Content-Type": kind, **headers}.items():
                self.send_header(name, value)
            self.end_headers()

        def _send(self, status: int, kind: str, data: bytes, headers: dict[str, str] | None = None) -> None:
            self._head(status, kind, {"Content-Length": str(len(data)), **(headers or {})})
            self.wfile.write(data)

        def _pour(self, piece: bytes, size: int) -> None:
            self.close_connection = True
            for _ in range(size // len(piece)):
                if library.ended.is_set():
                    return
                self.wfile.write(piece)

    return Handler

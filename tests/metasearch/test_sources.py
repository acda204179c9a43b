"""Each source against the library: what it asks, what it makes of the answer, and errors inside HTTP 200."""

import asyncio
import json

import pytest

from germane.errors import ParameterError
from germane.metasearch import Elasticsearch, Feed, PubMed, SearXNG, Secret
from germane.metasearch.rates import Buckets
from germane.metasearch.sources.arxiv import arxiv_query
from germane.metasearch.sources.openalex import abstract
from germane.metasearch.web import Web
from metasearch.conftest import PATHS
from metasearch.library import RECORDS, ROUTES


@pytest.fixture
def ask(clock):
    """One search of one source."""

    def asked(source, query="wilson disease", k=200, page=1):
        async def run():
            async with Web(clock=clock, buckets=Buckets()) as web:
                return await source.search(query, k, page, web=web)

        return asyncio.run(run())

    return asked


OWN_IDS = {
    "pubmed": lambda r: r["pmid"], "europepmc": lambda r: f"MED:{r['pmid']}", "arxiv": lambda r: r["arxiv"],
    "openalex": lambda r: f"W{r['n']}", "crossref": lambda r: r["doi"],
    "searxng": lambda r: f"https://x.example/{r['n']}", "elasticsearch": lambda r: f"e{r['n']}",
    "opensearch": lambda r: f"urn:lib:{r['n']}", "feed": lambda r: f"urn:feed:{r['n']}",
}  # fmt: skip


@pytest.mark.parametrize("kind", PATHS)
def test_every_source_reads_its_records(kind, source, ask):
    answer = ask(source(kind), "copper liver disease penicillamine")
    expected = [r for r in RECORDS if kind != "feed" or {"copper", "liver", "disease", "penicillamine"}
                & set(f"{r['title']} {r['abstract']}".lower().replace(".", " ").split())]  # fmt: skip
    assert answer.failure is None
    assert [record.id for record in answer.records] == [OWN_IDS[kind](r) for r in expected]
    for record, r in zip(answer.records, expected, strict=True):
        assert record.fields["title"] == r["title"]
        assert str(record.fields["text"]).replace("Background\n", "").removeprefix("BACKGROUND: ") == r["abstract"]
        if kind != "searxng":
            assert record.fields["year"] == r["year"]
        if kind not in ("searxng", "elasticsearch"):
            assert r["family"] in str(record.fields["author"][0])
        if kind not in ("arxiv", "searxng", "feed"):
            assert record.fields["doi"] == r["doi"]
    assert answer.total == (None if kind in ("searxng", "feed") else len(RECORDS))


@pytest.mark.parametrize("kind", [kind for kind in PATHS if kind != "feed"])
def test_pages_follow_one_another(kind, source, ask):
    whole = [record.id for record in ask(source(kind)).records]
    pages = [[record.id for record in ask(source(kind), k=3, page=page).records] for page in (1, 2, 3, 4)]
    assert pages == [whole[:3], whole[3:6], whole[6:], []]


def test_pubmed_keeps_the_result_on_the_server(source, ask, library):
    ask(source("pubmed", email="me@example.org", key=Secret("k3y")), "wilson[TI]", k=2, page=2)
    (search,), (fetch,) = library.asked("/pubmed/esearch.fcgi"), library.asked("/pubmed/efetch.fcgi")
    assert search == {
        "db": "pubmed", "tool": "germane", "email": "me@example.org", "term": "wilson[TI]", "retmode": "json",
        "usehistory": "y", "sort": "relevance", "retstart": "2", "retmax": "2", "api_key": "k3y",
    }  # fmt: skip
    assert fetch == {
        "db": "pubmed", "tool": "germane", "email": "me@example.org", "retmode": "xml", "retstart": "2", "retmax": "2",
        "WebEnv": "MCID_1", "query_key": "1", "api_key": "k3y",
    }  # fmt: skip
    assert PubMed().policy.rate.count == 3
    assert PubMed(key=Secret("x")).policy.rate.count == 10


def test_pubmed_asks_by_id_where_the_history_has_gone(source, ask, library):
    gone = "<?xml version='1.0'?><eFetchResult><ERROR>Unable to obtain query #1</ERROR></eFetchResult>"
    library.scripts["/pubmed/efetch.fcgi"] = [(200, {}, "text/xml", gone)]
    answer = ask(source("pubmed"))
    assert answer.failure is None
    assert len(answer.records) == len(RECORDS)
    assert "WebEnv" not in library.asked("/pubmed/efetch.fcgi")[1]


ESEARCH = {"count": "0", "retmax": "0", "retstart": "0", "idlist": []}
ARXIV_ERROR = (
    '<feed xmlns="http://www.w3.org/2005/Atom"><opensearch:totalResults xmlns:opensearch='
    '"http://a9.com/-/spec/opensearch/1.1/">1</opensearch:totalResults><entry>'
    "<id>http://arxiv.org/api/errors#start_must_be_non-negative</id><title>Error</title>"
    "<summary>start must be non-negative</summary></entry></feed>"
)


@pytest.mark.parametrize(
    ("kind", "path", "content_type", "body", "failure", "message"),
    [
        ("pubmed", "/pubmed/esearch.fcgi", "application/json",
         json.dumps({"esearchresult": {"ERROR": "Invalid db name specified"}}), "error", "Invalid db name specified"),
        ("pubmed", "/pubmed/esearch.fcgi", "application/json",
         json.dumps({"error": "API key invalid", "api-key": "k3y"}), "error", "API key invalid"),
        ("pubmed", "/pubmed/esearch.fcgi", "application/json",
         json.dumps({"error": "API rate limit exceeded", "count": "4", "limit": "3"}), "rate limit", "limit exceeded"),
        ("pubmed", "/pubmed/esearch.fcgi", "application/json", json.dumps({"esearchresult": {"count": "3"}}),
         "unreadable", "without a list of ids"),
        ("europepmc", "/europepmc/search", "application/json",
         json.dumps({"version": "6.9", "errCode": 404, "errMsg": "Invalid page size"}), "error", "Invalid page size"),
        ("europepmc", "/europepmc/search", "application/json", "{}", "unreadable", "without a list of results"),
        ("arxiv", "/arxiv", "application/atom+xml", ARXIV_ERROR, "error", "start must be non-negative"),
        ("arxiv", "/arxiv", "text/plain", "Rate exceeded.", "rate limit", "Rate exceeded"),
        ("arxiv", "/arxiv", "application/atom+xml",
         '<feed xmlns="http://www.w3.org/2005/Atom"><totalResults>9</totalResults></feed>', "unreadable", "empty page"),
        ("openalex", "/openalex", "application/json",
         json.dumps({"error": "Invalid query", "message": "search is not valid"}), "error", "search is not valid"),
        ("openalex", "/openalex", "application/json", "[]", "unreadable", "without results"),
        ("crossref", "/crossref", "application/json",
         json.dumps({"status": "failed", "message-type": "validation-failure",
                     "message": [{"type": "parameter-not-found", "message": "rows is too large"}]}),
         "error", "rows is too large"),
        ("crossref", "/crossref", "application/json", json.dumps({"status": "ok", "message": {}}),
         "unreadable", "items"),
        ("searxng", "/searxng/search", "application/json", json.dumps({"error": "No query"}), "error", "No query"),
        ("searxng", "/searxng/search", "text/html", "<html><body>results</body></html>", "unreadable", "not JSON"),
        ("elasticsearch", "/elastic/papers/_search", "application/json",
         json.dumps({"error": {"reason": "no such index [papers]"}}), "error", "no such index"),
        ("elasticsearch", "/elastic/papers/_search", "application/json", "{}", "unreadable", "without hits"),
        ("opensearch", "/opensearch/description.xml", "text/xml", "<html/>", "error", "not an OpenSearch description"),
        ("opensearch", "/opensearch/description.xml", "text/xml",
         '<OpenSearchDescription><Url type="text/html" template="/x?q={searchTerms}"/></OpenSearchDescription>',
         "error", "neither Atom nor RSS, but text/html"),
        ("opensearch", "/opensearch/description.xml", "text/xml",
         '<OpenSearchDescription><Url type="text/xml" template="/x?q={searchTerms}&amp;z={time:start}"/>'
         "</OpenSearchDescription>", "error", "time:start"),
        ("feed", "/feed", "text/xml", "<opml/>", "error", "neither Atom nor RSS"),
    ],
)  # fmt: skip
def test_errors_inside_http_200(kind, path, content_type, body, failure, message, source, ask, library):
    library.scripts[path] = [(200, {}, content_type, body)] * 9
    answer = ask(source(kind, retries=1))
    assert answer.records == ()
    assert answer.failure is not None
    assert answer.failure.kind == failure
    assert message in answer.failure.message
    assert len(library.asked(path)) == (2 if failure in ("rate limit", "unreadable") else 1)


def test_pubmed_notes(source, ask, library):
    result = ESEARCH | {
        "errorlist": {"phrasesnotfound": ["wilsonn"], "fieldsnotfound": []},
        "warninglist": {"phrasesignored": ["the"], "quotedphrasesnotfound": [], "outputmessages": ["No items found."]},
    }
    library.scripts["/pubmed/esearch.fcgi"] = [(200, {}, "application/json", json.dumps({"esearchresult": result}))]
    answer = ask(source("pubmed"))
    assert (answer.failure, answer.total) == (None, 0)
    assert answer.notes == ("not found: wilsonn", "ignored: the", "No items found.")


def test_records_that_pubmed_does_not_give_out_are_counted(source, ask, library):
    body = "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>31000002</PMID></MedlineCitation></PubmedArticle>"
    library.scripts["/pubmed/efetch.fcgi"] = [(200, {}, "text/xml", body + "</PubmedArticleSet>")]
    answer = ask(source("pubmed"))
    assert [record.id for record in answer.records] == ["31000002"]
    assert answer.notes == ("7 of 8 records were not given out",)


def test_cluster_notes(source, ask, library):
    answer = {"timed_out": True, "_shards": {"failed": 2}, "hits": {"total": 3, "hits": [{"_id": "a", "_source": {}}]}}
    library.scripts["/elastic/papers/_search"] = [(200, {}, "application/json", json.dumps(answer))]
    found = ask(source("elasticsearch"), k=1)
    assert found.total == 3
    assert found.notes == (
        "the cluster ran out of time: these are not all hits", "2 shards of the cluster failed: these are not all hits",
    )  # fmt: skip


def test_values_of_other_kinds_count_as_missing(source, ask, library):
    """Numbers for texts, texts for lists, null for anything: a record loses the field, and nothing else."""
    work = {
        "id": "https://openalex.org/W1", "title": None, "display_name": "A title", "doi": 7, "publication_year": "2001",
        "authorships": [{"author": None}, 3, {"author": {"display_name": "Ann Lee"}}], "ids": [], "type": {},
        "abstract_inverted_index": {"a": "x", "b": [0, -1, 10**9, None]}, "primary_location": 3, "relevance_score": "1",
    }  # fmt: skip
    answer = {"meta": None, "results": [None, 3, {}, work]}
    library.scripts["/openalex"] = [(200, {}, "application/json", json.dumps(answer))]
    found = ask(source("openalex"))
    (record,) = found.records
    assert record.fields == {"title": "A title", "text": "b", "author": ["Ann Lee"], "year": 2001}
    assert record.score is None


def test_what_crossref_leaves_open(source, ask, library):
    items = [
        {"DOI": "10.1/notadoi"}, {"DOI": "10.1000/a", "title": [], "issued": {"date-parts": [[None]]}},
        {"DOI": "10.1000/b", "title": ["Copper"], "subtitle": ["a history"], "author": [{"name": "The Group"}],
         "type": "posted-content"},
    ]  # fmt: skip
    answer = {"status": "ok", "message": {"items": items, "total-results": "3"}}
    library.scripts["/crossref"] = [(200, {}, "application/json", json.dumps(answer))]
    found = ask(source("crossref"))
    assert [dict(record.fields) for record in found.records] == [
        {"doi": "10.1000/a"},
        {"title": "Copper: a history", "author": ["The Group"], "doi": "10.1000/b", "publication_type": ["preprint"]},
    ]


def test_searxng_that_gives_out_no_json(source, ask, library):
    library.scripts["/searxng/search"] = [(403, {}, "text/html", "<h1>Forbidden</h1>")]
    answer = ask(source("searxng"))
    assert answer.failure.kind == "refused"
    assert "search.formats" in answer.failure.message


def test_openalex_says_too_fast_by_403(source, ask, library, clock):
    library.scripts["/openalex"] = [(403, {}, "application/json", '{"error":"too fast"}')]
    answer = ask(source("openalex"))
    assert answer.failure is None
    assert len(clock.slept) == 1


def test_crossref_tells_its_rate(source, ask, library, clock):
    message = {"items": [{"DOI": f"10.1000/{n}"} for n in range(500)], "total-results": 900}
    told = {"x-rate-limit-limit": "1", "x-rate-limit-interval": "7s"}
    library.scripts["/crossref"] = [(200, told, "application/json", json.dumps({"status": "ok", "message": message}))]
    answer = ask(source("crossref", timeout=60), k=600)
    assert answer.failure is None
    assert clock.slept == [7.0]


def test_templates(source, ask, library):
    ask(source("opensearch"), "a b&c", k=2, page=2)
    (asked,) = library.asked("/opensearch/results")
    assert asked == {"q": "a b&c", "n": "2", "from": "2", "lang": "*"}


def test_feeds_without_words_are_sifted(source, ask):
    answer = ask(source("feed"), "siblings")
    assert [record.fields["title"] for record in answer.records] == ["Screening of siblings for Wilson's disease"]


def test_queries_of_arxiv():
    assert arxiv_query("copper liver") == "all:copper AND all:liver"
    assert arxiv_query('"copper transport" (yeast)') == 'all:"copper transport" AND all:yeast'
    assert arxiv_query("ti:copper ANDNOT au:lee") == "ti:copper ANDNOT au:lee"


def test_abstracts_of_openalex():
    assert abstract({"b": [1], "a": [0, 2]}) == "a b a"
    assert abstract(None) == abstract([]) == abstract({}) == ""


@pytest.mark.parametrize(
    "make",
    [
        lambda: SearXNG(),
        lambda: Elasticsearch(url="http://10.0.0.5:9200"),
        lambda: Elasticsearch(url="http://10.0.0.5:9200", index="x", authorization="Digest"),
        lambda: Feed(url="ftp://x.example/feed"),
        lambda: Feed(url="https://name:word@x.example/feed"),
        lambda: PubMed(name="a,b"),
        lambda: PubMed(timeout=0),
        lambda: PubMed(weight=-1),
    ],
)
def test_settings_that_cannot_be(make):
    with pytest.raises(ParameterError):
        make()


def test_searches_that_cannot_be():
    with pytest.raises(ParameterError, match="empty"):
        asyncio.run(PubMed().search(" "))
    with pytest.raises(ParameterError, match="at least 1"):
        asyncio.run(PubMed().search("x", 0))


@pytest.mark.parametrize(
    ("settings", "sought"),
    [
        ({}, ["title", "text", "abstract"]),
        ({"mapping": {"title": "name", "text": "body"}}, ["name", "body", "abstract"]),
        ({"mapping": {"title": "name"}, "fields": ("title", "all")}, ["title", "all"]),
    ],
)
def test_words_are_sought_by_the_cluster_s_names_of_fields(settings, sought, library, ask, monkeypatch):
    bodies = []
    usual = ROUTES["/elastic/papers/_search"]
    monkeypatch.setitem(ROUTES, "/elastic/papers/_search", lambda q, body: (bodies.append(body), usual(q, body))[1])
    ask(Elasticsearch(url=f"{library.url}/elastic", index="papers", **settings))
    assert [json.loads(body)["query"]["simple_query_string"]["fields"] for body in bodies] == [sought]

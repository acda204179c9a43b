"""Rates, retries, redirects, addresses, keys, charsets and the cache: what every request passes."""

import asyncio
import copy
import json
import random
import sqlite3
import zlib
from dataclasses import replace

import pytest

from germane.errors import InputError, ParameterError, StorageError
from germane.metasearch import Cache, Crossref, Elasticsearch, Secret, record
from germane.metasearch.addresses import Guard, is_public, origin_of
from germane.metasearch.answers import SourceError
from germane.metasearch.cache import Body
from germane.metasearch.payload import Payload, plain
from germane.metasearch.rates import Bucket, Buckets, Rate
from germane.metasearch.secrets import scrubbed
from germane.metasearch.web import Web
from metasearch.library import RECORDS, ROUTES, Library

# -- rates -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [Rate(3), Rate(1, 3.0), Rate(10, 2.0)])
def test_no_span_holds_more_requests_than_allowed(rate):
    draw, bucket, now, sent = random.Random(1), Bucket(rate), 0.0, []
    for _ in range(300):
        while wait := bucket.enter(now):
            now += wait
        sent.append(now)
        bucket.leave()
        now += draw.choice([0.0, 0.01, 0.4])
    for i in range(len(sent) - rate.count):
        assert sent[i + rate.count] - sent[i] >= rate.seconds - 1e-9


def test_connections_at_a_time():
    bucket = Bucket(Rate(100, together=2))
    assert [bucket.enter(0.0), bucket.enter(0.0)] == [0.0, 0.0]
    assert bucket.enter(0.0) > 0
    bucket.leave()
    assert bucket.enter(0.0) == 0.0


def test_a_host_may_close_for_a_while_and_tell_a_slower_rate():
    bucket = Bucket(Rate(10))
    bucket.close(5.0)
    assert bucket.enter(1.0) == 4.0
    assert bucket.enter(5.0) == 0.0
    bucket.heed(Rate(1, 10.0))
    assert bucket.enter(6.0) == 9.0
    with pytest.raises(ParameterError):
        Rate(0)


def test_one_bucket_for_all_who_ask(library, source, clock):
    """Two searches at once stay within arXiv's request every three seconds."""
    buckets = Buckets()

    async def run():
        async with Web(clock=clock, buckets=buckets) as one, Web(clock=clock, buckets=buckets) as other:
            first = await source("arxiv", timeout=60).search("copper", web=one)
            return first, await source("arxiv", name="again", timeout=60).search("copper", web=other)

    assert [len(answer.records) for answer in asyncio.run(run())] == [8, 8]
    assert clock.slept == [3.0]


def test_a_rate_that_leaves_no_time_is_said_at_once(source, searching, clock):
    found = searching(source("arxiv"), buckets=(buckets := Buckets())).search("copper")
    assert not found.failures
    found = searching(source("arxiv", timeout=2), buckets=buckets).search("copper")
    assert found.failures["arxiv"].kind == "rate limit"
    assert clock.slept == []


# -- asking again ------------------------------------------------------------------------------------------------------


def test_retries_wait_longer_each_time_the_same_for_a_seed(library, source, searching, clock):
    library.faults["crossref"] = "server"
    found = searching(source("crossref", timeout=60, retries=4)).search("copper")
    assert found.failures["crossref"].message == "HTTP 500: Internal error"
    assert len(library.asked("/crossref")) == 5
    waits = list(clock.slept)
    assert len(waits) == 4
    for n, wait in enumerate(waits):
        assert 0.5 * 2**n * 0.5 <= wait <= 0.5 * 2**n * 1.5
    clock.slept.clear()
    searching(source("crossref", timeout=60, retries=4)).search("copper")
    assert clock.slept == waits
    clock.slept.clear()
    searching(source("crossref", timeout=60, retries=4), random_state=1).search("copper")
    assert clock.slept != waits


@pytest.mark.parametrize("header", ["4", "Sun, 13 Sep 2020 12:43:24 GMT"])
def test_retry_after(header, library, source, searching, clock):
    """In seconds, or as a date: the clock stands at 12:43:20."""
    library.scripts["/crossref"] = [(429, {"Retry-After": header}, "text/plain", "slowly")]
    found = searching(source("crossref")).search("copper")
    assert not found.failures
    assert clock.slept == [4.0]


def test_a_wait_beyond_the_time_is_not_begun(library, source, searching, clock):
    library.faults["crossref"] = "rate for an hour"
    found = searching(source("crossref")).search("copper")
    assert found.failures["crossref"].kind == "rate limit"
    assert "wait 3600 seconds" in found.failures["crossref"].message
    assert clock.slept == []


@pytest.mark.parametrize("status", [400, 401, 404, 501])
def test_what_asking_again_does_not_help(status, library, source, searching):
    library.scripts["/crossref"] = [(status, {}, "text/plain", "no")] * 3
    assert searching(source("crossref")).search("copper").failures
    assert len(library.asked("/crossref")) == 1


def test_nobody_there(searching, monkeypatch):
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    closed = Library()
    closed.close()
    lab = Elasticsearch(name="lab", url=closed.url, index="x", retries=1)
    failure = searching(lab).search("copper").failures["lab"]
    assert failure.kind == "unreachable"
    assert "PROXY" not in failure.message
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example")
    assert "HTTPS_PROXY is set, but connections are direct" in searching(lab).search("copper").failures["lab"].message


# -- addresses ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1",
        "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "ff02::1",
        "::ffff:10.0.0.1", "::ffff:169.254.169.254", "2002:7f00:1::", "64:ff9b::7f00:1", "192.0.2.1", "2001:db8::1",
    ],
)  # fmt: skip
def test_addresses_that_are_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "130.14.29.110", "2607:f220:41e:4290::110", "::ffff:8.8.8.8"])
def test_addresses_that_are(address):
    assert is_public(address)


def resolver(**known):
    async def resolve(host, port):
        return known[host.replace(".", "_")]

    return resolve


def test_only_checked_addresses_are_given_out():
    guard = Guard(resolver=resolver(both_example=["10.0.0.1", "8.8.8.8"], private_example=["10.0.0.1"]))
    assert asyncio.run(guard.addresses("both.example", 443)) == ["8.8.8.8"]
    with pytest.raises(SourceError, match="private address"):
        asyncio.run(guard.addresses("private.example", 443))


def test_own_addresses_are_allowed_at_their_port_alone():
    names = resolver(**{"127_0_0_1": ["127.0.0.1"], "lab_example": ["10.0.0.1"], "localhost": ["127.0.0.1"]})
    guard = Guard.of(["http://127.0.0.1:9200/x", "http://lab.example"], names)
    assert asyncio.run(guard.addresses("127.0.0.1", 9200)) == ["127.0.0.1"]
    for host, port in (("127.0.0.1", 22), ("localhost", 9200), ("lab.example", 80)):  # a name may change its address
        with pytest.raises(SourceError):
            asyncio.run(guard.addresses(host, port))
    named = Guard.of(["http://lab.example"], names, private=True)
    assert asyncio.run(named.addresses("lab.example", 80)) == ["10.0.0.1"]


def test_a_name_that_leads_to_this_machine_is_refused(library, searching, clock):
    """DNS says loopback: the source was configured for a name, not for that address."""
    lab = Elasticsearch(name="lab", url=f"http://lab.example:{library.port}/elastic", index="papers")
    rebinding = resolver(lab_example=["127.0.0.1"])
    failure = searching(lab, resolver=rebinding).search("copper").failures["lab"]
    assert failure.kind == "address"
    assert library.log == []
    allowed = Elasticsearch(name="lab", url=lab.url, index="papers", private=True, mapping={"title": "name"})
    found = searching(allowed, resolver=rebinding).search("copper")
    assert len(found) == len(RECORDS)
    assert library.log[0][2]["Host"] == f"lab.example:{library.port}"


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        ("http://127.0.0.1:{other}/x", "address"),
        ("http://169.254.169.254/latest/meta-data", "address"),
        ("http://[::1]:{other}/x", "address"),
        ("http://localhost:{other}/x", "address"),
        ("http://0x7f000001:{other}/x", "address"),
        ("http://2130706433:{other}/x", "address"),
        ("file:///etc/passwd", "error"),
        ("gopher://127.0.0.1/x", "error"),
        ("http://user:word@127.0.0.1:{other}/", "error"),
    ],
)
def test_redirects_to_private_addresses(target, kind, library, source, searching):
    other = Library()
    try:
        where = target.format(other=other.port)
        library.scripts["/crossref"] = [(302, {"Location": where}, "text/html", "")] * 5
        failure = searching(source("crossref", retries=0)).search("copper").failures["crossref"]
        assert failure.kind in (kind, "unreachable" if "0x" in target or "2130" in target else kind)
        assert other.log == []
    finally:
        other.close()


def test_redirects_within_the_own_address_are_followed(library, source, searching):
    library.scripts["/old"] = [(301, {"Location": "/older"}, "text/html", "")]
    library.scripts["/older"] = [(307, {"Location": f"{library.url}/feed"}, "text/html", "")]
    found = searching(source("feed", url=f"{library.url}/old")).search("copper")
    assert len(found) > 0
    assert not found.failures


def test_redirects_in_a_circle(library, source, searching):
    library.scripts["/round"] = [(302, {"Location": "/round"}, "text/html", "")] * 20
    failure = searching(source("feed", url=f"{library.url}/round")).search("copper").failures["feed"]
    assert failure.message == "more than 5 redirects"
    assert len(library.log) == 6


def test_origins():
    assert origin_of("http://[::1]:8080/x") == ("::1", 8080)
    for wrong in ("example.org", "ftp://x", "http://", "http://x:99999", "https://me:word@x.example/"):
        with pytest.raises(ParameterError) as raised:
            origin_of(wrong)
        assert "word" not in str(raised.value).replace("a password", "")


# -- keys --------------------------------------------------------------------------------------------------------------

KEY = "s3cr3t/+key&="


def test_keys_are_shown_nowhere(library, source, searching, tmp_path, clock):
    """Neither where the source repeats it, nor in what is kept, written or printed."""
    echo = json.dumps({"error": f"API key {KEY} invalid", "api-key": KEY})
    library.scripts["/openalex"] = [(400, {}, "application/json", echo)]
    library.scripts["/pubmed/esearch.fcgi"] = [(500, {}, "text/html", f"{KEY} s3cr3t%2F%2Bkey%26%3D")] * 9
    sources = [source(kind, key=Secret(KEY)) for kind in ("openalex", "pubmed", "crossref", "elasticsearch")]
    cache = Cache(tmp_path / "cache.db", clock=clock)
    found = searching(*sources, cache=cache).search("copper")
    assert set(found.failures) == {"openalex", "pubmed"}
    record(tmp_path / "recorded.json", found)
    cache.close()
    base = sqlite3.connect(tmp_path / "cache.db")
    kept = b"".join(zlib.decompress(body) for (body,) in base.execute("SELECT body FROM answers"))
    base.close()
    everything = [repr(found), repr(sources), str(found.failures), (tmp_path / "recorded.json").read_text(), str(kept)]
    everything += [(tmp_path / name).read_bytes().decode("latin-1") for name in ("cache.db",)]
    for text in everything:
        assert "s3cr3t" not in text
    sent = {path: (parameters, headers) for path, parameters, headers in library.log}
    assert sent["/openalex"][0]["api_key"] == KEY
    assert sent["/crossref"][1]["Crossref-Plus-API-Token"] == f"Bearer {KEY}"
    assert sent["/elastic/papers/_search"][1]["Authorization"] == f"ApiKey {KEY}"


def test_keys_do_not_follow_a_redirect_to_another_origin(library, searching):
    other = Library()

    class Allowed(Crossref):
        """Both are at loopback: the guard lets it through to both, to see what is sent."""

        @property
        def policy(self):
            return replace(super().policy, own=(library.url, other.url))

    try:
        library.scripts["/crossref"] = [(302, {"Location": f"{other.url}/crossref?rows=1&offset=0"}, "text/html", "")]
        found = searching(Allowed(key=Secret("tok"), url=f"{library.url}/crossref")).search("copper")
        assert len(found) == 1
        assert library.log[0][2]["Crossref-Plus-API-Token"] == "Bearer tok"
        assert "Crossref-Plus-API-Token" not in other.log[0][2]
    finally:
        other.close()


def test_a_redirect_that_carries_the_key_elsewhere_is_refused(library, source, searching):
    library.scripts["/openalex"] = [(302, {"Location": "https://thief.example/?k=tok3n"}, "text/html", "")]
    failure = searching(source("openalex", key=Secret("tok3n"))).search("copper").failures["openalex"]
    assert failure.kind == "refused"
    assert "tok3n" not in failure.message


def test_scrubbing():
    assert scrubbed(b"a k/y b k%2Fy c", [Secret("k/y"), Secret("")]) == b"a [key] b [key] c"
    with pytest.raises(TypeError):
        copy.deepcopy(Secret("x"))


# -- charsets and XML --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "content_type", "text", "noted"),
    [
        ("Ōta".encode(), "text/xml", "Ōta", False),
        ("Müller".encode("latin-1"), "text/xml; charset=iso-8859-1", "Müller", False),
        ("Müller".encode("latin-1"), "text/xml; charset=utf-8", "Müller", True),
        ("Müller".encode(), "text/xml; charset=us-ascii", "Müller", True),
        ("Müller".encode(), "text/xml; charset=no-such", "Müller", True),
        ("Müller".encode("utf-16"), "application/json", "Müller", False),
        ("\ufeffMüller".encode(), "application/json; charset=latin-1", "Müller", False),
        (b"\x81\x8d", "", "\ufffd\ufffd", True),
    ],
)
def test_charsets(data, content_type, text, noted):
    payload = Payload(data, content_type)
    assert payload.text == text
    assert bool(payload.notes) is noted


def test_the_declaration_of_xml_counts_where_the_header_is_silent():
    data = '<?xml version="1.0" encoding="ISO-8859-1"?><a>Müller</a>'.encode("latin-1")
    assert Payload(data, "text/xml").xml("a").find("a") == "Müller"


@pytest.mark.parametrize(
    "xml",
    [
        '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
        '<!DOCTYPE a [<!ENTITY % p SYSTEM "http://127.0.0.1/x">%p;]><a/>',
        '<!DOCTYPE a [<!ENTITY a "1"><!ENTITY b "&a;&a;&a;">]><a>&b;</a>',
        "<a>" * 200 + "</a>" * 200,
    ],
)
def test_xml_that_is_refused(xml):
    with pytest.raises(SourceError) as raised:
        Payload(xml.encode()).xml("a")
    assert raised.value.failure.kind == "unreadable"
    assert "root:" not in str(raised.value)


def test_names_that_only_a_dtd_knows():
    tree = Payload(b'<!DOCTYPE a SYSTEM "x.dtd"><a>caf&eacute; &nothing;x</a>').xml("a")
    assert tree.find("a") == "café x"


def test_markup_becomes_text():
    assert plain("<p>one</p><p>two &lt; three</p>") == "one\ntwo < three"
    assert plain("a < b and c > d") == "a < b and c > d"
    assert plain("<title>x<!-- y --></title>") == "x"


# -- the cache ---------------------------------------------------------------------------------------------------------


def test_answers_are_kept_while_they_are_fresh(library, source, searching, tmp_path, clock):
    cache = Cache(tmp_path / "c.db", max_age=100, clock=clock)
    sources = [source("pubmed", key=Secret("one")), source("arxiv", timeout=60)]
    first = searching(*sources, cache=cache).search("copper")
    asked = len(library.log)
    sources[0] = source("pubmed", key=Secret("other"))  # whose key it is makes no difference to the answer
    assert searching(*sources, cache=cache).search("copper") == first
    assert len(library.log) == asked
    clock.time += 101
    assert searching(*sources, cache=cache).search("copper") == first
    assert len(library.log) == 2 * asked


def test_bad_answers_are_not_kept(library, source, searching, tmp_path):
    cache = Cache(tmp_path / "c.db")
    library.scripts["/crossref"] = [(200, {}, "application/json", '{"status":"failed"}')]
    assert searching(source("crossref"), cache=cache).search("copper").failures
    assert len(cache) == 0
    assert not searching(source("crossref"), cache=cache).search("copper").failures
    assert len(cache) == 1


ITEM = "<item><guid>{0}</guid><title>Copper {0}</title></item>"
FEED = "<rss><channel>" + ITEM.format(1) + ITEM.format(2) + "</channel></rss>"
HALF = FEED[: FEED.index(ITEM.format(2)) + 9]


def test_an_answer_that_breaks_off_is_asked_again(library, source, searching, tmp_path):
    cache = Cache(tmp_path / "c.db")
    library.scripts["/feed"] = [(200, {}, "text/xml", HALF), (200, {}, "text/xml", FEED)]
    (answer,) = searching(source("feed"), cache=cache).search("copper").answers
    assert [record.id for record in answer.records] == ["1", "2"]
    assert answer.failure is None
    assert len(library.asked("/feed")) == 2
    assert len(cache) == 1


@pytest.mark.parametrize("end", ["half", "refused", "silent"])
def test_an_answer_that_stays_broken_is_used_and_not_kept(end, library, source, searching, tmp_path):
    cache = Cache(tmp_path / "c.db")
    library.scripts["/feed"] = [(200, {}, "text/xml", HALF)] * (4 if end == "half" else 1)
    library.faults["feed"] = end
    (answer,) = searching(source("feed", timeout=1.5), cache=cache).search("copper").answers
    assert [record.id for record in answer.records] == ["1"]
    assert answer.failure.kind == "unreadable"
    assert answer.failure.message.endswith("; 1 record came whole")
    assert len(library.asked("/feed")) == (3 if end == "half" else 2)  # no time for the fourth
    assert len(cache) == 0
    offline = Cache(tmp_path / "c.db", offline=True)
    assert searching(source("feed"), cache=offline).search("copper").failures["feed"].kind == "offline"


def test_articles_that_break_off_are_asked_for_again(library, source, searching, tmp_path):
    cache = Cache(tmp_path / "c.db")
    whole = searching(source("pubmed")).search("copper").answers[0].records
    asked = {"WebEnv": "MCID_1", "query_key": "1", "retstart": "0", "retmax": "9"}
    kind, text = ROUTES["/pubmed/efetch.fcgi"](asked, b"")
    library.scripts["/pubmed/efetch.fcgi"] = [(200, {}, kind, text[: len(text) * 3 // 5])]
    (answer,) = searching(source("pubmed"), cache=cache).search("copper").answers
    assert (answer.records, answer.failure) == (whole, None)
    assert len(cache) == 2


def test_offline(library, source, searching, tmp_path, clock):
    path = tmp_path / "c.db"
    with pytest.raises(InputError, match="no cache"):
        Cache(path, offline=True)
    online = searching(source("crossref"), cache=Cache(path, max_age=10, clock=clock)).search("copper")
    library.close()
    clock.time += 1e6
    offline = Cache(path, max_age=10, offline=True, clock=clock)
    assert searching(source("crossref"), cache=offline).search("copper") == online
    failure = searching(source("crossref"), cache=offline).search("something else").failures["crossref"]
    assert failure.kind == "offline"


def test_the_cache_stays_as_small_as_allowed(tmp_path, clock):
    draw = random.Random(3)
    cache = Cache(tmp_path / "c.db", max_bytes=10_000, clock=clock)
    for n in range(20):
        clock.time += 1
        cache.put(bytes([n]), "host", Body(draw.randbytes(1500), "x"))
        if n >= 3:
            assert cache.get(b"\0") is not None  # used again and again: it stays
    assert cache.get(b"\1") is None
    assert 4 <= len(cache) <= 6
    cache.put(b"large", "host", Body(draw.randbytes(20_000), "x"))
    assert cache.get(b"large") is None
    cache.clear()
    assert len(cache) == 0


def test_files_that_are_no_cache(tmp_path):
    (tmp_path / "text.db").write_text("no database" * 1000)
    with pytest.raises(StorageError, match="delete the file"):
        Cache(tmp_path / "text.db")
    base = sqlite3.connect(tmp_path / "other.db")
    base.execute("CREATE TABLE x (y)")
    base.close()
    with pytest.raises(InputError, match="something else"):
        Cache(tmp_path / "other.db")
    with pytest.raises(ParameterError):
        Cache(tmp_path / "c.db", max_age=-1)


def test_a_cache_that_breaks_is_a_value(library, source, searching, tmp_path, papers):
    cache = Cache(tmp_path / "c.db")
    cache._base.execute("DROP TABLE answers")
    found = searching(source("crossref"), papers, cache=cache).search("wilson's disease")
    assert found.failures["crossref"].kind == "local"
    assert len(found) == 2

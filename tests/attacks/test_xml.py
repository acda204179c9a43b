"""XML made to read other files, to call other servers or to exhaust memory is refused, whoever reads it."""

import json
import socket
import time
import tracemalloc
from contextlib import closing

import pytest

from germane.data.endnote import read_endnote
from germane.data.mesh import read_mesh
from germane.data.pubmed import parse_pubmed, read_pubmed
from germane.errors import InputError
from germane.metasearch.answers import SourceError
from germane.metasearch.payload import Payload, plain
from germane.stream.feeds import feed_arrivals

SECRET = "the secret of this machine"
BODIES = {
    "pubmed": "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>{}</ArticleTitle>"
              "</Article></MedlineCitation></PubmedArticle></PubmedArticleSet>",
    "endnote": "<xml><records><record><titles><title>{}</title></titles></record></records></xml>",
    "mesh": "<DescriptorRecordSet><DescriptorRecord><DescriptorName><String>{}</String></DescriptorName>"
            "</DescriptorRecord></DescriptorRecordSet>",
    "atom": '<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>urn:x:1</id><title>{}</title></entry></feed>',
    "rss": "<rss><channel><item><guid>urn:x:1</guid><title>{}</title></item></channel></rss>",
}  # fmt: skip
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "lol" * 10}">' for n in range(10))
ATTACKS = {
    "billion laughs": (f"<!DOCTYPE x [{LAUGHS}]>", "&l9;"),
    "quadratic blow-up": (f'<!DOCTYPE x [<!ENTITY a "{"a" * 50_000}">]>', "&a;" * 50_000),
    "another file": ('<!DOCTYPE x [<!ENTITY f SYSTEM "file://{secret}">]>', "&f;"),
    "another server": ('<!DOCTYPE x [<!ENTITY f SYSTEM "http://127.0.0.1:{port}/x">]>', "&f;"),
    "a parameter": ('<!DOCTYPE x [<!ENTITY % p SYSTEM "http://127.0.0.1:{port}/p"> %p;]>', "a"),
    "a parameter of its own": ("<!DOCTYPE x [<!ENTITY % p '<!ENTITY e \"deep\">'> %p;]>", "&e;"),
}
DTD = '<!DOCTYPE x SYSTEM "http://127.0.0.1:{port}/x.dtd">'
"""Named by many honest files: it is read over, and not fetched."""


def read(kind: str, text: str, folder, encoding: str = "utf-8"):
    """What the reader of that kind makes of the text."""
    data = text.encode(encoding)
    path = folder / "d.xml"
    path.write_bytes(data)
    if kind == "pubmed":
        return [*read_pubmed(path), *parse_pubmed(text.encode())]
    if kind == "endnote":
        return [*read_endnote(path)]
    if kind == "mesh":
        return read_mesh(path)
    return feed_arrivals(Payload(data), "http://example.org/feed")


@pytest.fixture
def caught(tmp_path):
    """A file that is secret, and a server that nobody may call; what they are called in attacks."""
    (tmp_path / "secret").write_text(SECRET)
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        listening.setblocking(False)
        yield {"secret": str(tmp_path / "secret"), "port": str(listening.getsockname()[1])}
        with pytest.raises(BlockingIOError):  # nobody came
            listening.accept()


def filled(text: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        text = text.replace("{" + name + "}", value)
    return text


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("kind", BODIES)
def test_entities_are_refused(tmp_path, caught, kind, attack):
    head, used = ATTACKS[attack]
    text = filled(head, caught) + BODIES[kind].format(used)
    for encoding in ("utf-8", "utf-16"):
        if encoding == "utf-16" and kind in ("pubmed", "mesh"):
            continue  # read as what the declaration or the format says, UTF-8
        tracemalloc.start()
        with pytest.raises((InputError, SourceError), match="entit") as error:
            read(kind, text, tmp_path, encoding)
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
        tracemalloc.stop()
        assert SECRET not in str(error.value)


@pytest.mark.parametrize("kind", BODIES)
def test_what_honest_files_have_is_read_over(tmp_path, caught, kind):
    text = filled(DTD, caught) + BODIES[kind].format("Copper &amp; iron&#8211;ore")
    assert "Copper & iron\N{EN DASH}ore" in str(read(kind, text, tmp_path))


def test_the_server_refuses_them(server, caught):
    """As a file that is handed in: a sentence, no text of another file, and it goes on."""
    for attack, (head, used) in ATTACKS.items():
        text = '<?xml version="1.0"?>' + filled(head, caught) + BODIES["pubmed"].format(used)
        status, _, answer = server.ask("POST", "/api/v1/imports?name=a.xml", text.encode())
        assert (attack, status) == (attack, 422)
        assert "entity" in json.loads(answer)["detail"]
        assert SECRET.encode() not in answer


LONG = {
    "text in pieces": lambda n: BODIES["atom"].format("a&nbsp;" * (n // 7)),
    "text in lines": lambda n: BODIES["atom"].format("a\n" * (n // 2)),
    "entries behind others": lambda n: "<feed>" + "<x/>" * (n // 8) + "<entry/>" * (n // 16) + "</feed>",
    "text between entries": lambda n: "<feed><x/>" + "<entry/>\n \n" * (n // 11) + "</feed>",
    "comments that are not closed": lambda n: BODIES["atom"].format("&lt;!--" * (n // 7)),
    "tags that are not closed": lambda n: BODIES["atom"].format("&lt;a" * (n // 5)),
    "references": lambda n: BODIES["atom"].format("&amp;#1&amp;a" * (n // 13)),
}


@pytest.mark.parametrize("name", LONG)
def test_feeds_take_time_in_proportion(name):
    """Four times as much in less than nine times the processor's time; sixteen times would be quadratic."""
    head = '<!DOCTYPE feed PUBLIC "-//X//EN" "x.dtd">'
    for _ in range(3):
        times = []
        for n in (1 << 14, 1 << 16):
            payload = Payload((head + LONG[name](n)).encode())
            began = time.thread_time()
            feed_arrivals(payload, "http://example.org/feed")
            times.append(time.thread_time() - began)
        if times[1] < max(0.1, 9.0 * times[0]):
            return
    raise AssertionError(times)


def test_markup_is_dropped_in_linear_time():
    began = time.thread_time()
    assert plain("<!--" * 500_000).startswith("<!--")
    assert plain("a<!-- b\n<p> -->c <br/>d") == "ac\nd"
    assert time.thread_time() - began < 5.0  # hours, where each is looked for to the end

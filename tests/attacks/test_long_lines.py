"""Files of very long lines, and of very many short ones: reading and previewing them takes time in proportion.

No wall-clock: the processor's time of four times as much is compared, which a quadratic reader takes sixteen times for.
"""

import json
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from germane.data import SkipReport, read_documents
from germane.data.budget import allowance
from germane.data.writing import record_text, write_documents
from germane.errors import InputError
from germane.server.uploads import Uploads

N = 1 << 14
MOST = 9.0
"""Times as long for four times as much; 4 is linear, 16 quadratic."""
UNNOTICED = 0.08
"""Seconds within which growth does not matter, and cannot be told from noise."""


def full(unit: str, n: int) -> str:
    """The unit again and again, n characters of it."""
    return (unit * (n // len(unit) + 1))[:n]


def numbered(pattern: str, n: int) -> str:
    """The pattern with the numbers from 0, n characters or somewhat more."""
    return "".join(pattern.format(i) for i in range(n // len(pattern)))


def ris(body: str) -> str:
    return f"TY  - JOUR\n{body}\nER  - \n"


def trec(body: str) -> str:
    return f"<DOC><DOCNO>1</DOCNO>{body}</DOC>"


def pubmed(title: str) -> str:
    return (
        "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>"
        f"{title}</ArticleTitle></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>"
    )


FILES: dict[str, tuple[str, Callable[[int], str]]] = {
    "ris: AU on one line": ("d.ris", lambda n: ris(full("AU  -", n))),
    "ris: AU": ("d.ris", lambda n: ris(full("AU  - a\n", n))),
    "ris: AU without a value": ("d.ris", lambda n: ris(full("AU  -\n", n))),
    "ris: keywords": ("d.ris", lambda n: ris(numbered("KW  - {}\n", n))),
    "ris: continued": ("d.ris", lambda n: ris("TI  - a\n" + full("b\n", n))),
    "ris: TY": ("d.ris", lambda n: full("TY  -\n", n)),
    "ris: DOIs": ("d.ris", lambda n: ris("DO  - " + full("10.1234/ ", n))),
    "ris: notes": ("d.ris", lambda n: ris(full("N1  - germane: x\n", n))),
    "ris: votes": ("d.ris", lambda n: ris("N1  - " + full('RAYYAN-INCLUSION: {"a"=>', n))),
    "ris: spaces": ("d.ris", lambda n: ris("TI  - " + full(" ", n) + "x")),
    "medline: headings and terms": ("d.nbib", lambda n: "PMID- 1\n" + numbered("MH  - a{0}\nOT  - b{0}\n", n)),
    "medline: authors": ("d.nbib", lambda n: "PMID- 1\n" + full("CN  - a\nFAU - b\n", n)),
    "medline: PMID": ("d.nbib", lambda n: full("PMID-\n", n)),
    "trec: DOC": ("d.trec", lambda n: full("<DOC>", n)),
    "trec: DOC closed": ("d.trec", lambda n: full("<DOC></DOC>", n)),
    "trec: tags": ("d.trec", lambda n: trec(full("<a>", n) + "</a>")),
    "trec: many tags": ("d.trec", lambda n: trec(numbered("<a{0}>x</a{0}>", n))),
    "trec: open tags": ("d.trec", lambda n: trec(full("<a", n))),
    "trec: comments": ("d.trec", lambda n: trec(full("<!--", n))),
    "trec: ids": ("d.trec", lambda n: f"<DOC {full('id= ', n)}></DOC>"),
    "trec: entities": ("d.trec", lambda n: trec(f"<TEXT>{full('&#1&a', n)}</TEXT>")),
    "bibtex: @": ("d.bib", lambda n: full("@ ", n)),
    "bibtex: @ and spaces": ("d.bib", lambda n: "@" + full(" ", n)),
    "bibtex: @a": ("d.bib", lambda n: full("@a ", n)),
    "bibtex: entries that are not closed": ("d.bib", lambda n: full("@x{", n)),
    "bibtex: lines of them": ("d.bib", lambda n: full("@x{y,\n", n)),
    "bibtex: braces": ("d.bib", lambda n: "@x{y, title=" + "{" * (n // 2) + "}" * (n // 2) + "}"),
    "bibtex: and": ("d.bib", lambda n: "@x{y, author={" + full("a and ", n) + "}}"),
    "bibtex: and within braces": ("d.bib", lambda n: "@x{y, author={" + full("{ and } ", n) + "}}"),
    "bibtex: fields, then authors": (
        "d.bib", lambda n: "@x{y, " + numbered("f{}={{a}}, ", n // 2) + "author={a}, " * (n // 26) + "}"),
    "bibtex: LaTeX": ("d.bib", lambda n: "@x{y, title={" + full("\\'", n // 2 * 2) + "}}"),
    "bibtex: joined": ("d.bib", lambda n: "@x{y, a=" + full("b#", n) + "c}"),
    "bibtex: keywords": ("d.bib", lambda n: "@x{y, keywords={" + numbered("{},", n * 2) + "}}"),
    "jsonl: keys": ("d.jsonl", lambda n: '{"id":"1"' + numbered(',"k{}":1', n) + "}\n"),
    "jsonl: numbers": ("d.jsonl", lambda n: '{"id":"1","a":[' + full("1e5,", n) + "1]}\n"),
    "jsonl: lists": ("d.jsonl", lambda n: '{"id":"1","a":' + full("[", n) + "\n"),
    "jsonl: bad lines": ("d.jsonl", lambda n: full("{\n", n)),
    "csv: quotation marks": ("d.csv", lambda n: 'id,a\n1,"' + '"' * (n // 2 * 2) + '"\n'),
    "csv: not closed": ("d.csv", lambda n: "id,a\n" + full('1,"x\n', n)),
    "csv: columns": ("d.csv", lambda n: "id" + numbered(",c{}", n) + "\n" + "1\n" * 20),
    "csv: carriage returns": ("d.csv", lambda n: "id,a\n" + full("1,2\r", n)),
    "tsv: tabs": ("d.tsv", lambda n: "id\ta\n" + full("\t", n)),
    "pubmed: elements": ("d.xml", lambda n: pubmed("<a>" * (n // 7) + "</a>" * (n // 7))),
    "pubmed: attributes": ("d.xml", lambda n: pubmed("<a" + numbered(' a{}=""', n) + "/>")),
    "pubmed: records": ("d.xml", lambda n: "<PubmedArticleSet>" + full("<PubmedArticle/>", n // 16 * 16)),
    "endnote: elements": ("d.xml", lambda n: f"<xml><records><record>{'<a>' * (n // 7)}x{'</a>' * (n // 7)}"
                          "</record></records></xml>"),
    "endnote: keywords": ("d.xml", lambda n: "<xml><records><record>"
                          f"{numbered('<keywords><keyword>{}</keyword></keywords>', n)}</record></records></xml>"),
}  # fmt: skip


def growth(work: Callable[[int], object]) -> None:
    """Fail where four times as much takes much more than four times as long, three times in a row."""
    times = []
    for _ in range(3):
        once, more = seconds(work, N), seconds(work, 4 * N)
        if more < max(UNNOTICED, MOST * once):
            return
        times.append(f"{once:.3f} s, then {more:.3f} s")
    raise AssertionError("; ".join(times))


def seconds(work: Callable[[int], object], n: int) -> float:
    """Of the processor, that it takes."""
    began = time.thread_time()
    work(n)
    return time.thread_time() - began


@pytest.mark.parametrize("name", FILES)
def test_reading_is_linear(tmp_path, name):
    """As the page previews a file, whatever comes of it."""
    file, content = FILES[name]
    uploads = Uploads(tmp_path)

    def preview(n: int) -> None:
        with suppress(InputError):
            uploads.keep(file, content(n).encode())

    growth(preview)


@pytest.mark.parametrize("format", ["ris", "medline", "bibtex", "endnote-xml"])
def test_writing_is_linear(tmp_path, format):
    """What was read leaves in the same time, in its own format and in others."""

    def written(n: int) -> None:
        (tmp_path / "d.nbib").write_text("PMID- 1\n" + numbered("MH  - a{0}\nOT  - b{0}\nAU  - c\n", n))
        (document,) = read_documents(tmp_path / "d.nbib")
        record_text(document, format)

    growth(written)
    (tmp_path / "d.ris").write_text(ris(numbered("N1  - note {}\n", 1000)))
    assert write_documents(tmp_path / "out.ris", read_documents(tmp_path / "d.ris")) == 1


def test_a_budget_ends_reading(tmp_path):
    """Between lines, between bad records, and by the length of a record."""
    (tmp_path / "d.ris").write_text(full("TY  - A\nER  -\n", 1 << 20))
    with allowance(0.0, 1 << 20), pytest.raises(InputError, match="takes more than 0 seconds of processor time"):
        list(read_documents(tmp_path / "d.ris"))
    (tmp_path / "d.trec").write_text(full("<DOC>", 1 << 12))
    with allowance(0.0, 1 << 20), pytest.raises(InputError, match="processor time"):
        list(read_documents(tmp_path / "d.trec", on_error="skip", report=SkipReport()))
    (tmp_path / "d.xml").write_text(pubmed("a"))
    with allowance(0.0, 1 << 20), pytest.raises(InputError, match="processor time"):
        list(read_documents(tmp_path / "d.xml"))
    (tmp_path / "long.ris").write_text(ris("TI  - " + "x" * 2000))
    with allowance(60.0, 1000), pytest.raises(InputError, match="longer than 1,000 bytes"):
        list(read_documents(tmp_path / "long.ris"))
    assert len(list(read_documents(tmp_path / "long.ris"))) == 1


def test_the_server_answers_with_a_sentence(server):
    """A file of one record beyond all measure is refused, and the next one is read."""
    status, _, answer = server.ask("POST", "/api/v1/imports?name=a.ris", ris(full("AU  -\n", 5 << 20)).encode())
    assert status == 422
    assert "longer than 4,194,304 bytes" in json.loads(answer)["detail"]
    status, _, _ = server.ask("POST", "/api/v1/imports?name=a.ris", ris("TI  - Copper").encode())
    assert status == 201

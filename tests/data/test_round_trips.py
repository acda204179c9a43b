"""What comes in leaves the same: byte for byte in its own format, field by field in any that can hold it.

`GERMANE_RECORDS=10000` takes so many hostile records of each format, and the shared reviews whole.
"""

import os
import random
from itertools import islice
from pathlib import Path

import pytest

from germane.data import catalog, read_documents
from germane.data.conversion import CHANGED, JOINED, NOTE, SPACES, LossReport, losses
from germane.data.formats import detect_format
from germane.data.sources import SOURCE_FIELD
from germane.data.writing import write_documents
from germane.errors import InputError, ParameterError
from germane.types import Document

RECORDS = int(os.environ.get("GERMANE_RECORDS", "300"))
PIECES = [
    "a", "Z9", " ", "  ", "é", "\u202e", "\U0001f600", "漢字", "{", "}", "\\", "\\&", "$x_1$", "%", "#", "~", "--", '"',
    "'", "and", " and ", ",", ";", ":", "<b>", "&amp;", "]]>", "@misc{x,", "TY  - JOUR", "ER  - ", "PMID- 1",
    "10.1000/x",
    "https://doi.org/10.1000/y", "1998", "germane id: x", "\t", "\x1f", "\x85", "\u2028", "\xa0", "\x7f", "=", "\\'e",
    "\v", "\f", "\u200b", "-", "record_tags", "\ufffd", "e\u0301",
]  # fmt: skip


def hostile(rng, extra=(), without=""):
    pieces = [piece for piece in [*PIECES, *extra] if not any(sign in piece for sign in without)]
    return "".join(rng.choice(pieces) for _ in range(rng.randrange(1, 7)))


def tagged(rng, names, line, wrap):
    """The lines of one record, some of them wrapped, some without a value, tags in any order and repeated."""
    lines = []
    for _ in range(rng.randrange(0, 9)):
        value = hostile(rng) if rng.random() < 0.9 else ""
        lines.append(line.format(rng.choice(names), value) + " " * rng.randrange(0, 2))
        if rng.random() < 0.2:
            lines.append(wrap + "x" + hostile(rng))
    return lines


def ris_file(rng, n):
    end = rng.choice(["\n", "\r\n"])
    names = [
        "TI",
        "T1",
        "AB",
        "AU",
        "A1",
        "PY",
        "DO",
        "KW",
        "ID",
        "AN",
        "DB",
        "UR",
        "N1",
        "ZZ",
        "C7",
        "SP",
        "L1",
        "JO",
        "PM",
    ]
    lines = []
    for number in range(n):
        lines += [
            "TY  - JOUR",
            *tagged(rng, names, "{}  - {}", rng.choice(["", "      "])),
            rng.choice(["ER  - ", "ER  -"]),
        ]
        lines += [""] * rng.randrange(0, 3) + ([f"{number}."] if rng.random() < 0.1 else [])
    return end.join(lines) + rng.choice(["", end])


def nbib_file(rng, n):
    end = rng.choice(["\n", "\r\n"])
    names = [
        "TI",
        "BTI",
        "AB",
        "FAU",
        "AU",
        "CN",
        "DP",
        "LID",
        "AID",
        "JT",
        "TA",
        "MH",
        "OT",
        "PT",
        "LA",
        "PMC",
        "GN",
        "ID",
    ]
    lines = [""] * rng.randrange(0, 2)
    for number in range(n):
        lines += [f"PMID- {number + 1}", *tagged(rng, names, "{:<4}- {}", "      "), *[""] * rng.randrange(1, 3)]
    return end.join(lines) + rng.choice(["", end])


def bib_file(rng, n):
    names = ["title", "abstract", "author", "editor", "year", "date", "journal", "booktitle", "doi", "keywords",
             "x-y", "key", "note", "type", "Title"]  # fmt: skip
    parts = [rng.choice(["", "% a comment\n", "@string{me = {M. E.}}\n", "@comment{x}\n\n"])]
    for number in range(n):
        fields = []
        for _ in range(rng.randrange(0, 7)):
            value = hostile(rng, [r"{\"o}", r"\textit{", r"{\'E}"], '{}"@') if rng.random() < 0.9 else ""
            value = value.rstrip("\\")
            shape = rng.choice(["{name} = {{{value}}}", '{name}="{value}"', "{name}  =\n    {{{{{value}}}}}"])
            fields.append(rng.choice(["", "  "]) + shape.format(name=rng.choice(names), value=value))
        fields += ["author = me"] if "@string" in parts[0] else []
        parts.append(f"@{rng.choice(['article', 'Book', 'misc'])}{{k{number},\n" + ",\n".join(fields) + "\n}")
        parts.append(rng.choice(["\n", "\n\n", "\n\n% what follows\n", "\nwords between\n\n"]))
    return "".join(parts)


FILES = {"d.ris": ris_file, "d.nbib": nbib_file, "d.bib": bib_file}


@pytest.mark.parametrize("name", FILES)
def test_hostile_files_come_back_byte_for_byte(tmp_path, name):
    rng = random.Random(20261116)
    left = RECORDS
    while left > 0:
        n = min(left, rng.choice([1, 2, 7, 40]))
        left -= n
        data = FILES[name](rng, n).encode()
        (tmp_path / name).write_bytes(data)
        documents = list(read_documents(tmp_path / name, keep_source=True))
        assert len(documents) == n
        target = tmp_path / "out" / name
        target.parent.mkdir(exist_ok=True)
        write_documents(target, documents)
        assert target.read_bytes() == data
        # Through JSON Lines, which is how an index and a workspace keep them, and back.
        write_documents(tmp_path / "d.jsonl", documents)
        again = list(read_documents(tmp_path / "d.jsonl"))
        assert again == documents
        write_documents(target, again)
        assert target.read_bytes() == data
        # Without their own text, and in another order, nothing that they say is lost.
        plain = list(read_documents(tmp_path / name))
        assert plain == [Document(d.id, {k: v for k, v in d.fields.items() if k != SOURCE_FIELD}) for d in documents]
        for written in (plain, documents[::-1]):
            write_documents(target, written)
            found = list(read_documents(target))
            wanted = plain if written is plain else plain[::-1]
            assert [document.fields for document in found] == [document.fields for document in wanted]
            assert [d.id for d in found if not d.id.startswith(name)] == [
                d.id for d in wanted if not d.id.startswith(name)
            ]


def xml_text(rng):
    return hostile(rng, ["\r", "\n"], "\x1f\x0b\x0c")


@pytest.mark.parametrize("ending", ["xml", "csv", "jsonl", "tsv"])
def test_hostile_documents_come_back(tmp_path, ending):
    """In, out, and in again: after the first writing nothing changes any more, neither documents nor bytes."""
    rng = random.Random(7)
    clean = xml_text if ending == "xml" else lambda rng: hostile(rng, ["\r", "\n", "\r\n", '""', "|"])
    names = [
        "title",
        "text",
        "author",
        "year",
        "keywords",
        "doi",
        "my field",
        "a;b",
        "c|d",
        'q"',
        "volume",
        "note",
        "x",
    ]
    documents = []
    for number in range(RECORDS):
        fields = {rng.choice(names): clean(rng) for _ in range(rng.randrange(0, 6))}
        if rng.random() < 0.5:
            fields["author"] = [clean(rng) for _ in range(rng.randrange(1, 4))]
        documents.append(Document(f"{number} {clean(rng)}", fields))
    paths = [tmp_path / f"{n}.{ending}" for n in range(3)]
    write_documents(paths[0], documents)
    first = list(read_documents(paths[0]))
    write_documents(paths[1], first)
    second = list(read_documents(paths[1]))
    assert len(first) == RECORDS
    assert second == first
    write_documents(paths[2], second)
    assert paths[2].read_bytes() == paths[1].read_bytes()
    if ending == "jsonl":
        assert first == documents
    if ending == "csv":
        header = dict.fromkeys(name for document in documents for name in document.fields)
        for found, document in zip(first, documents, strict=True):
            assert found.id == document.id
            cells = {name: document.fields.get(name, "") for name in header}
            if str(cells["year"]).strip().isdigit():
                cells["year"] = str(cells["year"]).strip()  # the year of a table is a number
            assert {name: str(value) for name, value in found.fields.items()} == {
                name: "; ".join(value) if isinstance(value, list) else value for name, value in cells.items()
            }


def reviews():
    folder = os.environ.get(catalog.VARIABLE)
    return sorted(Path(folder).glob("reviews_*/*.jsonl.gz")) if folder else []


@pytest.mark.parametrize("review", reviews(), ids=lambda path: path.name.partition(".")[0])
def test_the_shared_reviews_come_back(tmp_path, review):
    documents = list(islice(read_documents(review), None if RECORDS >= 10_000 else 60))
    for ending in ("jsonl", "ris", "nbib", "bib", "xml", "csv"):
        one, two, three = (tmp_path / f"{n}.{ending}" for n in range(3))
        write_documents(one, documents)
        first = list(read_documents(one, keep_source=True))
        write_documents(two, first)
        assert two.read_bytes() == one.read_bytes()
        plain = list(read_documents(one))
        write_documents(three, plain)
        assert list(read_documents(three)) == plain
        assert [document.id for document in plain] == [document.id for document in documents]
        for found, document in zip(plain, documents, strict=True):
            title = " ".join(str(document.fields.get("title") or "").split())
            assert " ".join(str(found.fields.get("title") or "").split()) == title
        if ending == "jsonl":
            assert plain == documents


ENDNOTE = """<?xml version="1.0" encoding="UTF-8" ?><xml><records><record><database name="My.enl" path="/My.enl">My.enl\
</database><source-app name="EndNote" version="20.2">EndNote</source-app><rec-number>7</rec-number><foreign-keys>\
<key app="EN" db-id="abc" timestamp="1">7</key></foreign-keys><ref-type name="Journal Article">17</ref-type>\
<contributors><authors><author><style face="normal" font="default" size="100%">Smith, Ann</style></author>\
<author>Lee, Bo</author></authors></contributors><titles><title><style face="normal">Copper in </style>\
<style face="italic">E. coli</style></title><secondary-title>Journal of Tests</secondary-title></titles><periodical>\
<full-title>Journal of Tests</full-title></periodical><pages>1-9</pages><volume>3</volume><keywords><keyword>liver\
</keyword><keyword>copper</keyword></keywords><dates><year>2001</year></dates><accession-num>11111111</accession-num>\
<abstract>First.&#13;Second &amp; last.</abstract><electronic-resource-num>10.1000/x</electronic-resource-num>\
<remote-database-name>PubMed</remote-database-name><custom9>odd</custom9></record></records></xml>
"""


def test_endnote(tmp_path):
    path = tmp_path / "d.xml"
    path.write_text(ENDNOTE, encoding="utf-8")
    assert detect_format(path) == "endnote-xml"
    (document,) = read_documents(path)
    assert document.id == "11111111"
    fields = document.fields
    assert (fields["title"], fields["author"], fields["year"]) == ("Copper in E. coli", ["Smith, Ann", "Lee, Bo"], 2001)
    assert (fields["journal"], fields["doi"], fields["pmid"]) == ("Journal of Tests", "10.1000/x", "11111111")
    assert (fields["text"], fields["keywords"]) == ("First.\rSecond & last.", ["liver", "copper"])
    assert (fields["volume"], fields["custom9"], fields["foreign-keys/key@db-id"]) == ("3", "odd", "abc")
    write_documents(tmp_path / "e.xml", [document])
    assert list(read_documents(tmp_path / "e.xml")) == [document]
    plain = ENDNOTE.replace('<style face="normal" font="default" size="100%">', "").replace('<style face="normal">', "")
    plain = plain.replace('<style face="italic">', "").replace("</style>", "")
    assert (tmp_path / "e.xml").read_text(encoding="utf-8") == plain
    write_documents(tmp_path / "e.ris", [document])
    (ris,) = read_documents(tmp_path / "e.ris")
    assert (ris.id, ris.fields["type"], ris.fields["vl"], ris.fields["ep"]) == ("11111111", "JOUR", "3", "9")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("<xml><records><record><a>x</a></records></xml>", "not well-formed"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><xml><records><record><a>&a;</a></record></records></xml>', "entity"),
        ("<xml><records><record><a> </a></record></records></xml>", "without any text"),
        ("<html></html>", "not EndNote XML: the root element is <html>"),
    ],
)
def test_bad_endnote_files(tmp_path, content, sentence):
    path = tmp_path / "d.xml"
    path.write_text(content)
    with pytest.raises(InputError, match=sentence):
        list(read_documents(path, format="endnote-xml"))


def test_a_source_that_says_something_else_is_not_written(tmp_path):
    path = tmp_path / "d.ris"
    path.write_bytes(b"TY  - JOUR\r\nID  - 1\r\nTI  - Old\r\n title\r\nER  -\r\n")
    (document,) = read_documents(path, keep_source=True)
    changed = Document("1", {**document.fields, "title": "New"})
    write_documents(tmp_path / "e.ris", [changed, document])
    assert [d.fields["title"] for d in read_documents(tmp_path / "e.ris")] == ["New", "Old title"]
    forged = Document("1", {**document.fields, SOURCE_FIELD: "TY  - JOUR\nID  - 1\nER  -\nTY  - JOUR\nER  -\n"})
    write_documents(tmp_path / "e.ris", [forged])
    assert [d.fields["title"] for d in read_documents(tmp_path / "e.ris")] == ["Old title"]


def test_what_a_format_cannot_hold():
    document = Document("1", {"title": "a\nb", "shelf": "B 7", "author": ["x", "y"], "n": 3, "year": 1999})
    assert dict(losses(document, "ris")) == {"title": SPACES, "shelf": NOTE, "n": NOTE}
    assert dict(losses(document, "csv")) == {"author": JOINED, "n": "becomes text"}
    assert dict(losses(document, "tsv"))["title"] == SPACES
    assert losses(document, "jsonl") == []
    assert dict(losses(Document("1", {"title": "\x01"}), "endnote-xml")) == {"title": CHANGED}
    report = LossReport("ris")
    assert list(report.watch([document, document])) == [document] * 2
    assert report.response().to_dict()["losses"][0] == {"field": "title", "what": SPACES, "records": 2, "first": "1"}


def test_a_text_that_an_encoding_lacks(tmp_path):
    with pytest.raises(ParameterError, match=r"latin-1 has no '漢' \(U\+6F22\)"):
        write_documents(tmp_path / "d.ris", [Document("1", {"title": "漢"})], encoding="latin-1")
    assert not (tmp_path / "d.ris").exists()

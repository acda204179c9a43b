"""Small files that would become large: each is refused with a sentence, before it costs memory or time."""

import bz2
import gzip
import tracemalloc

import pytest
import zstandard

from germane.data import compression, lines, pubmed, read_documents, read_topics
from germane.data.bibtex import FREE_EXPANSION, MAX_EXPANSION, read_bibtex
from germane.data.delimited import MAX_HEADER_CHARACTERS
from germane.errors import InputError


def refused(path, match, **settings):
    with pytest.raises(InputError, match=match):
        list(read_documents(path, on_error="skip", **settings))


def peak_of_refusing(path, match):
    tracemalloc.start()
    try:
        refused(path, match)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_bibtex_abbreviations_made_of_one_another(write):
    text = "@string{a0 = {ten chars.}}\n"
    text += "".join(f"@string{{a{i} = a{i - 1} # a{i - 1}}}\n" for i in range(1, 60))
    path = write("d.bib", text + "@misc{x, title = a59}")
    assert peak_of_refusing(path, r"d\.bib, line \d+: the @string abbreviations make") < 8 * FREE_EXPANSION


def test_a_bibtex_entry_that_repeats_a_long_abbreviation(write):
    text = "@string{a = {" + "x" * 100_000 + "}}\n@misc{x, title = a" + " # a" * 5_000 + "}"
    assert peak_of_refusing(write("d.bib", text), "line 2: the @string abbreviations") < 8 * FREE_EXPANSION


def test_white_space_between_bibtex_authors(write):
    """A search for "and" that began at every space would take hours."""
    text = '@misc{x, author = "A' + "\n" * 400_000 + "B and" + " " * 1_000_000 + 'C"}'
    (document,) = read_bibtex(write("d.bib", text))
    assert document.fields["author"] == ["A B", "C"]


def test_usual_abbreviations_are_no_bomb(write):
    text = "@string{sigir = {Proceedings of the International ACM SIGIR Conference on Research and Development}}\n"
    n = 500
    text += "".join(f"@misc{{k{i}, booktitle = sigir # { {2000} }, month = jan}}\n" for i in range(n))
    assert len(list(read_bibtex(write("d.bib", text)))) == n
    assert MAX_EXPANSION > 2


@pytest.mark.parametrize("name", ["d.jsonl", "d.csv", "d.trec", "d.nbib", "d.ris", "d.bib"])
def test_nothing_but_newlines(write, monkeypatch, name):
    monkeypatch.setattr(lines, "MAX_BLANK_LINES", 1000)
    refused(write(name, b"\n" * 2000), "line 1001: more than 1,000 blank lines, one after another")
    refused(write(name, b"\r\n" * 2000), "line 1001: more than 1,000 blank lines")
    assert list(read_documents(write(name, b"\n" * 1000))) == []


def test_blank_lines_are_counted_in_a_row(write, monkeypatch):
    monkeypatch.setattr(lines, "MAX_BLANK_LINES", 10)
    text = "".join(f'{{"id": "{i}"}}\n' + "\n" * 10 for i in range(20))
    assert len(list(read_documents(write("d.jsonl", text)))) == 20


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, zstandard.compress])
def test_what_unpacks_beyond_measure(write, pack, monkeypatch):
    monkeypatch.setattr(compression, "FREE_BYTES", 1 << 20)
    text = b'{"id": "1", "text": "' + b" " * (3 * compression.FREE_BYTES) + b'"}\n'
    refused(write("d.jsonl.x", pack(text)), "unpacks to more than 200 times its size", format="jsonl")
    with pytest.raises(InputError, match="unpacks to more than 200 times"):
        list(read_topics(write("t.jsonl.x", pack(text))))


def test_what_unpacks_to_little_may_be_dense(write):
    text = '{"id": "1", "text": "' + "word " * 100_000 + '"}\n'
    (document,) = read_documents(write("d.jsonl", gzip.compress(text.encode())))
    assert len(document.fields["text"]) == 500_000


def test_a_header_without_end(write):
    text = "id" + "," * (MAX_HEADER_CHARACTERS + 1) + "\n"
    refused(write("d.csv", text), r"line 1: a header of more than 1,048,576 characters")


def test_an_article_of_tags(write, monkeypatch):
    monkeypatch.setattr(pubmed, "MAX_ARTICLE_BYTES", 100_000)
    text = "<PubmedArticleSet><PubmedArticle>" + "<a/>" * 100_000
    refused(write("d.xml", text), "an article of more than 100,000 bytes: is <PubmedArticle> closed?")


@pytest.mark.parametrize("number", ["18446744073709551616", "-9223372036854775809", "1" * 300])
@pytest.mark.parametrize("shape", ["%s", "[1, %s]", '{"a": [%s]}'])
def test_whole_numbers_of_more_than_64_bits(write, number, shape):
    text = '{"id": "1", "n": ' + shape % number + "}\n"
    with pytest.raises(InputError, match=f"line 1: the whole number {number[:20]}.* has more than 64 bits"):
        list(read_documents(write("d.jsonl", text)))


@pytest.mark.parametrize("number", ["18446744073709551615", "-9223372036854775808", "2e19", "18446744073709551616.0"])
def test_numbers_that_are_exact_or_floats(write, number):
    (document,) = read_documents(write("d.jsonl", f'{{"id": "1", "n": {number}, "s": "99999999999999999999"}}\n'))
    assert document.fields["n"] == (float(number) if set(number) & set(".e") else int(number))
    assert type(document.fields["n"]) is (float if set(number) & set(".e") else int)

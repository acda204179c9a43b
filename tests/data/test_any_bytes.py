"""Whatever the bytes, a reader yields records or raises InputError: never another exception."""

import bz2
import gzip
from contextlib import contextmanager

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from germane.data import SkipReport, read_documents, read_qrels, read_run, read_topics
from germane.data.formats import FORMATS
from germane.errors import InputError
from germane.types import Document

PIECES = [
    '{"id":"1","text":"x"}', '{"id":', "[", "id,text", "id\ttext", '"', ",", "\t", "\n", "\r\n", "\r", " ", "\ufeff",
    "<DOC>", "<DOCNO>1</DOCNO>", "</DOC>", "<TEXT>", "<!--", "-->", "&amp;", "<top>", "<num>", "<title>", "</top>",
    "PMID- 1", "TI  - x", "      y", "AB  - ", "TY  - JOUR", "ER  - ", "@misc{", "@string{a=", "{", "}", "(", ")", "#",
    "key,", "title = ", "author={a and b}", "\\", "\\'", "<?xml version='1.0'?>", "<PubmedArticleSet>",
    "<PubmedArticle>", "<PMID>1</PMID>", "</PubmedArticle>", "</PubmedArticleSet>", "<!DOCTYPE a [", "]>", "&x;",
    "1 0 a 1", "1 Q0 a 1 0.5 x", "nan", "é", "\u2028", "\x1c", "0",
]  # fmt: skip
pieces = st.lists(st.sampled_from(PIECES), max_size=12).map(lambda parts: "".join(parts).encode())
contents = st.binary(max_size=60) | pieces | st.tuples(pieces, st.binary(max_size=8)).map(b"".join)
magic = st.sampled_from([b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"BZh91AY&SY"])
packers = st.sampled_from([bytes, bytes, bytes, gzip.compress, bz2.compress, zstandard.compress])


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("any") / "file"


@contextmanager
def nothing_but_input_errors(source):
    try:
        yield
    except InputError as error:
        named = error.source
    else:
        return
    assert named == str(source)


@pytest.mark.parametrize("name", [None, *(name for name in FORMATS if name != "folder")])
@settings(deadline=None)
@given(content=contents, pack=packers, number=st.booleans())
def test_documents(path, name, content, pack, number):
    path.write_bytes(pack(content))
    for on_error in ("stop", "skip"):
        with nothing_but_input_errors(path):
            for document in read_documents(path, format=name, on_error=on_error, report=SkipReport(), number=number):
                assert isinstance(document, Document)
                assert document.id.strip()
                document.id.encode()


@pytest.mark.parametrize("reader", [read_topics, read_qrels, read_run])
@settings(deadline=None)
@given(content=contents)
def test_topics_qrels_runs(path, reader, content):
    path.write_bytes(content)
    with nothing_but_input_errors(path):
        list(reader(path))


@settings(deadline=None)
@given(start=magic, content=st.binary(max_size=200), encoding=st.sampled_from(["utf-8", "utf-16", "utf-7", "cp1252"]))
def test_archives_and_encodings(path, start, content, encoding):
    for data in (start + content, content):
        path.write_bytes(data)
        with nothing_but_input_errors(path):
            list(read_documents(path, format="jsonl", encoding=encoding, on_error="skip"))


@settings(deadline=None)
@given(content=contents)
def test_folder(path, content):
    folder = path.parent / "folder"
    folder.mkdir(exist_ok=True)
    (folder / "file").write_bytes(content)
    with nothing_but_input_errors(folder / "file"):
        assert len(list(read_documents(folder))) == 1

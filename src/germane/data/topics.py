"""Topics (queries): TREC's `<top> <num> <title> <desc> <narr>`, TSV `id<TAB>text`, or JSON Lines."""

import html
import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from germane.data import catalog, irds
from germane.data.compression import open_binary
from germane.data.fields import document_id, squeeze
from germane.data.jsonl import json_object
from germane.data.lines import Block, decode, read_lines
from germane.errors import InputError
from germane.types import Topic

ID_NAMES = ("id", "_id", "qid", "query_id", "query-id", "topic_id", "topic", "num")
TEXT_NAMES = ("text", "query", "title", "question")

_TOP = re.compile(rb"<(/?)top(?:\s[^<>]*+)?>", re.IGNORECASE)
_PART = re.compile(r"<(/?)([A-Za-z]\w*+)[^<>]*+>")
_PREFIX = re.compile(r"\A\s*(?:number|topic|description|narrative)\s*:", re.IGNORECASE)


def read_topics(source: str | Path, *, part: str = "title", encoding: str = "utf-8") -> Iterator[Topic]:
    """Topics of a file, of a data set by name, or of `irds:NAME`; the file's beginning tells its format.

    `part` is the section of a TREC topic that becomes the query: "title", "desc", "narr", or several, "title+desc". A
    TSV file may start with a header (`query_id<TAB>query`). An id that occurs twice is an error that names both lines.
    """
    if isinstance(source, str) and source.startswith(irds.PREFIX):
        return irds.read_irds_topics(source)
    path = catalog.resolve(source, catalog.TOPICS)
    return _unique(path, encoding, part)


def _unique(path: Path, encoding: str, part: str) -> Iterator[Topic]:
    with open_binary(path, encoding) as stream:
        first = stream.read(1 << 12).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if first == b"<":
        topics = _read_trec(path, encoding, part)
    else:
        topics = _read_jsonl(path, encoding) if first == b"{" else _read_tsv(path, encoding)
    lines: dict[str, int] = {}
    for line, topic in topics:
        if topic.id in lines:
            message = f"topic '{topic.id}' is on line {lines[topic.id]} already"
            raise InputError(message, source=str(path), line=line)
        lines[topic.id] = line
        yield topic


def _read_trec(path: Path, encoding: str, part: str) -> Iterator[tuple[int, Topic]]:
    source = str(path)
    block: Block | None = None
    seen = False
    for number, line in read_lines(path, encoding):
        start = 0
        for tag in _TOP.finditer(line):
            if tag[1] and block is not None:
                block.add(line[start : tag.start()])
                yield block.line, _topic(block, part)
                block = None
            elif not tag[1]:
                if block is not None:
                    break
                block, seen = Block(source, number), True
            start = tag.end()
        else:
            if block is not None:
                block.add(line[start:])
            continue
        break
    if block is not None:
        raise InputError("<top> is not closed by </top>", source=source, line=block.line)
    if not seen:
        raise InputError("no <top> in the file: not a TREC topic file", source=source)


def _topic(block: Block, part: str) -> Topic:
    """Sections run from their tag to the next, since TREC does not close them."""
    text = block.text()
    tags = list(_PART.finditer(text))
    sections: dict[str, str] = {}
    for tag, following in zip_longest(tags, tags[1:]):
        if not tag[1]:
            end = following.start() if following else len(text)
            content = _PREFIX.sub("", text[tag.end() : end], count=1)
            sections.setdefault(tag[2].lower(), squeeze(html.unescape(content)))
    identifier = sections.get("num", "")
    if not identifier:
        raise InputError("<top> without a <num>", source=block.source, line=block.line, field="num")
    wanted = [name.strip() for name in part.split("+")]
    for name in wanted:
        if not sections.get(name):
            message = f"topic '{identifier}' has no <{name}>, or an empty one"
            raise InputError(message, source=block.source, line=block.line, field=name)
    return Topic(identifier, " ".join(sections[name] for name in wanted))


def _read_tsv(path: Path, encoding: str) -> Iterator[tuple[int, Topic]]:
    source = str(path)
    width, id_column, text_column = 0, 0, 1
    for number, line in read_lines(path, encoding):
        if line.isspace():
            continue
        cells = decode(line, source, number).rstrip("\r\n").split("\t")
        if not width:
            width = len(cells)
            lower = [cell.strip().lower() for cell in cells]
            header_id = next((lower.index(name) for name in ID_NAMES if name in lower), None)
            header_text = next((lower.index(name) for name in TEXT_NAMES if name in lower), None)
            if header_id is not None and header_text is not None and header_id != header_text:
                id_column, text_column = header_id, header_text
                continue
            width = 2
        if len(cells) != width:
            message = f"{len(cells)} columns, where {width} are needed, with a tab between them"
            raise InputError(message, source=source, line=number)
        yield number, _made(cells[id_column].strip(), cells[text_column], source, number, "id", "text")


def _read_jsonl(path: Path, encoding: str) -> Iterator[tuple[int, Topic]]:
    source = str(path)
    for number, line in read_lines(path, encoding):
        if line.isspace():
            continue
        record = json_object(line, source, number)
        id_name = next((name for name in ID_NAMES if name in record), "id")
        text_name = next((name for name in TEXT_NAMES if name in record and name != id_name), "text")
        text = record.get(text_name)
        if not isinstance(text, str):
            raise InputError("the topic has no text", source=source, line=number, field=text_name)
        yield number, _made(document_id(record.get(id_name)), text, source, number, id_name, text_name)


def _made(identifier: str | None, text: str, source: str, line: int, id_name: str, text_name: str) -> Topic:
    if not identifier:
        raise InputError("the topic has no id", source=source, line=line, field=id_name)
    text = squeeze(text)
    if not text:
        raise InputError(f"topic '{identifier}' has no text", source=source, line=line, field=text_name)
    return Topic(identifier, text)

"""TREC document files: `<DOC> <DOCNO>AP880212-0001</DOCNO> ... <TEXT> ... </TEXT> </DOC>`, one after another.

This is SGML as it is found, not as it should be: tags in any case, unclosed paragraphs, stray ampersands.
"""

import html
import re
from collections.abc import Iterator
from pathlib import Path

from germane.data.bad_records import OnBad, stop
from germane.data.fields import squeeze
from germane.data.lines import Block, read_lines
from germane.data.markup import without_comments
from germane.errors import CutShortError, InputError
from germane.types import Document, FieldValue

TITLE_TAGS = ("title", "headline", "hl", "head", "ttl", "h3")
TEXT_TAGS = ("lp", "leadpara", "text", "body", "html")
ID_TAGS = ("docno", "docid")

_DOC = re.compile(rb"<(/?)DOC(?:\s[^<>]*+)?>", re.IGNORECASE)
_DOC_ID = re.compile(r"<DOC\s[^<>]*\bid\s*=\s*[\"']?([^\s\"'<>]+)", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([A-Za-z][\w.-]*+)[^<>]*+>")
_ENTITIES = {"&hyph;": "-", "&blank;": " ", "&sect;": "§", "&cir;": "○", "&rsquo;": "’", "&bull;": "•"}
_ENTITY = re.compile("|".join(_ENTITIES))


def read_trec(path: str | Path, *, encoding: str = "utf-8", on_bad: OnBad = stop) -> Iterator[Document]:
    """Documents of a TREC file.

    `title` joins the sections of `TITLE_TAGS`, `text` those of `TEXT_TAGS` (or, where there are none, what stands
    outside every section); each other section becomes a field named after its tag in lower case.
    """
    source = str(path)
    for block in _blocks(path, encoding, on_bad):
        try:
            document = _document(block.text())
        except InputError as error:
            on_bad(error)
            continue
        if document is None:
            on_bad(InputError("<DOC> without a <DOCNO>", source=source, line=block.line, field="DOCNO"))
            continue
        yield document


def _blocks(path: str | Path, encoding: str, on_bad: OnBad) -> Iterator[Block]:
    """From each <DOC> to its </DOC>; several may share a line."""
    source = str(path)
    block: Block | None = None
    seen = False
    text_line = 0
    for number, line in read_lines(path, encoding):
        start = 0
        for tag in _DOC.finditer(line):
            if tag[1]:
                if block is not None:
                    block.add(line[start : tag.start()])
                    yield block
                    block = None
            else:
                if block is not None:
                    on_bad(_unclosed(source, block.line))
                block, seen = Block(source, number), True
                block.add(tag[0])
            start = tag.end()
        if block is not None:
            block.add(line[start:])
        elif not text_line and not line.isspace():
            text_line = number
    if block is not None:
        wrong = _unclosed(source, block.line)
        if on_bad(CutShortError(wrong.message, source=source, line=wrong.line)):
            yield block
    if text_line and not seen:
        raise InputError("no <DOC> in the file: not a TREC document file", source=source, line=text_line)


def _unclosed(source: str, line: int) -> InputError:
    return InputError("<DOC> is not closed by </DOC>", source=source, line=line)


def _document(text: str) -> Document | None:
    attribute = _DOC_ID.match(text)
    sections, loose = _sections(without_comments(text[text.index(">") + 1 :]))
    identifier = next((squeeze(part) for tag, part in sections if tag in ID_TAGS and part.strip()), "")
    identifier = identifier or (attribute[1] if attribute else "")
    if not identifier:
        return None
    titles = [squeeze(part) for tag, part in sections if tag in TITLE_TAGS]
    texts = [part for tag, part in sections if tag in TEXT_TAGS] or [loose]
    fields: dict[str, FieldValue] = {
        "title": " ".join(filter(None, titles)),
        "text": "\n".join(filter(None, texts)),
    }
    others: dict[str, list[str]] = {}
    for tag, part in sections:
        if tag not in TITLE_TAGS + TEXT_TAGS + ID_TAGS:
            others.setdefault(tag, []).append(part)
    fields |= {tag: "\n".join(filter(None, parts)) for tag, parts in others.items()}
    return Document(identifier, fields)


def _sections(body: str) -> tuple[list[tuple[str, str]], str]:
    """(tag, text) of each outermost element, and the text outside of them all.

    A tag that is nowhere closed opens nothing; tags inside an element are dropped.
    """
    closed = {tag[2].lower() for tag in _TAG.finditer(body) if tag[1]}
    sections: list[tuple[str, str]] = []
    loose: list[str] = []
    inside, start = "", 0
    for tag in _TAG.finditer(body):
        name = tag[2].lower()
        if inside:
            if tag[1] and name == inside:
                sections.append((inside, _clean(body[start : tag.start()])))
                inside, start = "", tag.end()
        else:
            loose.append(body[start : tag.start()])
            start = tag.end()
            if not tag[1] and name in closed:
                inside = name
    if inside:
        sections.append((inside, _clean(body[start:])))
    else:
        loose.append(body[start:])
    return sections, _clean(" ".join(loose))


def _clean(text: str) -> str:
    text = _TAG.sub(" ", text)
    if "&" in text:
        text = html.unescape(_ENTITY.sub(lambda found: _ENTITIES[found[0]], text))
    return text.strip()

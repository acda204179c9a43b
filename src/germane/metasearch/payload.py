"""The bytes of an answer as text, JSON or XML. Charsets are taken with care, XML is parsed without entities."""

import codecs
import html
import html.entities
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn
from xml.etree.ElementTree import Element
from xml.parsers import expat

import orjson

from germane.data.fields import squeeze
from germane.data.markup import without_comments
from germane.metasearch.answers import SourceError

EXCERPT = 160
"""Characters of an answer that a message repeats."""
DEPTH = 100
"""Elements of XML within one another; more is not what any of the sources sends."""

_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_DECLARED = re.compile(rb"^\s*<\?xml[^>]*?encoding\s*=\s*[\"']([\w.:-]+)[\"']")
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_BLOCK = re.compile(r"</(?:jats:)?(?:p|title|sec|h\d|div|li)>|<br\s*/?>", re.IGNORECASE)
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True)
class Payload:
    """What came, and the type that the source gave it; by `etag` and `last_modified` it can be asked whether it has
    changed since."""

    data: bytes
    content_type: str = ""
    status: int = 200
    etag: str = ""
    last_modified: str = ""

    @cached_property
    def _read(self) -> tuple[str, str]:
        """The text, and a note where it is not in the charset that it claims."""
        for mark, name in _MARKS:
            if self.data.startswith(mark):
                text = _decoded(self.data, name)
                if text is not None:
                    return text.removeprefix("\ufeff"), ""
        header, declared = _CHARSET.search(self.content_type), _DECLARED.match(self.data[:200])
        claimed = header[1] if header else declared[1].decode("ascii") if declared else ""
        if claimed:
            text = _decoded(self.data, claimed)
            if text is not None:
                return text, ""
        text = _decoded(self.data, "utf-8")
        if text is not None:
            return text, f"the answer claims to be {claimed} and is UTF-8" if claimed else ""
        told = f"the answer is not {claimed or 'UTF-8'}; it was read as Windows-1252, and some letters may be wrong"
        return self.data.decode("cp1252", errors="replace"), told

    @property
    def text(self) -> str:
        """The text."""
        return self._read[0]

    @property
    def notes(self) -> tuple[str, ...]:
        """What may surprise about it."""
        return (self._read[1],) if self._read[1] else ()

    @property
    def excerpt(self) -> str:
        """The beginning of the text on one line, without markup: what an error says."""
        told = squeeze(plain(self.text[: 20 * EXCERPT]))
        return told if len(told) <= EXCERPT else told[:EXCERPT].rstrip() + " ..."

    def json(self) -> Any:
        """The value; `SourceError` where it is none."""
        try:
            return orjson.loads(self.text.encode(errors="replace"))
        except orjson.JSONDecodeError as error:
            raise SourceError("unreadable", f"not JSON: {error}{self._begins}", again=True) from None

    def xml(self, *records: str, each: Callable[[Element], None] | None = None) -> "Tree":
        """The tree, and all finished elements of these names; where the text breaks off, those before the break.

        `each` is handed every one of them as it is finished: then none is kept, and the text may be a long one.
        `SourceError` where nothing can be used, or entities are declared.
        """
        tree = Tree(frozenset(records), each)
        text = _DECLARATION.sub("", self.text, count=1)
        try:
            tree.parser.Parse(text.encode(errors="replace"), True)
        except expat.ExpatError as error:
            where = f"line {error.lineno}, column {error.offset + 1}"
            broken = f"broken XML: {expat.ErrorString(error.code)}, {where}"
            if tree.root is None or not tree.n_finished:
                raise SourceError("unreadable", f"{broken}{self._begins}", again=True) from None
            tree.broken = broken
        if tree.root is None:
            raise SourceError("unreadable", "an empty answer, where XML was expected", again=True)
        return tree

    @property
    def _begins(self) -> str:
        told = squeeze(self.text[:60])
        return f"; it begins with '{told}'" if told else "; it is empty"


def _decoded(data: bytes, charset: str) -> str | None:
    try:
        return data.decode(charset)
    except (LookupError, UnicodeError, ValueError):
        return None


class Tree:
    """XML without namespaces' prefixes: an element `{http://...}title` is `title`. Entities are refused."""

    def __init__(self, records: frozenset[str], each: Callable[[Element], None] | None = None) -> None:
        self.root: Element | None = None
        self.finished: list[Element] = []
        self.n_finished = 0
        self.broken = ""
        """Why the tree ends early; empty where it does not."""
        self._records, self._each = records, each
        self._open: list[Element] = []
        self._text: list[str] = []
        self._behind_record = False
        self.parser = parser = expat.ParserCreate("utf-8", namespace_separator=" ")
        parser.buffer_text = True
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._data
        parser.EntityDeclHandler = self._refuse
        parser.ExternalEntityRefHandler = self._refuse
        parser.SkippedEntityHandler = self._skipped

    def find(self, name: str) -> str:
        """The text of the first element of that name anywhere, on one line."""
        assert self.root is not None
        return text_of_element(next(self.root.iter(name), None))

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._put_text()
        self._behind_record = False
        element = Element(name.rpartition(" ")[2], {key.rpartition(" ")[2]: value for key, value in attributes.items()})
        if len(self._open) >= DEPTH:
            raise SourceError("unreadable", f"XML of more than {DEPTH} elements within one another")
        if self._open:
            self._open[-1].append(element)
        else:
            self.root = element
        self._open.append(element)

    def _end(self, _: str) -> None:
        self._put_text()
        self._behind_record = False
        element = self._open.pop()
        if element.tag in self._records:
            self.n_finished += 1
            if self._each is None:
                self.finished.append(element)
                return
            self._each(element)
            if self._open:
                del self._open[-1][-1]  # which it is
                self._behind_record = True

    def _data(self, text: str) -> None:
        if self._open:
            self._text.append(text)

    def _put_text(self) -> None:
        """Give what was read since the last tag to its element."""
        if not self._text:
            return
        text = "".join(self._text)
        self._text.clear()
        if self._behind_record:  # the record is gone, and what stands between records says nothing
            return
        element = self._open[-1]
        if len(element):
            element[-1].tail = (element[-1].tail or "") + text
        else:
            element.text = (element.text or "") + text

    def _skipped(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            self._data(html.entities.html5.get(f"{name};", " "))

    def _refuse(self, *_: object) -> NoReturn:
        raise SourceError("unreadable", "XML that declares entities, which is refused for safety")


def text_of_element(element: Element | None) -> str:
    """All text in it, on one line."""
    return "" if element is None else squeeze("".join(element.itertext()))


def children(element: Element, name: str) -> Iterator[str]:
    """The texts of the children of that name that have any."""
    return filter(None, map(text_of_element, element.iterfind(name)))


def plain(markup: str) -> str:
    """Text without the tags and character references of HTML and JATS; paragraphs end in a line break.

    >>> plain("<jats:p>CO<sub>2</sub> &amp; heat &lt; 3</jats:p>")
    'CO2 & heat < 3'
    """
    text = html.unescape(_TAG.sub("", _BLOCK.sub("\n", without_comments(markup, ""))))
    return "\n".join(filter(None, map(squeeze, text.split("\n"))))

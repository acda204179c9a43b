"""PubMed XML, one article in memory at a time.

Files from PubMed name an external DTD, which is never fetched. A file that declares entities of its own is refused:
PubMed's never do, and it is how XML is used to exhaust memory or to read other files.
"""

import html.entities
import io
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from germane.data.bad_records import OnBad, stop
from germane.data.bibliographic import clean_doi, ordered, unique, year_field
from germane.data.budget import spend
from germane.data.compression import open_binary
from germane.data.fields import squeeze
from germane.errors import CutShortError, InputError
from germane.types import Document, FieldValue, JSONScalar

ROOTS = ("PubmedArticleSet", "MedlineCitationSet", "PubmedBookArticleSet")
RECORDS = ("PubmedArticle", "PubmedBookArticle", "MedlineCitation")
MAX_ARTICLE_BYTES = 8 << 20
"""The longest record: in memory its tags may take ninety times as much."""
MAX_TOKEN_BYTES = 8 << 20
"""The longest single tag or comment: the parser scans an unfinished one again for each piece that arrives."""

MESH = "MeshHeadingList/MeshHeading/DescriptorName"

_PIECE_BYTES = 1 << 16


def read_pubmed(path: str | Path, *, encoding: str = "utf-8", on_bad: OnBad = stop) -> Iterator[Document]:
    """Documents of a PubMed XML file; the id is the PMID.

    The file's own XML declaration gives the encoding, unless `encoding` is something other than UTF-8. The sections of
    a structured abstract follow one another in `text`, each on its own line after its label.
    """
    yield from _documents(xml_records(path, encoding, on_bad=on_bad), str(path), on_bad)


def parse_pubmed(data: bytes, *, source: str = "PubMed", on_bad: OnBad = stop) -> Iterator[Document]:
    """The same of an answer of PubMed's that is UTF-8, whatever its declaration says; what is whole comes first."""
    records = _records(Articles(source, "utf-8"), io.BufferedReader(io.BytesIO(data)), source, on_bad)
    yield from _documents(records, source, on_bad)


def xml_records(
    path: str | Path, encoding: str, kind: "type[Articles] | None" = None, on_bad: OnBad = stop
) -> Iterator[tuple[int, Element]]:
    """The elements of a file that are records, each with its line; where it breaks off, those before the break."""
    forced = None if encoding.lower() in ("utf-8", "utf8") else "utf-8"
    with open_binary(path, encoding) as stream:
        yield from _records((kind or Articles)(str(path), forced), stream, str(path), on_bad)


def _documents(records: Iterator[tuple[int, Element]], source: str, on_bad: OnBad) -> Iterator[Document]:
    for line, record in records:
        citation = record if record.tag == "MedlineCitation" else record.find("MedlineCitation")
        if citation is None:
            citation = record.find("BookDocument")
        pmid = _text(citation.find("PMID")) if citation is not None else ""
        if citation is None or not pmid:
            on_bad(InputError(f"<{record.tag}> without a PMID", source=source, line=line, field="PMID"))
            continue
        yield Document(pmid, _fields(pmid, citation, record))


class Articles:
    """Receives the parser's events and keeps the finished records."""

    format = "PubMed XML"
    roots: tuple[str, ...] = ROOTS
    records: tuple[str, ...] = RECORDS

    def __init__(self, source: str, encoding: str | None) -> None:
        """`encoding`: the stream's, in spite of the declaration; None if that is to be believed."""
        self.parser = parser = expat.ParserCreate(encoding)
        parser.buffer_text = True
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.EntityDeclHandler = self.refuse_entity
        parser.ExternalEntityRefHandler = self.refuse_entity
        parser.SkippedEntityHandler = self.skipped_entity
        self.finished: list[tuple[int, Element]] = []
        self._source = source
        self._builder: TreeBuilder | None = None
        self._record = ""
        self._line = self._byte = 0
        self._in_root = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Outside a record; inside one, the builder's own methods receive what begins and what is written."""
        if not self._in_root:
            self._in_root = True
            if tag not in self.roots + self.records:
                raise InputError(
                    f"not {self.format}: the root element is <{tag}>, not <{self.roots[0]}>",
                    source=self._source,
                    line=self.parser.CurrentLineNumber,
                )
        if tag in self.records:
            self._builder, self._record = TreeBuilder(), tag
            self._line, self._byte = self.parser.CurrentLineNumber, self.parser.CurrentByteIndex
            self._builder.start(tag, attributes)
            self.parser.StartElementHandler = self._builder.start
            self.parser.CharacterDataHandler = self._builder.data

    def end(self, tag: str) -> None:
        if self._builder is None:
            return
        self._builder.end(tag)
        if tag == self._record:
            self.finished.append((self._line, self._builder.close()))
            self._builder = None
            self.parser.StartElementHandler = self.start
            self.parser.CharacterDataHandler = None

    def check_size(self) -> None:
        if self._builder is not None and self.parser.CurrentByteIndex - self._byte > MAX_ARTICLE_BYTES:
            message = f"an article of more than {MAX_ARTICLE_BYTES:,} bytes: is <{self._record}> closed?"
            raise InputError(message, source=self._source, line=self._line)

    def skipped_entity(self, name: str, is_parameter: bool) -> None:
        """An entity that only the DTD defines: the well-known names are enough."""
        if self._builder is not None and not is_parameter:
            self._builder.data(html.entities.html5.get(f"{name};", " "))

    def refuse_entity(self, *_: object) -> NoReturn:
        raise InputError(
            "declares or uses an XML entity of its own, which is refused for safety; files of this kind have none",
            source=self._source,
            line=self.parser.CurrentLineNumber,
        )


def _records(
    articles: Articles, stream: io.BufferedReader, source: str, on_bad: OnBad
) -> Iterator[tuple[int, Element]]:
    parser = articles.parser
    fed, blank, some = 0, True, False
    while True:
        try:
            spend()
            piece = stream.read1(_PIECE_BYTES)
            blank = blank and not piece.strip()
            if not blank:  # nothing but white space is an empty file
                parser.Parse(piece, not piece)
                articles.check_size()
        except expat.ExpatError as error:
            message = f"not well-formed XML: {expat.ErrorString(error.code)}, column {error.offset + 1}"
            wrong = CutShortError(message, source=source, line=error.lineno)
            if not (some or articles.finished):
                raise wrong from None
            yield from articles.finished
            on_bad(wrong)
            return
        except (LookupError, ValueError) as error:
            raise InputError(f"not readable XML: {error}", source=source, line=parser.CurrentLineNumber) from None
        except InputError as error:
            if error.line is not None:
                raise
            line = parser.CurrentLineNumber
            raise InputError(error.message, source=source, line=line) from error.__cause__
        some = some or bool(articles.finished)
        yield from articles.finished
        articles.finished.clear()
        if not piece:
            return
        fed += len(piece)
        if not blank and fed - parser.CurrentByteIndex > MAX_TOKEN_BYTES:
            message = f"one XML tag of more than {MAX_TOKEN_BYTES:,} bytes"
            raise InputError(message, source=source, line=parser.CurrentLineNumber)


def _text(element: Element | None) -> str:
    return squeeze("".join(element.itertext())) if element is not None else ""


def _texts(element: Element, *paths: str) -> list[JSONScalar]:
    return unique(_text(found) for path in paths for found in element.iterfind(path))


def _fields(pmid: str, citation: Element, record: Element) -> dict[str, FieldValue]:
    article = citation.find("Article")
    if article is None:  # a book, or a chapter of one
        article = citation
    date = article.find("Journal/JournalIssue/PubDate")
    if date is None:
        date = article.find("Book/PubDate")
    year = _text(date.find("Year")) or _text(date.find("MedlineDate")) if date is not None else ""
    ids = [
        *article.iterfind("ELocationID[@EIdType='doi']"),
        *record.iterfind("PubmedData/ArticleIdList/ArticleId[@IdType='doi']"),
        *article.iterfind("ArticleIdList/ArticleId[@IdType='doi']"),
    ]
    fields: dict[str, FieldValue] = {
        "title": _text(article.find("ArticleTitle"))
        or _text(article.find("VernacularTitle"))
        or _text(article.find("Book/BookTitle")),
        "text": _abstract(article),
        "author": [*filter(None, map(_author, article.iterfind("AuthorList/Author")))],
        "year": year_field(year) if year else "",
        "date": squeeze(" ".join(date.itertext())) if date is not None else "",
        "journal": _text(article.find("Journal/Title")) or _text(citation.find("MedlineJournalInfo/MedlineTA")),
        "doi": next(filter(None, (clean_doi(_text(found)) for found in ids)), ""),
        "pmid": pmid,
        "keywords": _texts(citation, "KeywordList/Keyword", MESH),
        "mesh": _texts(citation, MESH),
        "publication_type": _texts(article, "PublicationTypeList/PublicationType"),
        "language": _texts(article, "Language"),
        "pmcid": _text(record.find("PubmedData/ArticleIdList/ArticleId[@IdType='pmc']")),
    }
    return ordered(fields)


def _abstract(article: Element) -> str:
    sections: list[str] = []
    for section in article.iterfind("Abstract/AbstractText"):
        label = section.get("Label", "")
        text = _text(section)
        if text:
            sections.append(f"{label}: {text}" if label and label != "UNLABELLED" else text)
    return "\n".join(sections)


def _author(author: Element) -> str:
    """Family name, given names; or the name of a group."""
    names = [_text(author.find("LastName")), _text(author.find("ForeName")) or _text(author.find("Initials"))]
    return ", ".join(filter(None, names)) or _text(author.find("CollectiveName"))

"""What a record says of the work it describes, as far as it tells that work from others."""

import re
import unicodedata
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from germane.data.bibliographic import clean_doi, listed
from germane.data.fields import year_of
from germane.types import Document, FieldValue

SHORT = 4
"""Titles of fewer words are too common to be told apart by them."""
ABSTRACT_WORDS = 40
"""Words from the beginning of two abstracts that are compared."""
SIGNATURE_BITS = 512
IDENTIFIERS = ("doi", "pmid", "arxiv")

_WORD = re.compile(r"[^\W_]+")
_ROMAN = frozenset(("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii"))
_ARXIV = re.compile(r"(?<![\d.])(\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})(?:v\d+)?(?!\d)", re.IGNORECASE)
_ARXIV_ALONE = re.compile(
    rf"(?:arxiv:\s*|https?://(?:[\w.]+\.)?arxiv\.org/(?:abs|pdf)/)?{_ARXIV.pattern}(?:\.pdf)?", re.IGNORECASE
)
_ARXIV_DOI = "10.48550/arxiv."
_PREPRINT_DOIS = (_ARXIV_DOI, "10.1101/", "10.21203/", "10.31234/", "10.26434/", "10.20944/", "10.2139/", "10.31219/")
"""Of arXiv, bioRxiv and medRxiv, Research Square, PsyArXiv, ChemRxiv, Preprints.org, SSRN, OSF."""
_PREPRINT = re.compile(r"\bpre-?prints?\b|posted-content|\b(?:ar|bio|med|chem|psy)rxiv\b|\bUNPB\b", re.IGNORECASE)
_ENDED = re.compile(r"[:?!]|\.\s|\s-|--|[–—]")
_SERIES = re.compile(
    r"\b(?:part|paper|volume|chapter|section)\W+(?:\d+|[ivx]+|[a-d])\b|^\W*(?:\d{1,2}|[ivx]+)\W*(?:$|[:.])"
)
_NOTICE = re.compile(
    r"\W*(errat\w+|corrigend\w+|correction to|retraction of|withdrawn|repl(?:y|ies)|comment(?:ary)? on|letter to|"
    r"(?:correction|comment|response|retraction|re)(?=\s*[:.]))"
)
_GREEK = str.maketrans(
    {
        "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta",
        "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "ο": "omicron", "π": "pi",
        "ρ": "rho", "σ": "sigma", "τ": "tau", "υ": "upsilon", "φ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega",
    }
)  # fmt: skip


def clean_arxiv(text: str) -> str:
    """The bare arXiv id without its version, also out of an address or a DOI of arXiv's; empty where there is none.

    >>> clean_arxiv("http://arxiv.org/abs/1706.03762v7"), clean_arxiv("arXiv:hep-th/9901001")
    ('1706.03762', 'hep-th/9901001')
    """
    text = text.strip()
    if text.lower().startswith(_ARXIV_DOI):
        text = text[len(_ARXIV_DOI) :]
    found = _ARXIV_ALONE.fullmatch(text)
    return found[1].lower() if found else ""


@dataclass(frozen=True)
class Work:
    """Identity of a work. Values that few comparisons need are computed on first access."""

    doi: str
    pmid: str
    arxiv: str
    """Of a preprint: an article's is that of another work."""
    preprint: bool
    plain_title: str
    title: tuple[str, ...]
    year: int | None
    first_author: str
    abstract: str
    words: frozenset[str]
    """The words of the title; a second `the` is another word than the first."""

    @classmethod
    def of(cls, document: Document) -> "Work":
        """The work that a record describes."""
        fields: Mapping[str, FieldValue] = document.fields
        if not all(map(str.islower, fields)):
            fields = {name.lower(): value for name, value in fields.items()}
        title = plain(_first(fields, "title"))
        doi = clean_doi(_first(fields, "doi")).lower()
        arxiv = next(filter(None, (clean_arxiv(text) for text in _arxiv_texts(fields, doi))), "")
        preprint = doi.startswith(_PREPRINT_DOIS) if doi else bool(arxiv) or _says_preprint(fields)
        words = tuple(_WORD.findall(title))
        return cls(
            doi,
            _first(fields, "pmid").strip(),
            arxiv if preprint else "",
            preprint,
            title,
            words,
            year_of(_first(fields, "year")),
            _first(fields, "author"),
            _first(fields, "text") or _first(fields, "abstract"),
            _distinct(words),
        )

    @cached_property
    def notice(self) -> str:
        """What the title begins with if it is about another work: an erratum, a reply."""
        found = _NOTICE.match(self.plain_title)
        return found[1] if found else ""

    @cached_property
    def mains(self) -> tuple[tuple[str, ...], ...]:
        """The title without its subtitle, or without what may be one."""
        return tuple(_mains(self.plain_title))

    @cached_property
    def author(self) -> frozenset[str]:
        """The names of the first author without initials."""
        return _names(self.first_author)

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """The numbers of the title, Roman ones too."""
        return tuple(word for word in self.title if word in _ROMAN or word.isdecimal())

    @cached_property
    def opening(self) -> tuple[str, ...]:
        """The first words of the abstract."""
        return tuple(_WORD.findall(plain(self.abstract[: 10 * ABSTRACT_WORDS]))[:ABSTRACT_WORDS])

    @cached_property
    def opening_words(self) -> frozenset[str]:
        """The same, each once."""
        return frozenset(self.opening)

    @cached_property
    def ordered_words(self) -> tuple[str, ...]:
        """The words of the title by the alphabet: the order of a set is another in each process."""
        return tuple(sorted(self.words))

    @cached_property
    def signature(self) -> int:
        """The words of the title as bits: what one title has and another lacks can be counted, or less than that."""
        bits = 0
        for word in self.words:
            bits |= 1 << (hash(word) % SIGNATURE_BITS)
        return bits

    @cached_property
    def author_keys(self) -> tuple[Hashable, ...]:
        """The first author with the year, twice, so that years one apart have one in common."""
        if self.year is None:
            return ()
        return tuple(
            key for name in self.author for key in ((name, self.year // 2, 0), (name, (self.year + 1) // 2, 1))
        )


def _distinct(words: Sequence[str]) -> frozenset[str]:
    found = frozenset(words)
    if len(found) == len(words):
        return found
    times: dict[str, int] = {}
    names = []
    for word in words:
        times[word] = n = times.get(word, 0) + 1
        names.append(word if n == 1 else f"{word} {n}")
    return frozenset(names)


def _first(fields: Mapping[str, FieldValue], name: str) -> str:
    value = fields.get(name)
    if value is None or isinstance(value, str):
        return value or ""
    return next(iter(listed(value)), "")


def _arxiv_texts(fields: Mapping[str, FieldValue], doi: str) -> Iterator[str]:
    if doi.startswith(_ARXIV_DOI):
        yield doi
    for name in ("arxiv", "eprint", "url", "ur", "link"):
        if name in fields:
            text = _first(fields, name)
            if name in ("arxiv", "eprint") or "arxiv.org" in text:
                yield text


def _says_preprint(fields: Mapping[str, FieldValue]) -> bool:
    said = (text for name in ("publication_type", "type", "journal") for text in listed(fields.get(name)))
    return any(_PREPRINT.search(text) for text in said)


def _mains(title: str) -> Iterator[tuple[str, ...]]:
    """What stands before each colon, question mark, full stop or dash, unless a number in a series follows."""
    for found in _ENDED.finditer(title):
        rest = title[found.end() :]
        head = tuple(_WORD.findall(title[: found.start()]))
        if len(head) >= SHORT - 1 and _WORD.search(rest) and not _SERIES.search(rest):
            yield head


def _names(author: str) -> frozenset[str]:
    """Names of more than a letter; initials without stops (`Smith JA`) are those in capitals of three letters or fewer.

    Of `Family, Given` the family name alone.
    """
    family, comma, _ = author.partition(",")
    words = re.findall(r"[^\W\d_]+", family)
    names = words if comma else [word for word in words if not (word.isupper() and len(word) <= 3)] or words
    return frozenset(plain(name) for name in names if len(name) > 1)


def plain(text: str) -> str:
    """Without case and accents, Greek letters by their names."""
    text = text.casefold()
    if text.isascii():
        return text
    text = text.translate(_GREEK)
    return "".join(mark for mark in unicodedata.normalize("NFKD", text) if not unicodedata.combining(mark))

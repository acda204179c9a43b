"""Records that describe the same work: by DOI, by PMID, by arXiv id, then by title with year, author and abstract.

Identifiers decide first. Of two records that lack a common one, titles do: their words (case, accents and punctuation
aside) must be nearly the same, m/(|A| + |B| - m) ≥ `similarity`. m counts the words in both titles, and of the others
the pairs that differ by one letter (a typing error, another spelling), each 1 - 1/2n for n letters. A title that is
another one without its subtitle counts too, where first authors or abstracts say so as well. Against it speak years
more than one apart (an article ahead of print and in print are one apart), first authors who share no name, numbers
that differ ("part 1", "part 2"), an erratum or a reply on one side, a long word on each side that the other lacks, and
abstracts that begin differently. A title of fewer than SHORT words ("Editorial", "Reply to the authors") must be the
same, with the same year and the same first author, unless the abstracts are the same.

Records whose DOIs differ, or whose PMIDs or arXiv ids do, are never the same work, not even by way of a third. A
preprint and the article that came of it are two works: only an identifier joins a preprint with what does not say that
it is one. What two records share is found without comparing all pairs, by the rarest words of each title (prefix
filtering: Chaudhuri, Ganti & Kaushik 2006), by the first words of the abstracts, and by first author and year.
"""

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from germane.data.bibliographic import clean_doi, listed
from germane.data.fields import year_of
from germane.errors import ParameterError
from germane.types import Document, FieldValue

SIMILARITY = 0.9
SHORT = 4
"""Titles of fewer words are too common to be told apart by them."""
RARE = 5
"""As many of a title's rarest words, of those that other titles have too, lead to titles that may be the same."""
MOST_CANDIDATES = 100
"""Records that share one key and are compared: more share it only where it says little."""
MOST_OF_A_WORD = 1000
"""The same of words that titles of the similarity asked for are sure to share."""
ABSTRACT_WORDS = 40
"""Words from the beginning of two abstracts that are compared."""
OPENING = 8
"""Words of an abstract that say something of it: fewer are not compared."""
SAME_ABSTRACT, OTHER_ABSTRACT = 0.65, 0.4
"""Of the words of the shorter beginning the share from which on they are the same abstract, and below which not."""
MOST_ERRORS = 3
"""Words of a title that typing errors may spoil."""
LONG_WORD = 4
"""Words of fewer letters that differ by one are different words; and they alone do not make two titles different."""

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


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A record that another one stands for: places in the list, from 0, why, and how alike the titles are (0 to 1)."""

    place: int
    kept: int
    reason: str
    similarity: float


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


def find_duplicates(
    documents: Sequence[Document], similarity: float = SIMILARITY, works: Sequence["Work"] | None = None
) -> list[Duplicate]:
    """The duplicates, in the order of the list; whatever is not among them is kept.

    Of each group the record that says most is kept: one with an abstract before one without, then the one with most
    fields, then the longest abstract, then the first. `reason` is what joined the record to its group. `works`: the
    documents' `Work.of`, where they were made before.
    """
    if not 0.0 < similarity <= 1.0:
        raise ParameterError(f"the similarity of titles is a number above 0, up to 1, not {similarity}")
    works = [Work.of(document) for document in documents] if works is None else works
    groups = _Groups(works)
    for name in IDENTIFIERS:
        seen: dict[str, int] = {}
        for place, work in enumerate(works):
            identifier = getattr(work, name)
            if identifier:
                groups.join(seen.setdefault(identifier, place), place, name)
    for one, other in _alike(works, similarity, groups):
        groups.join(one, other, "title")
    return sorted(_dropped(documents, works, groups), key=lambda duplicate: duplicate.place)


IDENTIFIERS = ("doi", "pmid", "arxiv")


@dataclass(frozen=True)
class Work:
    """What tells a work from others."""

    doi: str
    pmid: str
    arxiv: str
    """Of a preprint: an article's is that of another work."""
    preprint: bool
    notice: str
    """What the title begins with if it is about another work: an erratum, a reply."""
    title: tuple[str, ...]
    mains: tuple[tuple[str, ...], ...]
    """The title without its subtitle, or without what may be one."""
    year: int | None
    author: frozenset[str]
    """The names of the first author without initials."""
    abstract: str
    words: frozenset[str]
    """The words of the title; a second `the` is another word than the first."""
    numbers: tuple[str, ...]
    """The numbers of the title, Roman ones too."""

    @classmethod
    def of(cls, document: Document) -> "Work":
        """The work that a record describes."""
        fields = {name.lower(): value for name, value in document.fields.items()}
        title = plain(_first(fields, "title"))
        doi = clean_doi(_first(fields, "doi")).lower()
        arxiv = next(filter(None, (clean_arxiv(text) for text in _arxiv_texts(fields, doi))), "")
        preprint = doi.startswith(_PREPRINT_DOIS) if doi else bool(arxiv) or _says_preprint(fields)
        words = tuple(_WORD.findall(title))
        notice = _NOTICE.match(title)
        return cls(
            doi,
            _first(fields, "pmid").strip(),
            arxiv if preprint else "",
            preprint,
            notice[1] if notice else "",
            words,
            tuple(_mains(title)),
            year_of(_first(fields, "year")),
            _names(_first(fields, "author")),
            _first(fields, "text") or _first(fields, "abstract"),
            _distinct(words),
            tuple(word for word in words if word in _ROMAN or word.isdecimal()),
        )

    @cached_property
    def opening(self) -> tuple[str, ...]:
        """The first words of the abstract."""
        return tuple(_WORD.findall(plain(self.abstract[: 10 * ABSTRACT_WORDS]))[:ABSTRACT_WORDS])

    @cached_property
    def ordered_words(self) -> tuple[str, ...]:
        """The words of the title by the alphabet: the order of a set is another in each process."""
        return tuple(sorted(self.words))

    @cached_property
    def signature(self) -> int:
        """The words of the title as bits: what one title has and another lacks can be counted, or less than that."""
        bits = 0
        for word in self.words:
            bits |= 1 << (hash(word) & 511)
        return bits

    @cached_property
    def author_keys(self) -> tuple[Hashable, ...]:
        """The first author with the year, twice, so that years one apart have one in common."""
        if self.year is None:
            return ()
        return tuple(
            key for name in self.author for key in ((name, self.year // 2, 0), (name, (self.year + 1) // 2, 1))
        )

    @cached_property
    def opening_words(self) -> frozenset[str]:
        """The same, each once."""
        return frozenset(self.opening)


def _distinct(words: Sequence[str]) -> frozenset[str]:
    found = frozenset(words)
    if len(found) == len(words):
        return found
    counted: Counter[str] = Counter()
    names = []
    for word in words:
        counted[word] += 1
        names.append(word if counted[word] == 1 else f"{word} {counted[word]}")
    return frozenset(names)


def _first(fields: dict[str, FieldValue], name: str) -> str:
    value = fields.get(name)
    if value is None or isinstance(value, str):
        return value or ""
    return next(iter(listed(value)), "")


def _arxiv_texts(fields: dict[str, FieldValue], doi: str) -> Iterator[str]:
    if doi.startswith(_ARXIV_DOI):
        yield doi
    for name in ("arxiv", "eprint", "url", "ur", "link"):
        if name in fields:
            text = _first(fields, name)
            if name in ("arxiv", "eprint") or "arxiv.org" in text:
                yield text


def _says_preprint(fields: dict[str, FieldValue]) -> bool:
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


class _Groups:
    """Records found to be one work; each group is known by its first record."""

    def __init__(self, works: Sequence[Work]) -> None:
        self._first = list(range(len(works)))
        self._known = [tuple({getattr(work, name)} - {""} for name in IDENTIFIERS) for work in works]
        self._preprint = [work.preprint for work in works]
        self.reason: dict[int, str] = {}

    def first(self, place: int) -> int:
        """The first record of the group."""
        while self._first[place] != place:
            self._first[place] = place = self._first[self._first[place]]
        return place

    def join(self, one: int, other: int, reason: str) -> None:
        """Make one group of two, unless their identifiers speak against it."""
        a, b = sorted((self.first(one), self.first(other)))
        if a == b or (reason == "title" and self._preprint[a] != self._preprint[b]):
            return
        if any(
            mine and theirs and mine.isdisjoint(theirs)
            for mine, theirs in zip(self._known[a], self._known[b], strict=True)
        ):
            return
        self._first[b] = a
        for mine, theirs in zip(self._known[a], self._known[b], strict=True):
            mine |= theirs
        for place in (a, b):
            self.reason.setdefault(place, reason)


def _alike(works: Sequence[Work], similarity: float, groups: _Groups) -> Iterator[tuple[int, int]]:
    """Pairs whose titles agree and against which nothing speaks, identical titles first."""
    same: dict[Hashable, list[int]] = defaultdict(list)
    for place, work in enumerate(works):
        heads = same[work.words]
        for other in heads if work.words else ():
            if groups.first(other) != groups.first(place) and _agree(works[other], work, similarity):
                yield other, place
        if len(heads) < MOST_CANDIDATES:
            heads.append(place)
    for one, other in _candidates(works, similarity):
        if groups.first(one) != groups.first(other) and _agree(works[one], works[other], similarity):
            yield one, other


def _candidates(works: Sequence[Work], similarity: float) -> Iterator[tuple[int, int]]:
    """Pairs of records whose titles may be nearly the same, the later record second.

    They share one key that is sure to be shared: one of as many of the rarest words of a title as two titles of that
    similarity must have one of in common, or the beginning of the abstract. Or they share two of those that are likely
    to be: the rarest words that other titles have too, since a typing error makes a word that none has, of the title
    and of that without its subtitle; the first author with the year.
    """
    frequency: Counter[str] = Counter()
    for work in works:
        frequency.update(work.words)
    times = frequency.__getitem__
    sure: dict[Hashable, list[int]] = defaultdict(list)
    likely: dict[Hashable, list[int]] = defaultdict(list)
    for place, work in enumerate(works):
        if not work.words:
            continue
        rarest = sorted(work.ordered_words, key=times)
        shared = [word for word in rarest if times(word) > 1]
        found: set[int] = set()
        if shared and len(rarest) >= SHORT:
            # Of words equally rare any may come first in another title: all of them count.
            edge = times(rarest[len(rarest) - math.ceil(similarity * len(rarest))])
            for word in shared:
                if times(word) > edge:
                    break
                others = sure[word]
                found.update(others)
                if len(others) < MOST_OF_A_WORD:
                    others.append(place)
        if len(work.opening) >= OPENING:
            others = sure[work.opening[:OPENING]]
            found.update(others)
            if len(others) < MOST_CANDIDATES:
                others.append(place)
        once: set[int] = set()
        for key in _likely_keys(work, shared):
            others = likely[key]
            if others:
                found.update(once.intersection(others))
                once.update(others)
            if len(others) < MOST_CANDIDATES:
                others.append(place)
        n, own = len(work.words), work.signature
        for other in sorted(found):
            theirs = works[other]
            lacks = (own & ~theirs.signature if n <= len(theirs.words) else theirs.signature & ~own).bit_count()
            if lacks > MOST_ERRORS and lacks > n * (1 - similarity) / (1 + similarity):  # at most, for Jaccard's sake
                continue
            if work.words != theirs.words:  # the same words are compared elsewhere
                yield other, place


def _likely_keys(work: Work, shared: Sequence[str]) -> list[Hashable]:
    """`shared`: the words of the title that others have too, the rarest first."""
    keys: list[Hashable] = [*shared[:RARE]]
    if work.mains and len(shared) > RARE:
        main = frozenset(work.mains[0])
        keys += [word for word in [word for word in shared if word in main][:RARE] if word not in keys]
    keys += work.author_keys
    return keys


def _agree(one: Work, other: Work, similarity: float) -> bool:
    """Whether two records without a common identifier are of one work."""
    if one.year is not None and other.year is not None and abs(one.year - other.year) > 1:
        return False
    if one.preprint != other.preprint or one.notice != other.notice:
        return False
    authors = _same_author(one, other)
    if authors is False:
        return False
    abstracts = _same_abstract(one, other)
    if abstracts is False:
        return False
    whole = one.numbers == other.numbers and _likeness(one, other, similarity, abstracts is True) >= similarity
    if min(len(one.words), len(other.words)) < SHORT and not abstracts:
        if whole and one.words == other.words:
            return authors is True and one.year is not None and one.year == other.year
        whole = False
    if whole:
        return True
    if abstracts is None and authors is None:
        return False
    return any(
        _is_part(short.title, main, similarity) for short, long in ((one, other), (other, one)) for main in long.mains
    )


def _is_part(short: tuple[str, ...], main: tuple[str, ...], similarity: float) -> bool:
    """Whether a title is another one without its subtitle."""
    if abs(len(short) - len(main)) > 1:
        return False
    return short == main or _soft_jaccard(short, main, strict=True) >= similarity


def _same_author(one: Work, other: Work) -> bool | None:
    """None where one of the records names nobody."""
    if not one.author or not other.author:
        return None
    return bool(one.author & other.author) or _near_names(one.author, other.author)


def _near_names(some: Iterable[str], others: Iterable[str]) -> bool:
    from rapidfuzz.distance import OSA

    return any(
        OSA.distance(a, b, score_cutoff=1) <= 1 for a in some for b in others if min(len(a), len(b)) >= LONG_WORD
    )


def _same_abstract(one: Work, other: Work) -> bool | None:
    """Whether the abstracts begin alike; None where one is missing, or it is not to be told."""
    a, b = one.opening_words, other.opening_words
    fewer = min(len(a), len(b))
    if fewer < OPENING:
        return None
    share = len(a & b) / fewer
    return True if share >= SAME_ABSTRACT else False if share < OTHER_ABSTRACT else None


def _likeness(one: Work, other: Work, at_least: float = 0.0, same_abstract: bool = True) -> float:
    """m/(|A| + |B| - m) of the titles' words; 1 where the titles differ by their spaces alone.

    0 where it cannot be `at_least` so much, and where each title has a long word that the other lacks, unless the
    abstracts are the same.
    """
    if one.title == other.title:
        return 1.0 if one.title else 0.0
    a, b = len(one.title), len(other.title)
    if "".join(one.title) == "".join(other.title):
        return 1.0
    if not a or not b or min(a, b) / max(a, b) < at_least:  # m ≤ min(a, b)
        return 0.0
    return _soft_jaccard(one.title, other.title, strict=not same_abstract)


def _soft_jaccard(one: Sequence[str], other: Sequence[str], *, strict: bool) -> float:
    """`strict`: 0 where long words are left on both sides."""
    a, b = Counter(one), Counter(other)
    both = a & b
    m = float(both.total())
    mine, theirs = list((a - both).elements()), list((b - both).elements())
    left = []
    for word in mine:
        pair = _typing_error(word, theirs) if len(word) >= LONG_WORD else None
        if pair is None:
            left.append(word)
        else:
            theirs.remove(pair)
            m += 1 - 0.5 / max(len(word), len(pair))
    if strict and all(any(len(word) >= LONG_WORD for word in words) for words in (left, theirs)):
        return 0.0
    return m / (len(one) + len(other) - m) if m else 0.0


def _typing_error(word: str, others: Iterable[str]) -> str | None:
    """The first of the others that is the word but for one letter missing, added, changed, or two exchanged."""
    from rapidfuzz.distance import OSA

    for other in others:
        if len(other) >= LONG_WORD and OSA.distance(word, other, score_cutoff=1) <= 1:
            return other
    return None


def _dropped(documents: Sequence[Document], works: Sequence[Work], groups: _Groups) -> Iterator[Duplicate]:
    members: dict[int, list[int]] = defaultdict(list)
    for place in range(len(works)):
        members[groups.first(place)].append(place)
    for places in members.values():
        if len(places) == 1:
            continue
        kept = max(places, key=lambda place: (*_says(documents[place]), -place))
        for place in places:
            if place != kept:
                yield Duplicate(place, kept, groups.reason[place], _likeness(works[place], works[kept]))


def _says(document: Document) -> tuple[bool, int, int]:
    """How much a record says: an abstract, how many fields, how long an abstract."""
    abstract = len(str(document.fields.get("text") or document.fields.get("abstract") or ""))
    return abstract > 0, len(document.fields), abstract

"""The query language of a search box, read into words with weights, conditions and filters.

    heart attack              words; documents holding any of them are ranked
    heart^2.5 attack          a weight
    +heart -surgery           a word that must, or must not, occur
    "heart attack"            quotation marks only group: the words in them
    year:2015                 a field's value          year:2010..2015   a range, either end may be missing
    year:>=2010  -journal:bmj comparison; exclusion    author:"Smith J"  a value with spaces

A word holding none of these signs is never special; `plain` reads any text as words alone.
"""

import re
from collections.abc import Callable, Mapping
from collections.abc import Collection as Names
from dataclasses import dataclass, field
from functools import lru_cache

from germane.errors import QueryError
from germane.rank.filters import FieldFilter, Filter, HoldsTerm, parse_filter
from germane.text import Analyzer

MAX_WEIGHT = 1e6
MAX_CONDITIONS = 10_000
"""Required and excluded words and filters, each of which looks at every document."""
WORD_CACHE = 1 << 16
_ITEM = re.compile(
    r"""((?P<sign>[+-])?(?:(?P<field>[\w.-]+):(?P<test>"[^"]*"|[^\s"]+)|"(?P<quoted>[^"]*)"|(?P<word>[^\s"^]+))"""
    r"""(?P<weight>\^[^\s"]*)?)""",
    re.VERBOSE,
)
"""`findall` gives the whole item and its groups, each empty where it is missing."""


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """What a query asks: a topic model (term -> weight), terms that must and must not occur, filters, typed words."""

    weights: Mapping[str, float] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    filters: tuple[FieldFilter, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def conditions(self) -> tuple[Filter, ...]:
        """All that a document must satisfy: required words, none of the excluded ones, filters."""
        if not self.required and not self.excluded:
            return self.filters
        required = tuple(HoldsTerm(term) for term in self.required)
        return required + tuple(HoldsTerm(term, negated=True) for term in self.excluded) + self.filters


def plain(text: str, analyzer: Analyzer) -> ParsedQuery:
    """A text as a query: every term weighs as often as it occurs (the empirical topic model times |Q|)."""
    weights: dict[str, float] = {}
    for term in analyzer.terms(text):
        weights[term] = weights.get(term, 0.0) + 1.0
    return ParsedQuery(weights)


def parse(text: str, analyzer: Analyzer, fields: Names[str] = ()) -> ParsedQuery:
    """Read a query. `fields`: the names that may stand before a colon."""
    weights: dict[str, float] = {}
    required: list[str] = []
    excluded: list[str] = []
    filters: list[FieldFilter] = []
    words: list[str] = []
    terms_of = _remembering(analyzer)
    for item, sign, name, test, quoted, word, factor in _ITEM.findall(text):
        if not name:
            content = word or quoted
        elif _looks_like_field(name, test, fields, item):
            filters.append(parse_filter(name, test.strip('"'), negated=sign == "-"))
            continue
        else:
            content = item.lstrip("+-")
        weight = _weight(factor[1:], item) if factor else 1.0
        terms = terms_of(content)
        if sign == "-":
            excluded += terms
            continue
        words.append(content)
        for term in terms:
            weights[term] = weights.get(term, 0.0) + weight
        if sign == "+":
            required += terms
    if (n := len(required) + len(excluded) + len(filters)) > MAX_CONDITIONS:
        raise QueryError(f"{n:,} conditions (+word, -word, field:value), where {MAX_CONDITIONS:,} can be asked")
    return ParsedQuery(weights, tuple(required), tuple(excluded), tuple(filters), tuple(words))


@lru_cache(maxsize=8)
def _remembering(analyzer: Analyzer) -> Callable[[str], list[str]]:
    """The terms of one item, remembered: queries repeat their words."""
    return lru_cache(maxsize=WORD_CACHE)(analyzer.terms)


def _looks_like_field(name: str, test: str, fields: Names[str], item: str) -> bool:
    """Whether `name:test` is a filter; a web address and a clock time are words, a misspelt field is an error."""
    if name in fields:
        return True
    if test.startswith("//") or name.isdigit():
        return False
    known = ", ".join(sorted(fields)) or "none"
    raise QueryError(f"'{item}': there is no field '{name}' to filter on (fields: {known})", field=name)


def _weight(text: str, item: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = -1.0
    if not 0.0 <= weight <= MAX_WEIGHT:
        raise QueryError(f"'{item}': a weight is a number from 0 to {MAX_WEIGHT:g}, as in 'word^2.5'")
    return weight

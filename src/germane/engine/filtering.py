"""Filters of a search: in whatever shape they come, as a condition beside those of the query."""

from typing import TypeAlias

from germane.rank.conditions import Condition, HoldsAny, both
from germane.rank.filter_values import Filter, FilterValue, check_fields
from germane.rank.query import ParsedQuery
from germane.rank.searcher import Searcher

AnyFilter: TypeAlias = FilterValue | Filter | str
"""A filter as plain data or as an expression, or a text in the query language, which a person wrote."""


def condition_of(searcher: Searcher, filter: AnyFilter, parsed: ParsedQuery | None) -> Condition:
    """What documents must satisfy to pass; `parsed` is the filter that is a text, read.

    A field that no document has is an error, unless there is no document.
    """
    if isinstance(filter, str):
        assert parsed is not None
        words = HoldsAny(tuple(term for term, weight in parsed.weights.items() if weight > 0.0))
        return both(parsed.conditions if parsed.wordless else (*parsed.conditions, words))
    found = Filter.of(filter)
    if searcher.snapshot.n_docs:
        check_fields(found, searcher.searchable)
    return found.condition


def narrowed(parsed: ParsedQuery, condition: Condition, *, blank: bool) -> ParsedQuery:
    """The query, finding only what satisfies the condition; a blank one finds all of that."""
    return parsed._replace(condition=both((*parsed.conditions, condition)), wordless=parsed.wordless or blank)

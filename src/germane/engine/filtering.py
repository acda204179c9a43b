"""Filters of a search: in whatever shape they come, as a condition beside those of the query."""

from collections.abc import Sequence
from typing import TypeAlias

import orjson

from germane.errors import ParameterError, RequestError
from germane.rank.query.conditions import Condition, HoldsAny, both
from germane.rank.query.filter_values import Filter, FilterValue, check_fields
from germane.rank.query.resolve import ParsedQuery, searchable_in
from germane.rank.retriever import Retriever
from germane.wording import Name

AnyFilter: TypeAlias = FilterValue | Filter | str
"""A filter as plain data or as an expression, or a text in the query language, which a person wrote."""


def filter_typed(texts: Sequence[str]) -> Filter | str:
    """Return the filter that was typed last: a JSON object is one as plain data, any other text a query.

    >>> filter_typed(['{"year": 2020}']), filter_typed(["year:2020"])
    (Filter(condition=HasValue(field='year', values=('2020',), flags=())), 'year:2020')
    """
    text = texts[-1]
    if not text.lstrip().startswith("{"):
        return text
    try:
        return Filter.of(orjson.loads(text))
    except orjson.JSONDecodeError as error:
        raise ParameterError(f"the filter {text!r:.60} is not JSON: {error}") from None


def weights_typed(texts: Sequence[str]) -> dict[str, float]:
    """Return the weights of text fields, FIELD=NUMBER each.

    >>> weights_typed(["title=3", "text=0.5"])
    {'title': 3.0, 'text': 0.5}
    """
    weights: dict[str, float] = {}
    for text in texts:
        name, _, typed = (part.strip() for part in text.rpartition("="))
        try:
            weight = float(typed)
        except ValueError:
            name = ""
        if not name:
            raise RequestError(Name("weights"), f" wants a text field and a number, as in title=3, not '{text}'")
        if name in weights:
            raise RequestError(Name("weights"), f" names the field '{name}' twice")
        weights[name] = weight
    return weights


def condition_of(retriever: Retriever, filter: AnyFilter, parsed: ParsedQuery | None) -> Condition:
    """What documents must satisfy to pass; `parsed` is the filter that is a text, read.

    A field that no document has is an error, unless there is no document.
    """
    if isinstance(filter, str):
        assert parsed is not None
        words = HoldsAny(tuple(term for term, weight in parsed.weights.items() if weight > 0.0))
        return both(parsed.conditions if parsed.wordless else (*parsed.conditions, words))
    found = Filter.of(filter)
    if retriever.schema().n_docs:
        check_fields(found, searchable_in(retriever))
    return found.condition


def narrowed(parsed: ParsedQuery, condition: Condition, *, blank: bool) -> ParsedQuery:
    """The query, finding only what satisfies the condition; a blank one finds all of that."""
    return parsed._replace(condition=both((*parsed.conditions, condition)), wordless=parsed.wordless or blank)

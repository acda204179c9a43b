"""State of the search view, as its address encodes it: every view is a URL."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_, or_
from typing import Any
from urllib.parse import parse_qs, urlencode

import orjson

from germane.engine.filtering import filter_typed
from germane.errors import ParameterError
from germane.rank.query.filter_values import Filter
from germane.rank.registry import MODEL_NAMES
from germane.refine.interest import MOST_WEIGHT
from germane.refine.registry import METHOD_NAMES
from germane.server.problems import ProblemError
from germane.server.settings import Settings

PAGE = 20
SORTS = ("", "-year", "year", "title")
_MANY = ("f", "drop", "add", "source", "weigh")
_OF_THE_LIST = {"q", "c", "f", "s", "model", "sort"}
"""Parameters that decide the results, and with them the groups."""
_LEARNT = re.compile(r"[a-z][a-z0-9_-]{0,63}(@[0-9]{1,6})?")
"""Pattern of a learnt model's name, with its version or without."""


@dataclass(frozen=True, slots=True)
class ViewState:
    """A query `q` in a collection `c`, narrowed by filters `f` and to group `g` of its first results (from 1; 0: all),
    from `page` on; a saved search `s` with words that were dropped, added or weighed (`weigh`: "word:factor"), and the
    method that learns; the ranking `model`, an order by a field, and the `source`s asked."""

    q: str = ""
    c: str = ""
    f: tuple[str, ...] = ()
    page: int = 1
    s: int = 0
    drop: tuple[str, ...] = ()
    add: tuple[str, ...] = ()
    method: str = "auto"
    model: str = ""
    sort: str = ""
    source: tuple[str, ...] = ()
    weigh: tuple[str, ...] = ()
    g: int = 0

    @classmethod
    def of(cls, query_string: str, settings: Settings) -> "ViewState":
        """The place that an address names; a `ProblemError` for values that cannot be."""
        try:
            given = parse_qs(query_string, max_num_fields=200, errors="strict")
        except ValueError:
            raise ProblemError(400, "the address has too many parts, or is not UTF-8") from None
        one: Mapping[str, str] = {name: values[-1] for name, values in given.items()}
        many = {name: tuple(dict.fromkeys(text for text in given.get(name, ()) if text.strip())) for name in _MANY}
        place = cls(
            q=one.get("q", "").strip(),
            c=one.get("c", ""),
            page=_whole("page", one.get("page", "1"), 1),
            s=_whole("s", one.get("s", "0"), 0),
            g=_whole("g", one.get("g", "0"), 0),
            method=one.get("method", "auto"),
            model=one.get("model", ""),
            sort=one.get("sort", ""),
            **many,
        )
        if "word" in one and "share" in one:
            place = place._moved(one["word"], one["share"], one.get("base", ""))
        place._check(settings)
        return place

    def _moved(self, word: str, share: str, base: str) -> "ViewState":
        """The place after a bar was moved to `share` percent, where `base` percent is what was learnt."""
        try:
            factor = float(share) / float(base)
        except (ValueError, ZeroDivisionError):
            raise ProblemError(422, "the length of a bar is a number of percent") from None
        others = tuple(each for each in self.weigh if each.rpartition(":")[0] != word)
        return replace(self, weigh=(*others, f"{word}:{factor:.3g}"))

    @property
    def factors(self) -> dict[str, float]:
        """The words that were weighed, and by what."""
        found = {}
        for each in self.weigh:
            word, _, text = each.rpartition(":")
            try:
                factor = float(text)
            except ValueError:
                factor = -1.0
            if not word or not 0.0 <= factor <= MOST_WEIGHT:
                raise ProblemError(422, f"'weigh' is a word and a factor up to {MOST_WEIGHT:g}, as in lens:0.5")
            found[word] = factor
        return found

    def _check(self, settings: Settings) -> None:
        if len(self.q) + sum(map(len, self.f)) > settings.max_query:
            raise ProblemError(422, f"the query is longer than {settings.max_query:,} characters: shorten it")
        if (self.page - 1) * PAGE >= settings.max_depth:
            raise ProblemError(
                422, f"no page lies deeper than {settings.max_depth:,} results: narrow the search instead"
            )
        if self.method not in METHOD_NAMES:
            raise ProblemError(422, f"there is no method '{self.method}'; there are {', '.join(METHOD_NAMES)}")
        if self.model and self.model not in MODEL_NAMES and not _LEARNT.fullmatch(self.model):
            raise ProblemError(422, f"there is no model '{self.model}'; there are {', '.join(MODEL_NAMES)}")
        if "\0" in self.q:
            raise ProblemError(422, "the query holds a null character")
        if max(len(self.drop), len(self.add), len(self.f), len(self.factors)) > 50:
            raise ProblemError(422, "at most 50 words and filters")
        try:
            self.filter  # noqa: B018 - whatever is wrong with it is said
        except ParameterError as error:
            raise ProblemError(422, str(error)) from None

    @property
    def effective(self) -> str:
        """The query with those of its filters that are in the query language."""
        written = [each for each in map(filter_typed, self.f) if isinstance(each, str)]
        if not written:
            return self.q
        words = f"({self.q})" if " OR " in self.q or " AND " in self.q or " NOT " in self.q else self.q
        return " ".join((words, *written)).strip()

    @property
    def filter(self) -> Filter | None:
        """Its filters that are plain data; values of one field are alternatives, as in the query language."""
        by_fields: dict[tuple[str, ...], list[Filter]] = {}
        for each in map(filter_typed, self.f):
            if isinstance(each, Filter):
                by_fields.setdefault(each.fields, []).append(each)
        alternatives = [reduce(or_, filters) for filters in by_fields.values()]
        return reduce(and_, alternatives) if alternatives else None

    @property
    def query_string(self) -> str:
        """The address's part behind the question mark; what is as usual is left out."""
        pairs: list[tuple[str, Any]] = []
        for name in ("q", "c", "f", "g", "s", "drop", "add", "weigh", "method", "model", "sort", "source", "page"):
            value = getattr(self, name)
            if value == getattr(_USUAL, name):
                continue
            pairs += [(name, each) for each in value] if isinstance(value, tuple) else [(name, value)]
        return urlencode(pairs)

    def url(self, path: str = "/search", **changes: Any) -> str:
        """The address with these changes; page 1 unless they say otherwise, and no group where the list is another."""
        usual = {"page": 1, "g": 0} if changes.keys() & _OF_THE_LIST else {"page": 1}
        there = replace(self, **{**usual, **changes})
        return f"{path}?{there.query_string}" if there.query_string else path

    def without(self, name: str, value: str) -> str:
        """The address without one of several values."""
        changed: dict[str, Any] = {name: tuple(each for each in getattr(self, name) if each != value)}
        return self.url(**changed)

    def having(self, name: str, value: str) -> str:
        """The address with one value more."""
        changed: dict[str, Any] = {name: (*getattr(self, name), value)}
        return self.url(**changed)


_USUAL = ViewState()


def _whole(name: str, text: str, least: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 12) or int(text) < least:
        raise ProblemError(422, f"'{name}' is a whole number from {least} on, not '{text[:40]}'")
    return int(text)


def value_filter(field: str, value: object) -> str:
    """The filter `f` for one of a field's values: a number in the query language, a text as plain data, so that no
    sign in it has a meaning.

    >>> value_filter("journal", 'The "Lancet"'), value_filter("year", 1999)
    ('{"journal":"The \\\\"Lancet\\\\""}', 'year:1999')
    """
    return orjson.dumps({field: value}).decode() if isinstance(value, str) else f"{field}:{value}"


def filter_label(text: str) -> str:
    """A filter as people read it.

    >>> filter_label('{"journal":"Nature"}'), filter_label("year:1999")
    ('journal: Nature', 'year:1999')
    """
    asked = filter_typed(text)
    if isinstance(asked, str):
        return text
    told = (f"{field}: {value}" for field, value in asked.to_dict().items() if isinstance(value, str))
    return ", ".join(told) or text

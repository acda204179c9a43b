"""What a search may ask for and what it may cost, at every door: page, API, assistants, what is kept or scheduled.

Plain data and one function. A search is told off by what is declared of it, before anything is done: bounds for each
number and list, and a sum of costs below `BUDGET`. What the words of the query themselves make it do is bounded where
they are read (`Engine.max_looks`, `Engine.max_expansions`).
"""

from collections.abc import Mapping

from germane.declare import HTTP, Field, fields_of, value_of
from germane.declare import check as check_value
from germane.engine.requests import SearchRequest
from germane.errors import ParameterError, RequestError
from germane.rank.query.filter_values import Filter
from germane.server.settings import Settings
from germane.wording import Name

BOUNDS = {field.name: field.at(HTTP)._replace(name=field.name) for field in fields_of(SearchRequest)}
"""The fields of a search with the bounds that they have for strangers."""
MOST_K, MOST_FILTERS = int(BOUNDS["k"].most or 0), BOUNDS["filter"].items or 0
MOST_GROUPED = 1_000
"""Results that are put in groups."""
MOST_WORDS = 50
"""Words that are dropped, added or weighed."""
MOST_SOURCES = 10
MOST_IDS = 100
MOST_KEPT = 1_000
"""Results of a saved search that marks order."""
MOST_SLOWLY = 500
"""Those of a method that takes more than others for each (`SLOW`): it compares each with each, or with groups."""
SLOW = ("knn", "paper", "mmem-kl", "mmem-aib", "mmem-sd")
MOST_TOLD = 100
"""Results of which is told why they stand, and where they stood."""
MAX_EXPANSIONS = 100
MAX_LOOKS = 1_250_000

SIGNS: Mapping[str, float] = {'"': 12.0, "~": 30.0, "*": 12.0, ":": 6.0, "AND": 1.0, "OR": 1.0}
"""What the signs of a query are taken to cost before it is read, to know whether it waits with the costly ones."""
PLACES = ("bigram", "bm25f", "lmf", "sdm", "sdm-lm", "dcm", "sd")
"""Models that look into documents, of about this cost a word."""
PLACES_WORD = 20.0
BUDGET = 450.0
"""The unit is about a millisecond of one processor, on 200,000 documents."""
COSTLY = 60.0
"""A request of this cost waits with the costly ones, which hold at most half of the workers."""
PLAIN = 5.0


def costs_of(request: SearchRequest) -> dict[str, float]:
    """Return what each field of a search costs, by its name."""
    return {name: _cost(field, request) for name, field in BOUNDS.items()}


def _cost(field: Field, request: SearchRequest) -> float:
    if callable(field.cost):
        return field.cost(request)
    value = value_of(request, field)
    count = len(set(value)) if isinstance(value, tuple) else value if isinstance(value, int) else value is not None
    return field.cost * count


def cost_of(request: SearchRequest) -> float:
    """The cost of a search, with what its query is likely to add: whether it waits with the costly ones."""
    query = request.query
    signs = sum(cost * query.count(sign) for sign, cost in SIGNS.items())
    words = len(query.split()) * (PLACES_WORD if request.ranking.model in PLACES else 1.0)
    return PLAIN + signs + words + sum(costs_of(request).values())


def cost_of_order(method: str) -> float:
    """The cost of ordering a saved search by its marks: the methods that nobody gets unless they are named are dear."""
    return 0.0 if method == "auto" else BUDGET


def check(request: SearchRequest, settings: Settings) -> None:
    """A `ParameterError` for a search that asks for too much; it names what is to be lowered."""
    most = settings.max_depth
    for name, field in BOUNDS.items():
        if name not in ("query", "filter"):
            check_value(field, value_of(request, field))
    if request.offset + request.k > most:
        raise ParameterError(f"no result deeper than {most:,} is given: narrow the search instead")
    if len(request.query) > 2 * settings.max_query:
        raise ParameterError(f"a query with its filters has at most {2 * settings.max_query:,} characters: shorten it")
    if isinstance(request.filter, Filter) and len(request.filter.tests) > MOST_FILTERS:
        raise ParameterError(
            f"a filter of {len(request.filter.tests):,} comparisons, where {MOST_FILTERS} can be asked: use fewer"
        )
    if request.groups is not None and request.offset + request.k > MOST_GROUPED:
        raise RequestError(
            f"groups are made of the first {MOST_GROUPED:,} results: lower ", Name("offset"), " or ", Name("k"),
            ", or leave ", Name("groups"), " out",
        )  # fmt: skip
    parts = costs_of(request)
    total = PLAIN + sum(parts.values())
    if total > BUDGET:
        dearest = max(parts, key=parts.__getitem__)
        reason = f"the search costs {total:,.0f}, where {BUDGET:,.0f} are allowed at once: lower or leave out "
        raise RequestError(reason, Name(dearest), ", or ask in parts")

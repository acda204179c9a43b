"""What a search may ask for and what it may cost, at every door: page, API, assistants, what is kept or scheduled.

Plain data and one function. A search is told off by what is declared of it, before anything is done: bounds for each
number and list, and a sum of costs below `BUDGET`. What the words of the query themselves make it do is bounded where
they are read (`Engine.max_looks`, `Engine.max_expansions`).
"""

from collections.abc import Mapping

from germane.engine.models.promotion import PROMOTED
from germane.engine.requests import SearchRequest
from germane.engine.result_groups import GROUPED
from germane.errors import ParameterError
from germane.rank.query.filter_values import Filter
from germane.server.settings import Settings

MOST_K = 1_000
MOST_GROUPS = 50
MOST_GROUPED = 1_000
"""Results that are put in groups."""
MOST_FACETS = 10
MOST_FILTERS = 50
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
COSTS: Mapping[str, float] = {
    "result": 0.15, "snippet": 0.9, "deeper result": 0.005, "result in a group": 0.025, "facet": 10.0, "order": 30.0,
    "second ranking": 100.0,
}  # fmt: skip


def costs_of(request: SearchRequest) -> dict[str, float]:
    """What each part of a search costs, by the names of what may be lowered."""
    grouped = 0 if request.groups is None else request.groups * max(GROUPED, request.offset + request.k)
    return {
        "'k'": request.k * COSTS["result"],
        "'k', or leave the snippets out": request.k * COSTS["snippet"] * request.snippets,
        "'offset'": request.offset * COSTS["deeper result"],
        "'groups'": grouped * COSTS["result in a group"],
        "the number of facets": len(set(request.facets)) * COSTS["facet"],
        "nothing else than the order by a field": COSTS["order"] * (request.sort is not None),
        "nothing else than the second ranking": COSTS["second ranking"] * (request.rerank not in (None, PROMOTED)),
    }


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
    if not 1 <= request.k <= MOST_K:
        raise ParameterError(f"'k' is from 1 to {MOST_K:,}, not {request.k:,}")
    if request.offset < 0 or request.offset + request.k > most:
        raise ParameterError(f"no result deeper than {most:,} is given: narrow the search instead")
    if len(request.query) > 2 * settings.max_query:
        raise ParameterError(f"a query with its filters has at most {2 * settings.max_query:,} characters: shorten it")
    if len(set(request.facets)) > MOST_FACETS:
        raise ParameterError(f"at most {MOST_FACETS} facets are counted at once: ask for fewer")
    if isinstance(request.filter, Filter) and len(request.filter.tests) > MOST_FILTERS:
        raise ParameterError(
            f"a filter of {len(request.filter.tests):,} comparisons, where {MOST_FILTERS} can be asked: use fewer"
        )
    if request.groups is not None and not 1 <= request.groups <= MOST_GROUPS:
        raise ParameterError(f"'groups' is from 1 to {MOST_GROUPS}, not {request.groups:,}")
    if request.groups is not None and request.offset + request.k > MOST_GROUPED:
        raise ParameterError(
            f"groups are made of the first {MOST_GROUPED:,} results: lower 'offset' or 'k', or leave 'groups' out"
        )
    parts = costs_of(request)
    total = PLAIN + sum(parts.values())
    if total > BUDGET:
        dearest = max(parts, key=parts.__getitem__)
        raise ParameterError(
            f"the search costs {total:,.0f}, where {BUDGET:,.0f} are allowed at once: lower {dearest}, or ask in parts"
        )

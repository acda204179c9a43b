"""Advice for a query that found little: did you mean ..., and why nothing was found."""

import re
from collections.abc import Sequence

from germane.engine.results import SearchResult
from germane.errors import QueryError
from germane.rank.retriever import Retriever
from germane.rank.scoring.statistics import Need
from germane.text import tokenize
from germane.wording import counted

MOST_CORRECTED = 32
"""A query of more words than this is a text, not a question to be spelt right."""
FEW = 5


def sought_words(query: str, result: SearchResult, *, syntax: bool) -> list[str]:
    """The different words that are looked for: not the excluded ones, nor the filters."""
    parts = result.query.words if syntax else (query,)
    return list(dict.fromkeys(token for part in parts for token in tokenize(part)))


def suggestion(retriever: Retriever, query: str, words: Sequence[str], runs: Sequence[Sequence[str]]) -> str | None:
    """'Did you mean': the query as typed with its mistyped words corrected, signs and filters kept."""
    if len(words) > MOST_CORRECTED:
        return None
    better = query
    for word, correction in retriever.suggest(words, runs).items():
        better = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", correction, better, flags=re.IGNORECASE)
    return better if better != query else None


def why_nothing(retriever: Retriever, query: str, words: Sequence[str], result: SearchResult) -> str:
    """A sentence for a query that found nothing; one that no collection could answer is an error."""
    schema = retriever.schema()
    terms = {word: term for word in words if (term := schema.analyzer.term_of(word)) is not None}
    if result.offset and result.total:
        found = counted(result.total, "document is", "documents are")
        return f"nothing there: {found} found, and {result.offset:,} left out before the first"
    if words and not terms:
        raise QueryError(f"the query holds only stop words ({_some(words)}), and those are not searched")
    if not words and result.query.condition is not None and schema.n_docs:
        return "nothing found: no document meets the query's conditions"
    if not words and result.query.condition is None:
        raise QueryError(f"there is no word in the query '{' '.join(query.split())[:60]}'")
    if schema.n_docs == 0:
        return "nothing found: the index is empty"
    known = retriever.statistics(Need(tuple(terms.values()))).terms
    unknown = [word for word, term in list(terms.items())[:MOST_CORRECTED] if known[term].df == 0]
    if len(unknown) == min(len(terms), MOST_CORRECTED):
        return f"nothing found: no document holds {_some(unknown)}"
    if unknown:
        return f"nothing found that meets the query's conditions (no document holds {_some(unknown)})"
    return "nothing found: no document that holds the words meets the query's conditions"


def _some(words: Sequence[str]) -> str:
    return ", ".join(f"'{word[:40]}'" for word in words[:FEW]) + (" ..." if len(words) > FEW else "")

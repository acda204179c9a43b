"""The query as typed: read, corrected, and explained where nothing answers it."""

import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from germane.errors import QueryError

if TYPE_CHECKING:
    from germane.engine import Engine, SearchResult

MOST_CORRECTED = 32
"""A query of more words than this is a text, not a question to be spelt right."""
FEW = 5


def typed(query: str) -> str:
    """The query, from stdin if it is `-`; an empty one is an error."""
    if query == "-":
        query = sys.stdin.buffer.read().decode(errors="replace")
    query = query.encode(errors="surrogateescape").decode(errors="replace")
    if not query.strip():
        raise QueryError("the query is empty")
    return query


def words_of(query: str, result: "SearchResult", *, plain: bool) -> list[str]:
    """The different words that are looked for: not the excluded ones, nor the filters."""
    from germane.text import tokenize

    parts = (query,) if plain else result.query.words
    return list(dict.fromkeys(token for part in parts for token in tokenize(part)))


def suggestion(engine: "Engine", query: str, words: Sequence[str]) -> str | None:
    """'Did you mean': the query as typed with its unknown words corrected, signs and filters kept."""
    if len(words) > MOST_CORRECTED:
        return None
    better = query
    for word in words:
        correction = engine.suggest(word)
        if correction is not None:
            better = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", correction, better, flags=re.IGNORECASE)
    return better if better != query else None


def why_nothing(engine: "Engine", query: str, words: Sequence[str], result: "SearchResult") -> str:
    """A sentence for a query that found nothing; one that no collection could answer is an error."""
    terms = {word: term for word in words if (term := engine.analyzer.term_of(word)) is not None}
    if words and not terms:
        raise QueryError(f"the query holds only stop words ({_some(words)}), and those are not searched")
    if not words and (result.query.filters or result.query.excluded):
        raise QueryError("the query needs a word to look for, beside what it excludes or filters by")
    if not words:
        raise QueryError(f"there is no word in the query '{' '.join(query.split())[:60]}'")
    if len(engine) == 0:
        return "nothing found: the index is empty"
    unknown = [word for word, term in list(terms.items())[:MOST_CORRECTED] if not engine.search({term: 1.0}, 1).ids]
    if len(unknown) == min(len(terms), MOST_CORRECTED):
        return f"nothing found: no document holds {_some(unknown)}"
    if unknown:
        return f"nothing found that meets the query's conditions (no document holds {_some(unknown)})"
    return "nothing found: no document that holds the words meets the query's conditions"


def _some(words: Sequence[str]) -> str:
    return ", ".join(f"'{word[:40]}'" for word in words[:FEW]) + (" ..." if len(words) > FEW else "")

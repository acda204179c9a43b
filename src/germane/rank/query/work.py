"""How much a query makes a search do beyond its ranking: an estimate from document frequencies, made before it is done.

The unit is a look: one document of usual length opened at one word's places, as a phrase or a word in one field needs
it, about half a microsecond; a longer one takes in proportion. Who serves strangers allows so many
(`Engine.max_looks`).
"""

from collections.abc import Iterator

from germane.rank.models.base import RankingModel
from germane.rank.models.evidence import EvidenceModel
from germane.rank.query.conditions import And, Condition, HoldsAny, Not, Or, Phrase
from germane.rank.query.filters import FieldFilter, HasValue, StartsWith
from germane.rank.query.resolve import ParsedQuery
from germane.rank.retriever import Retriever
from germane.rank.scoring.statistics import CollectionStatistics, Need

PHRASE, MOVED_PHRASE, FIELD = 1, 4, 3
"""Looks for each document that may hold a phrase; one with moves; for each that holds a word which is to be in one
field."""
POSTINGS, VALUES, SAME, TERM = 64, 16, 500, 100
"""So many postings, or documents whose values are compared with bounds, or with one value more, take a look's time; a
term takes that of so many looks."""


USUAL_LENGTH = 200
"""Tokens of a document that is opened in a look's time."""


def looks(parsed: ParsedQuery, retriever: Retriever, model: RankingModel | None) -> int:
    """The looks of a search for this query."""
    terms = dict.fromkeys(parsed.weights)
    for condition in parsed.conditions:
        terms |= dict.fromkeys(_terms(condition))
    known = retriever.statistics(Need(tuple(terms)))
    df = sum(known.terms[term].df for term in parsed.weights)
    if isinstance(model, EvidenceModel):
        ranking = int(model.looks * df * (_length(known) if model.places else 1.0))
    else:
        ranking = df // POSTINGS
    return ranking + sum(_looks(condition, known) for condition in parsed.conditions)


def _length(known: CollectionStatistics) -> float:
    """How many times as long as usual the documents are, on average."""
    return max(1.0, known.n_tokens / max(known.n_docs, 1) / USUAL_LENGTH)


def _terms(condition: Condition) -> Iterator[str]:
    """The terms that a condition names."""
    match condition:
        case And(parts) | Or(parts):
            for part in parts:
                yield from _terms(part)
        case Not(part):
            yield from _terms(part)
        case Phrase(terms) | HoldsAny(terms):
            yield from terms


def _looks(condition: Condition, known: CollectionStatistics) -> int:
    match condition:
        case And(parts) | Or(parts):
            return sum(_looks(part, known) for part in parts)
        case Not(part):
            return _looks(part, known)
        case Phrase(terms, slop):
            rarest = min((known.terms[term].df for term in terms), default=0)
            return int(rarest * (MOVED_PHRASE if slop else PHRASE) * _length(known))
        case HoldsAny(terms, field):
            df = sum(known.terms[term].df for term in terms)
            return int(df * FIELD * _length(known)) if field is not None else df // POSTINGS + TERM * len(terms)
        case HasValue(_, values):
            return known.n_docs // VALUES + len(values) * known.n_docs // SAME
        case FieldFilter() | StartsWith():
            return known.n_docs // VALUES

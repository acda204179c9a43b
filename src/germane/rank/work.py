"""How much a query makes a search do beyond its ranking: an estimate from document frequencies, made before it is done.

The unit is a look: one document of usual length opened at one word's places, as a phrase or a word in one field needs
it, about half a microsecond; a longer one takes in proportion. Who serves strangers allows so many
(`Engine.max_looks`).
"""

from germane.index.snapshot import Snapshot
from germane.rank.conditions import And, Condition, HoldsAny, Not, Or, Phrase
from germane.rank.evidence import EvidenceModel
from germane.rank.filters import FieldFilter, HasValue, StartsWith
from germane.rank.models import RankingModel
from germane.rank.query import ParsedQuery

PHRASE, MOVED_PHRASE, FIELD = 1, 4, 3
"""Looks for each document that may hold a phrase; one with moves; for each that holds a word which is to be in one
field."""
POSTINGS, VALUES, SAME, TERM = 64, 16, 500, 100
"""So many postings, or documents whose values are compared with bounds, or with one value more, take a look's time; a
term takes that of so many looks."""


USUAL_LENGTH = 200
"""Tokens of a document that is opened in a look's time."""


def looks(parsed: ParsedQuery, snapshot: Snapshot, model: RankingModel | None) -> int:
    """The looks of a search for this query."""
    df = sum(stats.df for stats in snapshot.term_stats([*parsed.weights]))
    if isinstance(model, EvidenceModel):
        ranking = int(model.looks * df * (_length(snapshot) if model.places else 1.0))
    else:
        ranking = df // POSTINGS
    return ranking + sum(_looks(condition, snapshot) for condition in parsed.conditions)


def _length(snapshot: Snapshot) -> float:
    """How many times as long as usual the documents are, on average."""
    return max(1.0, snapshot.n_tokens / max(snapshot.n_docs, 1) / USUAL_LENGTH)


def _looks(condition: Condition, snapshot: Snapshot) -> int:
    match condition:
        case And(parts) | Or(parts):
            return sum(_looks(part, snapshot) for part in parts)
        case Not(part):
            return _looks(part, snapshot)
        case Phrase(terms, slop):
            rarest = min((stats.df for stats in snapshot.term_stats(terms)), default=0)
            return int(rarest * (MOVED_PHRASE if slop else PHRASE) * _length(snapshot))
        case HoldsAny(terms, field):
            df = sum(stats.df for stats in snapshot.term_stats(terms))
            return int(df * FIELD * _length(snapshot)) if field is not None else df // POSTINGS + TERM * len(terms)
        case HasValue(_, values):
            return snapshot.n_docs // VALUES + len(values) * snapshot.n_docs // SAME
        case FieldFilter() | StartsWith():
            return snapshot.n_docs // VALUES

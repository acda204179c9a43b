"""Did you mean ...? A noisy channel over the collection's own words.

argmax_w P(w|C) · P(typed|w): the language model is the collection's, the channel allows two edits (insertion, deletion,
substitution, transposition), each of probability EDIT. A word the collection knows well is left alone.
"""

import math

import numpy as np

from germane.index.snapshot import Snapshot
from germane.rank import kernels
from germane.text import Analyzer, tokenize

EDIT = 1e-3
RARE = 3
"""A known word is only replaced if fewer documents hold it than this, and the better word is far commoner."""
LONGEST = 64


def suggest(snapshot: Snapshot, analyzer: Analyzer, query: str) -> str | None:
    """The query with each unknown (or suspiciously rare) word replaced by its best correction; None if none is."""
    tokens = tokenize(query)
    corrected = [_correct(snapshot, analyzer, token) for token in tokens]
    return " ".join(corrected) if corrected != tokens else None


def _correct(snapshot: Snapshot, analyzer: Analyzer, token: str) -> str:
    term = analyzer.term_of(token)
    typed = token.encode()
    if term is None or len(token) < 3 or len(typed) > LONGEST or any(c.isdigit() for c in token):
        return token
    known = snapshot.term_stats([term])[0]
    if known.df >= RARE:
        return token
    best, best_score = token, math.log(known.cf / snapshot.n_tokens) if known.cf else -math.inf
    most = 1 if len(token) < 5 else 2
    for live in snapshot.segments:
        container = live.segment.container
        distance = np.empty(live.segment.n_terms, np.uint8)
        kernels.edit_distances(
            container["term_bytes"],
            container["term_offsets"],
            container["surface_bytes"],
            container["surface_offsets"],
            np.frombuffer(typed, np.uint8),
            most,
            distance,
        )
        for number in np.flatnonzero(distance <= most).tolist():
            candidate = live.segment.surface(number)
            stats = snapshot.term_stats([live.segment.term(number)])[0]
            if stats.cf == 0 or stats.df < max(RARE, 10 * known.df):
                continue
            score = math.log(stats.cf / snapshot.n_tokens) + int(distance[number]) * math.log(EDIT)
            if (score, candidate) > (best_score, best):
                best, best_score = candidate, score
    return best

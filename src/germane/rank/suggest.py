"""Did you mean ...? A noisy channel over the collection's own words.

argmax_w P(w|C) · P(typed|w): the language model is the collection's, the channel is `germane.lm.noisy_channel`, within
two edits. A word the collection knows well is left alone.
"""

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from germane.index.segment import Segment
from germane.index.snapshot import Snapshot
from germane.index.strings import unpack_strings
from germane.lazy import LazyModule, is_few
from germane.lm.noisy_channel import Candidate, Lexicon, edits_allowed, log_channel, most_probable
from germane.text import Analyzer, tokenize

if TYPE_CHECKING:
    from germane.rank import suggest_kernels
else:
    suggest_kernels = LazyModule("germane.rank.suggest_kernels")

RARE = 3
"""A known word is only replaced if fewer documents hold it than this, and the better word is far commoner."""


def suggest(snapshot: Snapshot, analyzer: Analyzer, query: str) -> str | None:
    """The query with each unknown (or suspiciously rare) word replaced by its best correction; None if none is."""
    tokens = tokenize(query)
    corrected = [_correct(snapshot, analyzer, token) for token in tokens]
    return " ".join(corrected) if corrected != tokens else None


def _correct(snapshot: Snapshot, analyzer: Analyzer, token: str) -> str:
    term, most = analyzer.term_of(token), edits_allowed(token)
    if term is None or most == 0:
        return token
    known = snapshot.term_stats([term])[0]
    if known.df >= RARE:
        return token
    as_typed = math.log(known.cf / snapshot.n_tokens) if known.cf else -math.inf
    candidates = [Candidate(token, as_typed, log_channel(0))]
    for live in snapshot.segments:
        distance = edit_distances(live.segment, token, most)
        for number in np.flatnonzero(distance <= most).tolist():
            stats = snapshot.term_stats([live.segment.term(number)])[0]
            if stats.cf > 0 and stats.df >= max(RARE, 10 * known.df):
                log_prior = math.log(stats.cf / snapshot.n_tokens)
                candidates.append(
                    Candidate(live.segment.surface(number), log_prior, log_channel(int(distance[number])))
                )
    return most_probable(candidates).word


def edit_distances(segment: Segment, token: str, most: int) -> npt.NDArray[np.uint8]:
    """Edits between the token and each term's written form, counted in bytes, at most `most` + 1."""
    typed, terms, surfaces = token.encode(), segment.packed("term"), segment.packed("surface")
    if is_few(len(terms[0])):
        pairs = zip(unpack_strings(*surfaces), unpack_strings(*terms), strict=True)
        bytewise = [(form or term).decode("latin-1") for form, term in pairs]  # a character for each byte
        near = dict(Lexicon(bytewise).within(typed.decode("latin-1"), most))
        return np.array([near.get(form, most + 1) for form in bytewise], np.uint8)
    found = np.empty(segment.n_terms, np.uint8)
    suggest_kernels.edit_distances(*terms, *surfaces, np.frombuffer(typed, np.uint8), most, found)
    return found

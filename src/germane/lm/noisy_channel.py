"""The noisy channel: a word was meant, a mangled one arrived.

    meant = argmax_w P(w) · P(typed|w)

P(w) is a language model, P(typed|w) the channel: what hands do to words. This module is the channel and the argmax;
whoever calls brings the language model (a collection's words in `germane.rank.suggest`, bigrams in
`germane.lm.spelling`). An edit inserts, deletes or replaces one character, or exchanges two neighbours.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

EDIT = 1e-3
"""The probability of one edit. About one word in some hundreds is mistyped, and a given way to mistype is rarer."""
SHORTEST, LONGEST = 3, 64
"""Words of fewer characters have too many neighbours, of more bytes too few, to be guessed at."""


class Candidate(NamedTuple):
    """A word that may have been meant, log P(w), and log P(typed|w)."""

    word: str
    log_prior: float
    log_channel: float

    @property
    def score(self) -> float:
        """log P(w) + log P(typed|w)."""
        return self.log_prior + self.log_channel


def edits_allowed(typed: str) -> int:
    """How many edits to look for: 2, in words of three or four characters 1, in numbers and outside the bounds 0."""
    if len(typed) < SHORTEST or len(typed.encode()) > LONGEST or any(c.isdigit() for c in typed):
        return 0
    return 1 if len(typed) < 5 else 2


def log_channel(edits: int, edit: float = EDIT) -> float:
    """log P(typed|w) = k·log ε for k edits of probability ε.

    Departure from a true distribution: 1 is written for the chance of no error at all, and the many ways to make k
    errors share no mass, so it does not sum to 1 over all that might be typed. It is the same for all w but for k.
    """
    return edits * math.log(edit)


def most_probable(candidates: Iterable[Candidate]) -> Candidate:
    """argmax_w P(w)·P(typed|w); of equals the last in the alphabet."""
    return max(candidates, key=lambda candidate: (candidate.score, candidate.word))


class Lexicon:
    """Words laid out so that one typed word can be compared with all of them at once.

    >>> Lexicon(["minutes", "minuets", "hours"]).within("minutse", 1)
    [('minutes', 1)]
    """

    def __init__(self, words: Iterable[str]) -> None:
        by_length: dict[int, list[str]] = {}
        for word in sorted(set(words)):
            by_length.setdefault(len(word), []).append(word)
        self._groups = {m: (group, _characters(group, m)) for m, group in by_length.items()}

    def within(self, typed: str, most: int) -> list[tuple[str, int]]:
        """The words at most that many edits from `typed`, and how many; shorter words first, then by the alphabet."""
        found = []
        for m in range(len(typed) - most, len(typed) + most + 1):
            if m in self._groups:
                words, characters = self._groups[m]
                distances = _edit_distances(typed, characters)
                found += [(words[i], int(distances[i])) for i in np.flatnonzero(distances <= most)]
        return found


def _characters(words: Sequence[str], length: int) -> npt.NDArray[np.int32]:
    """Words of one length as columns of code points: row j holds the j-th character of every word."""
    return np.array([[ord(c) for c in word] for word in words], np.int32).reshape(len(words), length).T.copy()


def _edit_distances(typed: str, words: npt.NDArray[np.int32]) -> npt.NDArray[np.int16]:
    """The number of edits from `typed` to each column of `words`, no part of which is edited twice.

    d(i,j) = min(d(i-1,j)+1, d(i,j-1)+1, d(i-1,j-1)+[a_i≠b_j], d(i-2,j-2)+1 if a_{i-1} a_i = b_j b_{j-1}).
    Source: Damerau (1964), Wagner & Fischer (1974). One row d(i,·) of the table is filled for all words at once.
    """
    m, n_words = words.shape
    older = last = np.tile(np.arange(m + 1, dtype=np.int16)[:, None], n_words)
    same_before = np.zeros(words.shape, bool)
    for i, character in enumerate(map(ord, typed), start=1):
        same = words == character
        now = np.empty_like(last)
        now[0] = i
        now[1:] = np.minimum(last[1:] + 1, last[:-1] + ~same)
        if i > 1:  # the last two typed are two neighbours exchanged
            exchanged = same[:-1] & same_before[1:]
            now[2:] = np.where(exchanged, np.minimum(now[2:], older[:-2] + 1), now[2:])
        for j in range(1, m + 1):
            np.minimum(now[j], now[j - 1] + 1, out=now[j])
        older, last, same_before = last, now, same
    return last[m]

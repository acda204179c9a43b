"""Spelling correction in context: a noisy channel whose language model is a chain of words."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.lm.bigram import EDGE, BigramModel
from germane.lm.noisy_channel import EDIT, Candidate, Lexicon, edits_allowed, log_channel
from germane.lm.parameters import fraction, positive, whole

REMEMBERED = 1 << 14
"""Typed words whose candidates are kept: text repeats itself, and a lexicon takes milliseconds to search."""


class Speller:
    """The most probable sentence behind a typed one: argmax_{w_1…w_n} Π_i P(w_i|w_{i-1}) · P(typed_i|w_i).

    Source: Lecture ("Spelling correction: P(about 15 minutes) > P(about 15 minuets)"); the channel is
    `noisy_channel.log_channel`, the maximum is found by Viterbi's recursion. Words are replaced by words, one for one:
    none is split, joined or dropped. Known words are corrected too where the context asks for it. Of the candidates of
    one word only the `beam` best by P(w)·P(typed|w) go on to the recursion, and the typed word itself.
    """

    def __init__(self, model: BigramModel, *, edit: float = EDIT, beam: int = 20) -> None:
        positive("edit", fraction("edit", edit))
        self.model = model
        self.edit = edit
        self.beam = whole("beam", beam, least=1)
        self._lexicon = Lexicon(model.words)
        self._candidates = lru_cache(maxsize=REMEMBERED)(self._find_candidates)

    def candidates(self, typed: str, before: str = EDGE, after: str | None = None) -> list[Candidate]:
        """What may have been meant, the best first: log P(w|before), with log P(after|w) if given, and the channel."""
        words, channel = self._candidates(typed)
        prior = self.model.given(before, words)
        if after is not None:
            prior = prior + np.array([self.model.given(word, [after])[0] for word in words])
        found = map(Candidate, words, prior.tolist(), channel.tolist())
        return sorted(found, key=lambda candidate: (-candidate.score, candidate.word))

    def correct(self, typed: Sequence[str]) -> list[str]:
        """The corrected words, as many as were typed. Words are given as the model's are: same tokeniser, same case."""
        if isinstance(typed, str):
            raise ParameterError(f"correct takes a list of words, not the text {typed!r}: cut it first")
        # best[i] is the log-probability of the best path to candidate i; `back` remembers whence it came.
        path, back = [[EDGE]], []
        best: Floats = np.zeros(1)
        for word in [*typed, EDGE]:
            words, channel = self._candidates(word)
            steps = np.array([self.model.given(before, words) for before in path[-1]]) + best[:, None]
            back.append(steps.argmax(axis=0))
            best = steps.max(axis=0) + channel
            path.append(words)
        place, found = 0, []
        for words, origin in zip(reversed(path[1:]), reversed(back), strict=True):
            found.append(words[place])
            place = origin[place]
        return found[:0:-1]  # backwards, and without the end

    def _find_candidates(self, typed: str) -> tuple[list[str], Floats]:
        """The words that may have been meant and log P(typed|w); ties of equal probability go to the first."""
        most = edits_allowed(typed)
        near = self._lexicon.within(typed, most) if most else []
        words = [typed, *(word for word, edits in near if edits > 0)]
        channel = np.array([0.0, *(log_channel(edits, self.edit) for _, edits in near if edits > 0)])
        order = np.argsort(-(self.model.unigram(words[1:]) + channel[1:]), kind="stable")[: self.beam] + 1
        keep = [0, *order.tolist()]
        return [words[i] for i in keep], channel[keep]

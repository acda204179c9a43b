"""When is it time to stop reading?"""

import math
from dataclasses import dataclass

import numpy as np

from germane.arrays import Mask
from germane.errors import ParameterError
from germane.refine.screening.hypergeometric import Silence, draws_needed, level, most_left, p_none, silence
from germane.refine.screening.sampling import may_be_missed


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Stop or go on, why in a sentence, and the test behind it.

    `p_value`: the probability of a silence as long as this were recall below the target; None where nothing is tested.
    One stops when it falls to `level`. `needed`: how many more documents without a relevant one that takes.
    """

    stop: bool
    reason: str
    p_value: float | None
    target: float
    confidence: float
    level: float | None = None
    needed: int | None = None

    def __str__(self) -> str:
        return f"{'Stop' if self.stop else 'Go on'}: {self.reason}"


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """Stop when so long a silence since the last find would be too rare, were recall below `target`.

    Recall is below the target if at least k = ⌊r/target⌋ + 1 - r relevant documents are unread, where r were found.
    P₀(k), the probability that as many draws as were read since the last find held none of them (`p_none`), is compared
    with a level chosen so that all finds after which one might stop too early share 1 - confidence
    (`hypergeometric.level`). There is one test for each find, so that it may be looked at after every document.

    What is assumed: each document proposed is at least as likely relevant as one drawn at random from the unread
    (omega = 1), or omega times as likely in odds (omega > 1, a stronger assumption that saves more reading). It fails
    if relevant documents are of a kind that the ranking puts last.

    `sample`: assume nothing. When reading has gone quiet, the rest is read in random order (`sampling`), and only that
    reading is tested.
    """

    target: float = 0.95
    confidence: float = 0.95
    omega: float = 1.0
    sample: bool = False

    def __post_init__(self) -> None:
        for name in ("target", "confidence"):
            if not 0.0 < getattr(self, name) < 1.0:
                raise ParameterError(f"{name} must lie strictly between 0 and 1, not {getattr(self, name)}")
        if not (math.isfinite(self.omega) and self.omega >= 1.0):
            raise ParameterError(f"omega must be a number from 1 (as good as random reading), not {self.omega}")
        if self.sample and self.omega != 1.0:
            raise ParameterError("omega is about the proposed order, and a random sample has none: choose one of both")

    @property
    def alpha(self) -> float:
        """The probability of stopping too early that is allowed."""
        return 1.0 - self.confidence

    def recommend(self, n_docs: int, decisions: Mask, past: Silence | None = None) -> Recommendation:
        """What to do after `decisions` on documents of `n_docs`, in order of reading.

        `past` is the silence that is tested: since the last find, unless another is given (that of a sample).
        """
        n_read, found = len(decisions), int(decisions.sum())
        if n_read >= n_docs:
            return self._answer(True, "every document has been read")
        if not found:
            return self._answer(False, "no relevant document has been found yet")
        past = silence(n_docs, decisions) if past is None else past
        k = may_be_missed(found, self.target) + 1
        wanted = level(k, self.alpha)
        unread, relevant = np.array([past.unread]), np.array([k + past.known])
        p = float(p_none(unread, relevant, np.array([past.drawn]), self.omega)[0])
        more = int(draws_needed(unread, relevant, np.array([wanted]), self.omega)[0]) - past.drawn
        if p <= wanted:
            claim = f"recall of {self.target:.0%} with {self.confidence:.0%} confidence"
            since = (
                f"{past.drawn:,} read since without one" if not self.sample else f"none in {past.drawn:,} drawn since"
            )
            return self._answer(True, f"{claim} ({found:,} found, {since})", p, wanted, 0)
        kind = "drawn at random" if self.sample else "in this order"
        reason = f"{more:,} more {kind} without a relevant one would do ({n_docs - n_read:,} are unread)"
        return self._answer(False, reason, p, wanted, more)

    def before_the_sample(self) -> Recommendation:
        """The advice while reading has not gone quiet: no sample, no test."""
        return self._answer(False, "the random sample begins when reading has gone quiet")

    def first_stop(self, n_docs: int, decisions: Mask, start: int = 0) -> int:
        """After how many documents reading in this order would have been stopped first; n_docs if never.

        Only silences from `start` on count: where a random sample begins.
        """
        finds = np.flatnonzero(decisions) + 1
        first = int((finds <= start).sum())
        found = np.arange(max(first, 1), len(finds) + 1)  # so many were found when the silence began
        if not len(found):
            return n_docs
        since = np.maximum(finds[found - 1], start)
        until = np.append(finds, len(decisions) + 1)[found]
        k = np.floor(found / self.target + 1e-9).astype(np.int64) + 1 - found
        levels = np.array([level(int(each), self.alpha) for each in k])
        stops = since + draws_needed(n_docs - since, k, levels, self.omega)
        return int(min([n_docs, *stops[stops < until]]))

    def most_left(self, n_docs: int, decisions: Mask, past: Silence | None = None) -> int:
        """The largest number of relevant unread documents that this look does not reject."""
        past = silence(n_docs, decisions) if past is None else past
        return most_left(past, n_docs - len(decisions), self.alpha, self.omega)

    def _answer(
        self, stop: bool, reason: str, p: float | None = None, wanted: float | None = None, needed: int | None = None
    ) -> Recommendation:
        return Recommendation(stop, reason, p, self.target, self.confidence, wanted, needed)

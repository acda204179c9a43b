"""When is it time to stop reading?"""

import math
from dataclasses import dataclass

from germane.arrays import Mask
from germane.errors import ParameterError
from germane.refine.screening.hypergeometric import least_p, windows

FIRST_CHECK = 20
"""No test before so many documents were read."""
CHECKS = 100
"""The test is made each time another hundredth of the collection was read: the more looks, the more false alarms."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Stop or go on, why in a sentence, and the p-value of the last check (None before the first)."""

    stop: bool
    reason: str
    p_value: float | None
    checked_at: int
    target: float
    confidence: float

    def __str__(self) -> str:
        return f"{'Stop' if self.stop else 'Go on'}: {self.reason}"


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """Stop when recall below `target` is rejected with `confidence` by a window of the reading.

    H₀: recall < target, that is, at least R₀ = ⌊r/target⌋ + 1 relevant documents in all where r were found. For every
    window of the reading (`hypergeometric`) p = P(X ≤ found in it | R₀); stop where the least p is below
    1 - confidence.

    What is assumed: from the start of the window on, the proposed order finds relevant documents at least as readily as
    drawing at random would (omega = 1), or with omega times the odds (omega > 1, a stronger assumption that saves more
    reading). It fails if relevant documents are of a kind the ranking has learnt to put last. Taking the smallest p of
    many windows and looking up to a hundred times makes the level nominal, not exact; what holds it up is that a
    ranking is better than random. docs/screening.md has what came of it in simulations.
    """

    target: float = 0.95
    confidence: float = 0.95
    omega: float = 1.0

    def __post_init__(self) -> None:
        for name in ("target", "confidence"):
            if not 0.0 < getattr(self, name) < 1.0:
                raise ParameterError(f"{name} must lie strictly between 0 and 1, not {getattr(self, name)}")
        if not (math.isfinite(self.omega) and self.omega >= 1.0):
            raise ParameterError(f"omega must be a number from 1 (as good as random reading), not {self.omega}")

    def p_value(self, n_docs: int, decisions: Mask) -> float:
        """The smallest p of all windows against H₀: recall < target."""
        r = int(decisions.sum())
        fewest = math.floor(r / self.target + 1e-9) + 1
        return least_p(windows(n_docs, decisions), fewest - r, self.omega)

    def recommend(self, n_docs: int, decisions: Mask) -> Recommendation:
        """What to do after `decisions` on documents of `n_docs`, in order of reading."""
        n_read, found = len(decisions), int(decisions.sum())
        if n_read >= n_docs:
            return self._answer(True, "every document has been read", None, n_read)
        if not found:
            return self._answer(False, "no relevant document has been found yet", None, 0)
        checks = [t for t in checkpoints(n_docs) if t <= n_read]
        if n_docs <= FIRST_CHECK:
            return self._answer(False, f"a list of {n_docs} documents is read to its end", None, 0)
        if not checks:
            return self._answer(False, f"the first check comes after {FIRST_CHECK} documents", None, 0)
        at = checks[-1]
        p = self.p_value(n_docs, decisions[:at])
        claim = f"recall of {self.target:.0%} with {self.confidence:.0%} confidence"
        if decisions[at:].any():
            reason = f"a relevant document has been found since the last check, after {at:,} documents"
            return self._answer(False, reason, p, at)
        if p < 1.0 - self.confidence:
            return self._answer(True, f"{claim} ({found:,} found in {n_read:,} read, p = {p:.2g})", p, at)
        return self._answer(False, f"too few have been read for {claim} (p = {p:.2g} at {at:,} read)", p, at)

    def first_stop(self, n_docs: int, decisions: Mask) -> int:
        """After how many documents reading in this order would have been stopped first; n_docs if never."""
        for t in checkpoints(n_docs):
            if t <= len(decisions) and self.recommend(n_docs, decisions[:t]).stop:
                return t
        return n_docs

    def _answer(self, stop: bool, reason: str, p: float | None, at: int) -> Recommendation:
        return Recommendation(stop, reason, p, at, self.target, self.confidence)


def checkpoints(n_docs: int) -> range:
    """After how many documents the test is made: 20, and then each hundredth of the collection."""
    return range(FIRST_CHECK, n_docs, max(1, n_docs // CHECKS))

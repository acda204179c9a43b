"""The parts of a latent model's score, as plain values; `explaining.py` computes them."""

from typing import NamedTuple


class LatentSource(NamedTuple):
    """Where the latent part of a word comes from: a word of the title, or a topic by its strongest title words.

    `weight`: of a translation P(q|w) n(w, d)/|d|, of a topic P(q|φ_z) P(z|θ^d), of a projection what the pair of words
    adds to the cosine.
    """

    name: str
    weight: float


class LatentPart(NamedTuple):
    """What one word of the query gave: `literal` because the title has it, `latent` because of other words.

    Of a generative model both are shares of P_s(q|d), of a projection they add up to the impact.
    """

    word: str
    weight: float
    literal: float
    latent: float
    impact: float
    sources: tuple[LatentSource, ...]


class LatentExplanation(NamedTuple):
    """score = constant + Σ impacts."""

    constant: float
    parts: tuple[LatentPart, ...]

    @property
    def score(self) -> float:
        """The parts added up."""
        return self.constant + sum(part.impact for part in self.parts)

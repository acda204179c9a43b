"""S2Net: a projection learnt so that a query is nearer to its title than to others, Clicks §4.2 and appendix B.

    Δ = sim_A(Q, D_1) - sim_A(Q, D_2),   L = log(1 + exp(-γΔ))          Clicks (21)
    sim_A(Q, D) = Q̂·D̂ / (√(‖Q̂‖² + ε²) √(‖D̂‖² + ε²)),  Q̂ = A^T Q     Clicks (20), softened

Printed as in (31), (35) and (36) the gradient is wrong: dL/dΔ = -γ/(1 + exp(γΔ)), and the outer factor of the norms'
derivatives is the term vector. Without ε it explodes for queries whose words project near 0.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from germane.arrays import AnyArray
from germane.errors import InputError
from germane.latent.backends.cpu import CPU
from germane.latent.backends.protocol import Triples
from germane.latent.pairs import Pairs, check_above, check_count, check_share
from germane.latent.projection import LSA, ProjectionModel, inverse_frequencies, weighted

OnEpoch = Callable[[int, float], None]
"""called after each epoch with its number and the validation loss"""


class _Adam:
    """Kingma & Ba (2015), with their constants."""

    def __init__(self, rate: float, like: AnyArray) -> None:
        self._rate, self._step = rate, 0
        self._mean, self._square = np.zeros_like(like), np.zeros_like(like)

    def step(self, matrix: AnyArray, gradient: AnyArray) -> None:
        """Move the matrix in place."""
        self._step += 1
        self._mean += 0.1 * (gradient - self._mean)
        self._square += 0.001 * (gradient * gradient - self._square)
        rate = self._rate * np.sqrt(1 - 0.999**self._step) / (1 - 0.9**self._step)
        matrix -= (rate * self._mean / (np.sqrt(self._square) + 1e-8)).astype(matrix.dtype)


@dataclass(frozen=True)
class S2Net:
    """From the LSA matrix, by Adam, until the loss on held-out queries has not fallen for `patience` epochs.

    Negatives are titles of other pairs of the batch. `validation`: the share of queries (not of pairs) held out.
    """

    n_dimensions: int = 100
    n_negatives: int = 4
    gamma: float = 10.0
    softness: float = 1.0
    rate: float = 3e-3
    batch: int = 1024
    n_epochs: int = 60
    patience: int = 3
    validation: float = 0.05
    literal_weight: float = 0.5
    random_state: int = 0

    def __post_init__(self) -> None:
        for name in ("n_dimensions", "n_negatives", "n_epochs", "patience"):
            check_count(name, getattr(self, name))
        check_count("batch", self.batch, 2)
        check_count("random_state", self.random_state, 0)
        for name in ("gamma", "rate", "softness"):
            check_above(name, getattr(self, name), 0)
        check_share("validation", self.validation)
        check_share("literal_weight", self.literal_weight)

    def fit(self, pairs: Pairs, *, on_epoch: OnEpoch | None = None) -> ProjectionModel:
        """The matrix of the epoch with the least validation loss."""
        idf = inverse_frequencies(pairs)
        rng = np.random.default_rng(self.random_state)
        start = LSA(self.n_dimensions, random_state=self.random_state).fit(pairs).matrix
        n_words = len(pairs.vocabulary)
        sides = [weighted(side, idf, n_words).astype(np.float32) for side in (pairs.queries, pairs.titles)]
        training, held_out = self._split(pairs, rng)
        validation = self._triples(pairs, sides, held_out, rng)
        matrix, best, least, since = start.copy(), start, np.inf, 0
        adam, backend = _Adam(self.rate, matrix), CPU()
        for epoch in range(self.n_epochs):
            order = rng.permutation(training)
            for rows in np.array_split(order, max(len(order) // self.batch, 1)):
                found = backend.gradient(matrix, self._triples(pairs, sides, rows, rng), self.gamma, self.softness)
                adam.step(matrix, found.gradient / max(found.weight, 1e-12))
            checked = backend.gradient(matrix, validation, self.gamma, self.softness)
            loss = checked.loss / max(checked.weight, 1e-12)
            if on_epoch is not None:
                on_epoch(epoch, loss)
            best, least, since = (matrix.copy(), loss, 0) if loss < least else (best, least, since + 1)
            if since == self.patience:
                break
        return ProjectionModel(pairs.vocabulary, idf, best, self.literal_weight, self.softness)

    def _split(self, pairs: Pairs, rng: np.random.Generator) -> tuple[AnyArray, AnyArray]:
        """The pairs to learn from and those of held-out queries; both need two queries at least."""
        n_queries = int(pairs.asked.max()) + 1
        n_held_out = max(round(self.validation * n_queries), 2)
        if n_queries < 4:
            raise InputError(f"S2Net needs pairs of 4 different queries at least, not {n_queries}")
        held_out = np.isin(pairs.asked, rng.permutation(n_queries)[:n_held_out])
        return np.flatnonzero(~held_out), np.flatnonzero(held_out)

    def _triples(
        self, pairs: Pairs, sides: list[sparse.csr_array], rows: AnyArray, rng: np.random.Generator
    ) -> Triples:
        """The pairs of a batch, with the titles of others in it: cyclic shifts, of an order that is random."""
        mixed, asked = rng.permutation(rows), pairs.asked
        shifts = rng.integers(1, max(len(mixed), 2), self.n_negatives)
        others = [np.roll(np.arange(len(mixed)), shift) for shift in shifts.tolist()]
        valid = [asked[mixed] != asked[mixed[other]] for other in others]
        return Triples(sides[0][mixed], sides[1][mixed], pairs.weights[mixed], others, valid)

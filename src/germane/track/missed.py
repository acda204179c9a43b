"""What is missed? From a sample of near misses that somebody judged, the share of on-topic documents kept back.

Documents are split by normalised score: those delivered, five layers of 0.15 each below the threshold T_d, and the
rest. Of every layer a small sample is kept to be judged, chosen by lot. On-topic documents fall into these layers by
shares π ~ Dirichlet(`PRIOR`), known from other topics; h of the delivered ones are on topic; r of m judged in layer j:

    N ~ Gamma(h + ½)/π_0,   o_j = N·π_j,   r_j ~ Binomial(m_j, o_j/n_j),   P_miss = Σ_j o_j/(h + Σ_j o_j)

The posterior is drawn by importance sampling: shares from the prior, weighed by the judgements' likelihood.
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from germane.arrays import Floats, Integers
from germane.errors import ParameterError
from germane.lm.parameters import open_fraction

BIN, BINS_A_LAYER = 0.05, 3
"""The width of a bin of scores; a layer is three of them."""
N_LAYERS = 6
"""Layers below the decision threshold: five, and the rest."""
PRIOR = (1.41, 0.15, 0.15, 0.15, 0.15, 0.15, 0.15)
"""Dirichlet parameters of the shares: of what is delivered, then of the layers from the threshold down."""
DRAWS = 4_000


class Layer(NamedTuple):
    """Documents of one layer: how many there are, how many were judged, how many of these are on topic."""

    documents: int
    judged: int = 0
    on_topic: int = 0


class Interval(NamedTuple):
    """An estimate and its interval of credibility."""

    estimate: float
    low: float
    high: float


class Missed(NamedTuple):
    """P_miss and P_fa of SD (6.1), and the number of on-topic documents kept back."""

    p_miss: Interval
    p_fa: Interval
    n_missed: Interval


def depths_of(scores: Floats, decision: float | Floats) -> Integers:
    """How many bins a normalised score lies below the threshold: 0 just below, -1 at it or just above."""
    depths: Integers = np.floor((decision - scores) / BIN).astype(np.int64)
    return np.where(scores >= decision, np.minimum(depths, -1), np.maximum(depths, 0))


def layers_of(scores: Floats, decision: float | Floats) -> Integers:
    """The layer of each normalised score: -1 delivered, 0 just below the threshold, `N_LAYERS` - 1 far below."""
    depths = depths_of(scores, decision)
    return np.where(depths < 0, -1, np.minimum(depths // BINS_A_LAYER, N_LAYERS - 1))


def lot_of(document: str) -> float:
    """A number in [0, 1) drawn by lot for a document, the same whenever it is drawn."""
    return int.from_bytes(hashlib.sha256(document.encode("utf-8", "surrogatepass")).digest()[:7], "big") / 2.0**56


def estimate_missed(
    delivered: Layer,
    below: Sequence[Layer],
    *,
    prior: Sequence[float] = PRIOR,
    confidence: float = 0.9,
    random_state: int = 0,
) -> Missed:
    """P_miss, P_fa and the number missed, each with an interval; the layers from the threshold down.

    What is judged in a layer must have been chosen by lot. Delivered documents that nobody judged are on topic with the
    share of those judged.
    """
    tail = (1.0 - open_fraction("confidence", confidence)) / 2.0
    rng = np.random.default_rng(random_state)
    drawn = _posterior(delivered, below, prior, rng)
    sizes, judged, on = _columns(below)
    missed = (on + rng.binomial((sizes - judged).astype(np.int64), drawn.expected / np.maximum(sizes, 1.0))).sum(axis=1)
    others = delivered.documents + sizes.sum() - drawn.hits - missed

    def interval(values: Floats) -> Interval:
        order = np.argsort(values, kind="stable")
        places = np.searchsorted(np.cumsum(drawn.weight[order]), [tail, 1.0 - tail])
        low, high = values[order[np.minimum(places, len(values) - 1)]].tolist()
        return Interval(float(drawn.weight @ values), low, high)

    return Missed(
        interval(missed / np.maximum(missed + drawn.hits, 1.0)),
        interval((delivered.documents - drawn.hits) / np.maximum(others, 1.0)),
        interval(missed),
    )


def to_judge(
    delivered: Layer, below: Sequence[Layer], n: int, *, prior: Sequence[float] = PRIOR, random_state: int = 0
) -> list[int]:
    """Of `n` documents to be judged next, how many from each layer: where the number on topic is least certain.

    One after another, to the layer with the greatest posterior deviation of o_j over the root of what is chosen there.
    """
    drawn = _posterior(delivered, below, prior, np.random.default_rng(random_state))
    sizes, judged, _ = _columns(below)
    deviation = np.sqrt(drawn.weight @ (drawn.expected - drawn.weight @ drawn.expected) ** 2)
    chosen = np.zeros(len(sizes), np.int64)
    for _ in range(n):
        worth = np.where(judged + chosen < sizes, deviation / np.sqrt(1.0 + chosen), -1.0)
        if worth.max() < 0.0:
            break
        chosen[int(np.argmax(worth))] += 1
    counts: list[int] = chosen.tolist()
    return counts


class _Drawn(NamedTuple):
    """Draws: h of what is delivered, o_j of every layer, and the weight of each draw."""

    hits: Floats
    expected: Floats
    weight: Floats


def _posterior(delivered: Layer, below: Sequence[Layer], prior: Sequence[float], rng: np.random.Generator) -> _Drawn:
    if len(below) != N_LAYERS or len(prior) != N_LAYERS + 1:
        raise ParameterError(f"there are {N_LAYERS} layers below the threshold")
    for layer in (delivered, *below):
        if not 0 <= layer.on_topic <= layer.judged <= layer.documents:
            raise ParameterError(f"a layer of {layer.documents} cannot have {layer.judged} judged, {layer.on_topic} on")
    sizes, judged, on = _columns(below)
    share = rng.beta(delivered.on_topic + 0.5, delivered.judged - delivered.on_topic + 0.5, DRAWS)
    hits = delivered.on_topic + rng.binomial(delivered.documents - delivered.judged, share).astype(np.float64)
    shares = rng.dirichlet(prior, DRAWS)
    total = rng.gamma(hits + 0.5) / np.maximum(shares[:, 0], 1e-9)
    expected = np.minimum(total[:, None] * shares[:, 1:], sizes)
    rate = np.clip(expected / np.maximum(sizes, 1.0), 1e-12, 1.0 - 1e-12)
    likelihood = (on * np.log(rate) + (judged - on) * np.log1p(-rate)).sum(axis=1)
    weight = np.exp(likelihood - likelihood.max())
    return _Drawn(hits, expected, weight / weight.sum())


def _columns(layers: Sequence[Layer]) -> tuple[Floats, Floats, Floats]:
    sizes, judged, on = np.array(layers, np.float64).T
    return sizes, judged, on

"""Pairs drawn from known topics."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from germane.latent import Pairs
from germane.text import Analyzer

N_TOPICS, WORDS_A_TOPIC, N_PAIRS = 4, 6, 1200


class Planted(NamedTuple):
    """Pairs, and the words of each topic on both sides, topics × vocabulary."""

    pairs: Pairs
    query: NDArray[np.float64]
    title: NDArray[np.float64]


def plant() -> Planted:
    """Topics of their own words, with others on each side; a pair has one or two topics."""
    rng = np.random.default_rng(5)
    query = rng.dirichlet(np.ones(WORDS_A_TOPIC), N_TOPICS)
    title = rng.dirichlet(np.ones(WORDS_A_TOPIC), N_TOPICS)
    rows = []
    for _ in range(N_PAIRS):
        theta = rng.dirichlet(np.full(N_TOPICS, 0.1))
        texts = []
        for side, phi, length in (("q", query, 4), ("d", title, 9)):
            topics = rng.choice(N_TOPICS, length, p=theta)
            texts.append(" ".join(f"{side}{z}x{rng.choice(WORDS_A_TOPIC, p=phi[z])}" for z in topics))
        rows.append((texts[0], texts[1], float(rng.integers(1, 3))))
    pairs = Pairs.build(rows, Analyzer("none", "none"))
    tables = []
    for side, phi in (("q", query), ("d", title)):
        table = np.zeros((N_TOPICS, len(pairs.vocabulary)))
        for (topic, number), value in np.ndenumerate(phi):
            if (word := f"{side}{topic}x{number}") in pairs.vocabulary.ids:
                table[topic, pairs.vocabulary.ids[word]] = value
        tables.append(table)
    return Planted(pairs, *tables)

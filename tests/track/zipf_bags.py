"""Random bags by Zipf's law, some alike, most not, and a background that knows most of their words."""

import numpy as np

from germane.track import Background, Bag


def zipf_bags(rng, n, n_words=60, length=25):
    """Words drawn by Zipf's law from one of four orders of them."""
    shares = 1.0 / np.arange(1, n_words + 1)
    orders = [rng.permutation(n_words) for _ in range(4)]
    bags = []
    for _ in range(n):
        drawn = orders[rng.integers(4)][rng.choice(n_words, rng.integers(1, length), p=shares / shares.sum())]
        terms, counts = np.unique(drawn, return_counts=True)
        bags.append(Bag(terms.astype(np.int64), counts.astype(np.float64)))
    return bags


def zipf_background(rng, n=40):
    """A background that knows some of the words."""
    return Background.of(zipf_bags(rng, n, n_words=50))

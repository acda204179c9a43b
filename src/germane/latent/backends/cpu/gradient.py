"""The gradient of S2Net by sparse and dense matrix products, Clicks (31)-(36) with their errata."""

from typing import NamedTuple

import numpy as np

from germane.arrays import AnyArray
from germane.latent.backends.protocol import Triples
from germane.latent.statistics import GradientStatistics


class _Unit(NamedTuple):
    """Rows divided by their soft norms, and 1/norm of each."""

    rows: AnyArray
    scale: AnyArray

    @classmethod
    def of(cls, projected: AnyArray, softness: float) -> "_Unit":
        scale = 1 / np.sqrt((projected * projected).sum(axis=1, keepdims=True) + softness**2)
        return cls(projected * scale, scale)

    def gradient(self, of_rows: AnyArray) -> AnyArray:
        """The gradient in the rows before: (I - u u^T) g / norm."""
        along = (self.rows * of_rows).sum(axis=1, keepdims=True)
        return np.asarray((of_rows - self.rows * along) * self.scale)


def gradient(matrix: AnyArray, triples: Triples, gamma: float, softness: float) -> GradientStatistics:
    """Loss and gradient, Clicks (31)-(36) with their errata."""
    query = _Unit.of(triples.queries @ matrix, softness)
    title = _Unit.of(triples.titles @ matrix, softness)
    products = (query.rows * title.rows).sum(axis=1)
    of_query, of_title = np.zeros_like(query.rows), np.zeros_like(title.rows)
    loss = total = 0.0
    for other, valid in zip(triples.others, triples.valid, strict=True):
        weight = triples.weights * valid
        margin = gamma * (products - (query.rows * title.rows[other]).sum(axis=1))
        loss += float(weight @ np.logaddexp(0, -margin))
        total += float(weight.sum())
        slope = (-gamma * weight * _sigmoid(-margin)).astype(matrix.dtype)[:, None]  # dL/dΔ
        of_query += slope * (title.rows - title.rows[other])
        of_title += slope * query.rows
        of_title[other] -= slope * query.rows
    found = triples.queries.T @ query.gradient(of_query) + triples.titles.T @ title.gradient(of_title)
    return GradientStatistics(loss, found, total)


def _sigmoid(x: AnyArray) -> AnyArray:
    return np.asarray(np.exp(-np.logaddexp(0, -x)))

# mypy: ignore-errors
"""Passes over the non-zero counts of a CSR matrix (indptr, indices, data): arrays in, arrays out, no checks.

A row is a document, f its counts and |D| their sum; `ratio[j]` is λ/((1-λ)θ^GE_j), so that the log ratio of a word is
log(1 + ratio[j]·f/|D|), SD (3.33), (4.29). A row that sums to 0 has none.
"""

import math

import numpy as np

from germane.jit import njit

_LARGE = 1e100
"""A product above it is turned into its logarithm."""


@njit(cache=True, nogil=True)
def column_sums(indptr, indices, data, weight, out):
    """out += weight @ X."""
    for d in range(indptr.size - 1):
        w = weight[d]
        for p in range(indptr[d], indptr[d + 1]):
            out[indices[p]] += w * data[p]


@njit(cache=True, nogil=True)
def class_sums(indptr, indices, data, number, weight, out):
    """out[k] += Σ of the rows d with number[d] == k, each times weight[d]; out is classes × columns."""
    for d in range(indptr.size - 1):
        w, row = weight[d], out[number[d]]
        for p in range(indptr[d], indptr[d + 1]):
            row[indices[p]] += w * data[p]


@njit(cache=True, nogil=True)
def class_log_sums(indptr, indices, data, ratio, number, weight, out):
    """out[k, j] += Σ_d weight[d]·log1p(ratio[j]·X[d, j]/|d|) over the rows d with number[d] == k."""
    for d in range(indptr.size - 1):
        w, row, start, end = weight[d], out[number[d]], indptr[d], indptr[d + 1]
        length = data[start:end].sum()
        if length > 0:
            for p in range(start, end):
                j = indices[p]
                row[j] += w * math.log1p(ratio[j] * data[p] / length)


@njit(cache=True, nogil=True)
def class_log_products(indptr, indices, data, ratio, number, order, out):
    """`class_log_sums` with weights 1, as SD (3.33) has it: multiply, and take one logarithm for each class and word.

    `order` are the rows by their number, so that the products of one class at a time stay in the cache. Of each product
    of factors 1+x the part above 1 is kept, q ← q + x(1+q), so that small ones lose no digits.
    """
    words = np.zeros((ratio.size, 2))  # a word's ratio and its q, side by side
    words[:, 0] = ratio
    for i in range(order.size):
        d = order[i]
        start, end = indptr[d], indptr[d + 1]
        sums, length = out[number[d]], data[start:end].sum()
        if length > 0:
            share = 1 / length
            for p in range(start, end):
                word = words[indices[p]]
                x, q = word[0] * (data[p] * share), word[1]
                product = q + x * (1 + q)
                if product > _LARGE:
                    sums[indices[p]] += math.log1p(q) + math.log1p(x)
                    product = 0.0
                word[1] = product
        if i + 1 == order.size or number[order[i + 1]] != number[d]:
            for j in range(ratio.size):
                if words[j, 1] != 0:
                    sums[j] += math.log1p(words[j, 1])
                    words[j, 1] = 0


@njit(cache=True, nogil=True)
def scaled_shares(indptr, indices, data, ratio, out):
    """out[p] = ratio[indices[p]]·data[p]/|d|, d the row of entry p; 0 in a row that sums to 0."""
    for d in range(indptr.size - 1):
        start, end = indptr[d], indptr[d + 1]
        length = data[start:end].sum()
        share = 1 / length if length > 0 else 0.0
        for p in range(start, end):
            out[p] = ratio[indices[p]] * (data[p] * share)


@njit(cache=True, nogil=True)
def geometric_means(sums, n_docs, theta, out):
    """out[j, k] = θ_j·exp(mean[k, j]), columns normalised to 1, where mean = sums / n_docs[:, None]; θ sums to 1.

    A class without documents (n_docs 0) is θ itself. `out` is columns × classes and holds zeros, `sums` is classes ×
    columns. Returns KL(out[:, k] ‖ θ) and Σ_j out[j, k]·mean[k, j] for each class k.
    """
    n_classes, n_columns = sums.shape
    # Totals are 1 + excess: classes differ from θ, and so from one another, by little, and 1 + excess would hide it.
    excess, own = np.zeros(n_classes), np.zeros(n_classes)
    for k in range(n_classes):
        if n_docs[k] > 0:
            scale, row = 1 / n_docs[k], sums[k]
            for j in range(n_columns):
                if row[j] != 0:
                    mean = row[j] * scale
                    gain = theta[j] * math.expm1(mean)
                    out[j, k] = gain
                    excess[k] += gain
                    own[k] += (theta[j] + gain) * mean
    shares = 1 / (1 + excess)
    for j in range(n_columns):
        for k in range(n_classes):
            out[j, k] = (theta[j] + out[j, k]) * shares[k]
    own *= shares
    return own - np.log1p(excess), own


@njit(cache=True, nogil=True)
def dcm_evidence(indptr, indices, data, alpha, log_alpha, out):
    """out[d, k] = Σ_j log Γ(α[j, k] + X[d, j]) - log Γ(α[j, k]) over the words of row d, SD (4.17)."""
    for d in range(indptr.size - 1):
        row = out[d]
        row[:] = 0
        for p in range(indptr[d], indptr[d + 1]):
            j, f = indices[p], data[p]
            for k in range(alpha.shape[1]):
                if f == 1:
                    row[k] += log_alpha[j, k]
                else:
                    row[k] += math.lgamma(alpha[j, k] + f) - math.lgamma(alpha[j, k])

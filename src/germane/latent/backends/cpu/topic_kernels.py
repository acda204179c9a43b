# mypy: ignore-errors
"""EM of topic models over rows of word ids: arrays in, arrays out, no checks.

Tables of topics are words × topics, so that one word's topics lie side by side, in rows padded with zeros (`lanes.py`).
All are of one type, single precision or double; sums over topics are added in any order, several at a time. `parts`
tells the width of rows to the compiler (`simd_kernels.py`).
"""

import math

import numpy as np
from numba.core import types
from numba.extending import overload

from germane.jit import allocating, inner, kernel
from germane.latent.backends.cpu.simd_kernels import (
    bits_of,
    dot,
    from_bits,
    load,
    multiply_add,
    plus_scaled,
    prefetch,
    scaled,
    store,
    times,
    total,
    zeros,
)  # fmt: skip

_SUMS = {"reassoc", "contract", "nsz"}
_TINY = 1e-30
_ROWS = 32
"""Rows that are added up before the sum is taken over into double precision."""


@kernel
def rarest_words(starts, words, frequency, least, out):
    """The rarest word of each text among those of a frequency of `least` or more; -1 where there is none."""
    for i in range(out.size):
        out[i] = -1
        for at in range(starts[i], starts[i + 1]):
            w = words[at]
            if frequency[w] >= least and (out[i] < 0 or frequency[w] < frequency[out[i]]):
                out[i] = w


@allocating
def fill_tiles(starts, words, counts, order, size, tile_starts, tile_words, tile_members, tile_counts):
    """The entries of the texts of each tile, in the order of their words."""
    for k in range(tile_starts.size - 1):
        first, n = tile_starts[k], tile_starts[k + 1] - tile_starts[k]
        keys, at = np.empty(n, np.int64), 0
        member, place = np.empty(n, np.uint8), np.empty(n, np.int64)
        for j in range(min(size, order.size - k * size)):
            row = order[k * size + j]
            for entry in range(starts[row], starts[row + 1]):
                keys[at] = (np.int64(words[entry]) << 32) | at
                member[at], place[at] = j, entry
                at += 1
        keys.sort()
        for i in range(n):
            at = keys[i] & 0xFFFFFFFF
            tile_words[first + i] = words[place[at]]
            tile_members[first + i] = member[at]
            tile_counts[first + i] = counts[place[at]]


@inner
def _next_word(words, at, end):
    """The entry at which another word begins."""
    w = words[at]
    while at < end and words[at] == w:
        at += 1
    return at


@inner(fastmath=_SUMS)
def _add_tile(side, k, base, weights, phi, theta, phi_sums, sums, objective, parts):
    """The E-step of one side of the tile that begins with pair `base`.

    `phi_sums` (members × topics) grows by Σ_w n(w) φ(w)/P(w|θ), `sums` by Σ weight · n(w) θ/P(w|θ). A word's rows stay
    at hand for all its entries, while those of the word after the next are asked for. Returns
    Σ weight · n(w) log P(w|θ), if the objective is asked for.
    """
    starts, words, members, counts = side
    tiny, likelihood = theta.dtype.type(_TINY), 0.0
    at, end = starts[k], starts[k + 1]
    if at == end:
        return likelihood
    then = _next_word(words, at, end)
    while at < end:
        w, after = words[at], then
        if then < end:
            then = _next_word(words, then, end)
            if then < end:
                prefetch(phi, words[then], parts)
                prefetch(sums, words[then], parts)
        phi_w, sums_w = load(phi, w, parts), load(sums, w, parts)
        while at < after:
            j = members[at]
            weight, theta_i = weights[base + j], load(theta, base + j, parts)
            probability = dot(phi_w, theta_i) + tiny
            if objective:
                likelihood += weight * counts[at] * math.log(probability)
            share = counts[at] / probability
            store(phi_sums, j, plus_scaled(load(phi_sums, j, parts), share, phi_w))
            sums_w = plus_scaled(sums_w, share * weight, theta_i)
            at += 1
        store(sums, w, sums_w)
    return likelihood


@inner
def _log_prior(theta, n_topics, pseudo):
    """(α-1) Σ_z log θ_z."""
    found = 0.0
    for z in range(n_topics):
        found += math.log(theta[z] + _TINY)
    return pseudo * found


@allocating
def theta_sums(
    queries, titles, weights, phi_q, phi_d, theta, n_topics, alpha, size, first, last, sums_q, sums_d, objective, parts
):  # fmt: skip
    """One E-step over the tiles first..last of `size` pairs: Clicks (4), (5), and (8), which is written over `theta`.

    `sums_q` and `sums_d` (words × topics) grow by Σ weight · n(w) θ_z / P(w|θ): times φ_z(w) these are the expected
    counts Σ weight · N_{w,z} of Clicks (6) and (7), φ being the same for all pairs. Returns the log-likelihood before
    the step with (α-1) Σ log θ; 0 without `objective`, since logarithms take their time.
    """
    phi_sums, pseudo = np.zeros((size, theta.shape[1]), theta.dtype), _pseudo_counts(theta, n_topics, alpha - 1)
    found = 0.0
    for k in range(first, last):
        base, n = k * size, min(size, theta.shape[0] - k * size)
        found += _add_tile(queries, k, base, weights, phi_q, theta, phi_sums, sums_q, objective, parts)
        found += _add_tile(titles, k, base, weights, phi_d, theta, phi_sums, sums_d, objective, parts)
        for j in range(n):
            if objective:
                found += weights[base + j] * _log_prior(theta[base + j], n_topics, alpha - 1)
            _theta(phi_sums, j, theta, base + j, pseudo, parts)
    return found


@inner(fastmath=_SUMS)
def _theta(phi_sums, j, theta, i, pseudo, parts):
    """Clicks (8): θ_z = (α-1 + θ_z Σ_w n(w) φ_z(w)/P(w|θ)) / Σ_z' ...; the sums are 0 afterwards.

    `pseudo` is a table of one row, α-1 for every topic.
    """
    found = multiply_add(load(theta, i, parts), load(phi_sums, j, parts), load(pseudo, 0, parts))
    store(theta, i, scaled(theta.dtype.type(1) / total(found), found))
    store(phi_sums, j, zeros(theta, parts))


@allocating
def _pseudo_counts(theta, n_topics, pseudo):
    made = np.zeros((1, theta.shape[1]), theta.dtype)
    made[0, :n_topics] = pseudo
    return made


@kernel
def clear_rows(sums, seen, parts):
    """sums = 0 in the rows of the words that a side has."""
    for w in range(seen.size):
        if seen[w]:
            store(sums, w, zeros(sums, parts))


@kernel
def add_rows(sums, others, seen, parts):
    """sums += others in the rows of the words that a side has."""
    one = sums.dtype.type(1)
    for w in range(seen.size):
        if seen[w]:
            store(sums, w, plus_scaled(load(sums, w, parts), one, load(others, w, parts)))


@kernel
def multiply_rows(sums, phi, seen, parts):
    """sums *= φ in the rows of the words that a side has: expected counts of what `theta_sums` gives."""
    for w in range(seen.size):
        if seen[w]:
            store(sums, w, times(load(sums, w, parts), load(phi, w, parts)))


@allocating
def normalise_words(expected, seen, pseudo, n_topics, out, parts):
    """Clicks (6), (7): φ_z(w) = (N_{w,z} + β-1) / Σ_w' (N_{w',z} + β-1) over the words that a side has."""
    sums, one, n_rows = np.zeros(n_topics), out.dtype.type(1), 0
    some, table = zeros(out, parts), np.zeros((1, out.shape[1]), out.dtype)
    for w in range(seen.size):
        if seen[w]:
            some = plus_scaled(some, one, load(expected, w, parts))
            n_rows += 1
        if n_rows == _ROWS or w == seen.size - 1:  # a few rows in the tables' precision, all of them in double
            store(table, 0, some)
            for z in range(n_topics):
                sums[z] += np.float64(table[0, z]) + n_rows * pseudo
            some, n_rows = zeros(out, parts), 0
    scales, added = np.zeros((1, out.shape[1]), out.dtype), _pseudo_counts(out, n_topics, pseudo)
    for z in range(n_topics):
        scales[0, z] = 1 / sums[z] if sums[z] > 0 else 1
        added[0, z] *= scales[0, z]
    scale, add = load(scales, 0, parts), load(added, 0, parts)
    for w in range(seen.size):
        if seen[w]:
            store(out, w, multiply_add(load(expected, w, parts), scale, add))


# -- posterior regularisation -----------------------------------------------------------------------------------------


@inner(fastmath=_SUMS)
def _log_single(x):
    """log x of a normal single above 0, to its last bit or two; without a branch, so that many are done at once.

    x = 2^e m with m in [√½, √2), and a polynomial for log m (Cephes, `logf`).
    """
    one, half = np.float32(1), np.float32(0.5)
    bits = bits_of(x)
    exponent = (bits - np.int32(0x3F3504F3)) >> np.int32(23)
    r = from_bits(np.int32(bits - (exponent << np.int32(23)))) - one
    y = np.float32(7.0376836292e-2)
    y = y * r - np.float32(1.1514610310e-1)
    y = y * r + np.float32(1.1676998740e-1)
    y = y * r - np.float32(1.2420140846e-1)
    y = y * r + np.float32(1.4249322787e-1)
    y = y * r - np.float32(1.6668057665e-1)
    y = y * r + np.float32(2.0000714765e-1)
    y = y * r - np.float32(2.4999993993e-1)
    y = y * r + np.float32(3.3333331174e-1)
    e = np.float32(exponent)
    return (r + (y * r * r * r - e * np.float32(2.12194440e-4) - half * r * r)) + e * np.float32(0.693359375)


@inner(fastmath=_SUMS)
def _exp_single(x):
    """exp x within ±87, to its last bit or two: 2^n times a polynomial (Cephes, `expf`)."""
    x = min(max(x, np.float32(-87)), np.float32(87))
    n = np.float32(math.floor(x * np.float32(1.44269504088896341) + np.float32(0.5)))
    r = (x - n * np.float32(0.693359375)) + n * np.float32(2.12194440e-4)
    y = np.float32(1.9875691500e-4)
    y = y * r + np.float32(1.3981999507e-3)
    y = y * r + np.float32(8.3334519073e-3)
    y = y * r + np.float32(4.1665795894e-2)
    y = y * r + np.float32(1.6666665459e-1)
    y = y * r + np.float32(5.0000001201e-1)
    return (y * r * r + r + np.float32(1)) * from_bits((np.int32(n) + np.int32(127)) << np.int32(23))


def _power(x, exponent):
    """x^exponent for x > 0: of singles by many at once, of doubles exactly."""
    raise NotImplementedError


@overload(_power, inline="always")
def _(x, exponent):
    if x == types.float32:
        return lambda x, exponent: _exp_single(exponent * _log_single(x))
    return lambda x, exponent: math.exp(exponent * math.log(x))


@inner(fastmath=_SUMS)
def _posteriors(starts, words, counts, row, phi, theta, out, objective, parts):
    """Clicks (4) for every word of a text; returns Σ_w n(w) log P(w|θ), if the objective is asked for."""
    likelihood, tiny = 0.0, theta.dtype.type(_TINY)
    for at in range(starts[row], starts[row + 1]):
        found = times(load(phi, words[at], parts), load(theta, row, parts))
        probability = total(found) + tiny
        if objective:
            likelihood += counts[at] * math.log(probability)
        store(out, at - starts[row], scaled(theta.dtype.type(1) / probability, found))
    return likelihood


@inner(fastmath=_SUMS)
def _fractions(starts, counts, row, length, posteriors, factors, sums, out, parts):
    """out_t = (1/|x|) Σ_w n(w) P'(t|w) with P' ∝ P·factor, Clicks (10), (11), (13); sums_w = Z of each word.

    `factors` and `out` are tables of one row.
    """
    found, factor = zeros(out, parts), load(factors, 0, parts)
    for at in range(starts[row + 1] - starts[row]):
        posterior = load(posteriors, at, parts)
        sums[at] = dot(posterior, factor)
        found = plus_scaled(found, counts[starts[row] + at] / (length * sums[at]), posterior)
    store(out, 0, times(found, factor))


@inner
def _largest_gap(a, b):
    gap = a.dtype.type(0)
    for z in range(a.size):
        gap = max(gap, abs(a[z] - b[z]))
    return gap


@inner(fastmath=_SUMS)
def _move(e_q, e_d, factor_q, factor_d, share_q, small):
    """One fixed-point step for every topic: λ_t += (log E_q[t] - log E_d[t]) / (1/|q| + 1/|d|).

    factor_q = exp(-λ/|q|) is multiplied by (E_q/E_d)^-s with s = (1/|q|)/(1/|q| + 1/|d|), factor_d = exp(λ/|d|) by
    (E_q/E_d)^(1-s).
    """
    one, tiny = e_q.dtype.type(1), e_q.dtype.type(_TINY)
    for z in range(e_q.size):
        ratio = (e_q[z] + tiny) / (e_d[z] + tiny)
        ratio = ratio if max(e_q[z], e_d[z]) > small else one  # others agree as it is
        power = _power(ratio, -share_q)
        factor_q[z] *= power
        factor_d[z] *= power * ratio


@inner
def project(
    queries, titles, row, posteriors_q, posteriors_d, factor_q, factor_d, sums_q, sums_d, e_q, e_d, steps, tol, parts
):
    """Project the posteriors of a pair so that its topic fractions agree, Clicks (9)-(13).

    The fixed-point step (`_move`) instead of the gradient's (12). Ends when all fractions agree within `tol`, or after
    `steps`; returns the steps made.
    """
    length_q, length_d = factor_q.dtype.type(0), factor_q.dtype.type(0)
    for at in range(queries[0][row], queries[0][row + 1]):
        length_q += queries[2][at]
    for at in range(titles[0][row], titles[0][row + 1]):
        length_d += titles[2][at]
    factor_q[:] = 1
    factor_d[:] = 1
    share_q = length_d / (length_q + length_d)  # (1/|q|) / (1/|q| + 1/|d|)
    small = factor_q.dtype.type(0.1 * tol)
    step = 0
    while True:
        _fractions(queries[0], queries[2], row, length_q, posteriors_q, factor_q, sums_q, e_q, parts)
        _fractions(titles[0], titles[2], row, length_d, posteriors_d, factor_d, sums_d, e_d, parts)
        if step == steps or _largest_gap(e_q[0], e_d[0]) <= tol:
            return step
        _move(e_q[0], e_d[0], factor_q[0], factor_d[0], share_q, small)
        step += 1


@inner(fastmath=_SUMS)
def _add_projected(starts, words, counts, row, weight, posteriors, factors, sums, theta_sums, expected, parts):
    """The expected counts of a text under P' ∝ P·factor."""
    one, theta_sum, factor = expected.dtype.type(1), load(theta_sums, 0, parts), load(factors, 0, parts)
    for at in range(starts[row], starts[row + 1]):
        place, w = at - starts[row], words[at]
        p = scaled(counts[at] / sums[place], times(load(posteriors, place, parts), factor))
        theta_sum = plus_scaled(theta_sum, one, p)
        store(expected, w, plus_scaled(load(expected, w, parts), weight, p))
    store(theta_sums, 0, theta_sum)


@inner
def _divergence(starts, counts, row, fractions, factor, sums):
    """KL(P'‖P) of a text's words: |x| Σ_t E[t] log factor_t - Σ_w n(w) log Z_w, Clicks (28)."""
    found, length = 0.0, 0.0
    for at in range(starts[row], starts[row + 1]):
        found -= counts[at] * math.log(sums[at - starts[row]])
        length += counts[at]
    for z in range(factor.size):
        if fractions[z] > 0:
            found += length * fractions[z] * math.log(factor[z])
    return found


@inner
def _longest(starts, first, last):
    longest = 1
    for i in range(first, last):
        longest = max(longest, starts[i + 1] - starts[i])
    return longest


@allocating
def projected_counts(
    queries, titles, weights, phi_q, phi_d, theta, n_topics, alpha, first, last, expected_q, expected_d, objective,
    steps, tol, parts
):  # fmt: skip
    """One E-step with posterior regularisation: expected counts under the projected posteriors, Clicks §3.2.

    Returns the objective, the log-likelihood with (α-1) Σ log θ less KL(P'‖P), and the steps of all projections.
    """
    width = theta.shape[1]
    of_q = np.empty((_longest(queries[0], first, last), width), theta.dtype)
    of_d = np.empty((_longest(titles[0], first, last), width), theta.dtype)
    sums_q, sums_d = np.empty(of_q.shape[0], theta.dtype), np.empty(of_d.shape[0], theta.dtype)
    factor_q, factor_d = np.empty((1, width), theta.dtype), np.empty((1, width), theta.dtype)
    e_q, e_d = np.empty((1, width), theta.dtype), np.empty((1, width), theta.dtype)
    theta_sum = np.empty((1, width), theta.dtype)
    value, n_steps = 0.0, 0
    for i in range(first, last):
        theta_sum[:] = alpha - 1
        weight = theta.dtype.type(weights[i])
        found = _posteriors(*queries, i, phi_q, theta, of_q, objective, parts)
        found += _posteriors(*titles, i, phi_d, theta, of_d, objective, parts)
        n_steps += project(
            queries, titles, i, of_q, of_d, factor_q, factor_d, sums_q, sums_d, e_q, e_d, steps, tol, parts
        )
        if objective:
            found += _log_prior(theta[i], n_topics, alpha - 1)
            found -= _divergence(queries[0], queries[2], i, e_q[0], factor_q[0], sums_q)
            found -= _divergence(titles[0], titles[2], i, e_d[0], factor_d[0], sums_d)
        value += weight * found
        _add_projected(*queries, i, weight, of_q, factor_q, sums_q, theta_sum, expected_q, parts)
        _add_projected(*titles, i, weight, of_d, factor_d, sums_d, theta_sum, expected_d, parts)
        _normalise(theta_sum[0], theta[i], n_topics)
    return value, n_steps


@inner(fastmath=_SUMS)
def _normalise(sums, out, n_topics):
    """out = sums / Σ sums."""
    found = out.dtype.type(0)
    for z in range(n_topics):
        found += sums[z]
    scale = out.dtype.type(1) / found
    for z in range(n_topics):
        out[z] = sums[z] * scale


@allocating
def fold_in(titles, phi_d, n_topics, alpha, iterations, first, last, theta, parts):
    """θ of titles first..last by EM with φ^d fixed, from uniform: Clicks (5), (8) without a query."""
    starts, words, counts = titles
    one, tiny = theta.dtype.type(1), theta.dtype.type(_TINY)
    phi_sums, pseudo = np.zeros((1, theta.shape[1]), theta.dtype), _pseudo_counts(theta, n_topics, alpha - 1)
    for i in range(first, last):
        theta[i, :n_topics] = one / n_topics
        for _ in range(iterations):
            theta_i, phi_sum = load(theta, i, parts), zeros(theta, parts)
            for at in range(starts[i], starts[i + 1]):
                phi_w = load(phi_d, words[at], parts)
                phi_sum = plus_scaled(phi_sum, counts[at] / (dot(phi_w, theta_i) + tiny), phi_w)
            store(phi_sums, 0, phi_sum)
            _theta(phi_sums, 0, theta, i, pseudo, parts)

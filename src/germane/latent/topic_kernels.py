"""EM of topic models over rows of word ids: arrays in, arrays out, no checks.

Tables of topics are words × topics, so that one word's topics lie side by side, in rows padded with zeros (`lanes.py`).
All are of one type, single precision or double; sums over topics are added in any order, several at a time.
"""

import math

import numpy as np
from numba.core import types
from numba.extending import overload

from germane.jit import allocating, inner, kernel
from germane.latent.lanes import LANES
from germane.latent.simd import bits_of, from_bits, load, multiply_add, prefetch, spread, store, times, total

_SUMS = {"reassoc", "contract", "nsz"}
_TINY = 1e-30
_AHEAD = 4
"""Entries of a tile between the row that is asked for and the one at work."""
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
def _ask_for(words, at, end, phi, sums):
    """Prefetch the rows of an entry's word, if it is another word than that before it."""
    if at < end and words[at] != words[at - 1]:
        for z in range(0, phi.shape[1], LANES):
            prefetch(phi, words[at], z)
            prefetch(sums, words[at], z)


@inner(fastmath=_SUMS)
def _probability(phi, w, theta, i):
    """P(w|θ) = Σ_z φ_z(w) θ_z."""
    found = spread(theta.dtype.type(0))
    for z in range(0, theta.shape[1], LANES):
        found = multiply_add(load(phi, w, z), load(theta, i, z), found)
    return total(found)


@inner(fastmath=_SUMS)
def _add_tile(side, k, base, weights, phi, theta, phi_sums, sums, objective):
    """The E-step of one side of the tile that begins with pair `base`.

    `phi_sums` (members × topics) grows by Σ_w n(w) φ(w)/P(w|θ), `sums` by Σ weight · n(w) θ/P(w|θ). Two entries of one
    word are visited together. Returns Σ weight · n(w) log P(w|θ), if the objective is asked for.
    """
    starts, words, members, counts = side
    tiny, likelihood, width = theta.dtype.type(_TINY), 0.0, theta.shape[1]
    at, end = starts[k], starts[k + 1]
    while at < end:
        w, j = words[at], members[at]
        i = base + j
        _ask_for(words, at + _AHEAD, end, phi, sums)
        if at + 1 < end and words[at + 1] == w:
            _ask_for(words, at + _AHEAD + 1, end, phi, sums)
            j2 = members[at + 1]
            i2 = base + j2
            p, p2 = spread(tiny), spread(tiny)
            for z in range(0, width, LANES):
                phi_w = load(phi, w, z)
                p, p2 = multiply_add(phi_w, load(theta, i, z), p), multiply_add(phi_w, load(theta, i2, z), p2)
            probability, probability2 = total(p), total(p2)
            if objective:
                likelihood += weights[i] * counts[at] * math.log(probability)
                likelihood += weights[i2] * counts[at + 1] * math.log(probability2)
            share, share2 = counts[at] / probability, counts[at + 1] / probability2
            s, s2 = spread(share), spread(share2)
            v, v2 = spread(share * weights[i]), spread(share2 * weights[i2])
            for z in range(0, width, LANES):
                phi_w = load(phi, w, z)
                store(phi_sums, j, z, multiply_add(s, phi_w, load(phi_sums, j, z)))
                store(phi_sums, j2, z, multiply_add(s2, phi_w, load(phi_sums, j2, z)))
                both = multiply_add(v, load(theta, i, z), multiply_add(v2, load(theta, i2, z), load(sums, w, z)))
                store(sums, w, z, both)
            at += 2
        else:
            probability = _probability(phi, w, theta, i) + tiny
            if objective:
                likelihood += weights[i] * counts[at] * math.log(probability)
            share = counts[at] / probability
            s, v = spread(share), spread(share * weights[i])
            for z in range(0, width, LANES):
                store(phi_sums, j, z, multiply_add(s, load(phi, w, z), load(phi_sums, j, z)))
                store(sums, w, z, multiply_add(v, load(theta, i, z), load(sums, w, z)))
            at += 1
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
    queries, titles, weights, phi_q, phi_d, theta, n_topics, alpha, size, first, last, sums_q, sums_d, objective
):
    """One E-step over the tiles first..last of `size` pairs: Clicks (4), (5), and (8), which is written over `theta`.

    `sums_q` and `sums_d` (words × topics) grow by Σ weight · n(w) θ_z / P(w|θ): times φ_z(w) these are the expected
    counts Σ weight · N_{w,z} of Clicks (6) and (7), φ being the same for all pairs. Returns the log-likelihood before
    the step with (α-1) Σ log θ; 0 without `objective`, since logarithms take their time.
    """
    phi_sums, pseudo = np.zeros((size, theta.shape[1]), theta.dtype), _pseudo_counts(theta, n_topics, alpha - 1)
    found = 0.0
    for k in range(first, last):
        base, n = k * size, min(size, theta.shape[0] - k * size)
        found += _add_tile(queries, k, base, weights, phi_q, theta, phi_sums, sums_q, objective)
        found += _add_tile(titles, k, base, weights, phi_d, theta, phi_sums, sums_d, objective)
        for j in range(n):
            if objective:
                found += weights[base + j] * _log_prior(theta[base + j], n_topics, alpha - 1)
            _theta(phi_sums, j, theta, base + j, pseudo)
    return found


@inner(fastmath=_SUMS)
def _theta(phi_sums, j, theta, i, pseudo):
    """Clicks (8): θ_z = (α-1 + θ_z Σ_w n(w) φ_z(w)/P(w|θ)) / Σ_z' ...; the sums are 0 afterwards.

    `pseudo` is a table of one row, α-1 for every topic.
    """
    zero = theta.dtype.type(0)
    found, one = spread(zero), spread(theta.dtype.type(1))
    for z in range(0, theta.shape[1], LANES):
        each = multiply_add(load(theta, i, z), load(phi_sums, j, z), load(pseudo, 0, z))
        store(theta, i, z, each)
        found = multiply_add(each, one, found)
    scale = spread(theta.dtype.type(1) / total(found))
    for z in range(0, theta.shape[1], LANES):
        store(theta, i, z, times(load(theta, i, z), scale))
        store(phi_sums, j, z, spread(zero))


@allocating
def _pseudo_counts(theta, n_topics, pseudo):
    made = np.zeros((1, theta.shape[1]), theta.dtype)
    made[0, :n_topics] = pseudo
    return made


@kernel
def multiply_rows(sums, phi, seen):
    """sums *= φ in the rows of the words that a side has: expected counts of what `theta_sums` gives."""
    for w in range(seen.size):
        if seen[w]:
            for z in range(0, phi.shape[1], LANES):
                store(sums, w, z, times(load(sums, w, z), load(phi, w, z)))


@allocating
def normalise_words(expected, seen, pseudo, n_topics, out):
    """Clicks (6), (7): φ_z(w) = (N_{w,z} + β-1) / Σ_w' (N_{w',z} + β-1) over the words that a side has."""
    width, sums = out.shape[1], np.zeros(n_topics)
    add, some = _pseudo_counts(out, n_topics, pseudo), np.zeros((1, out.shape[1]), out.dtype)
    one, at_once = spread(out.dtype.type(1)), 0
    for w in range(seen.size):
        if seen[w]:
            for z in range(0, width, LANES):
                store(some, 0, z, multiply_add(load(expected, w, z), one, load(some, 0, z)))
            at_once += 1
        if at_once == _ROWS or w == seen.size - 1:  # a few rows in the tables' precision, all of them in double
            for z in range(n_topics):
                sums[z] += np.float64(some[0, z]) + at_once * pseudo
                some[0, z] = 0
            at_once = 0
    scale = np.zeros((1, width), out.dtype)
    for z in range(n_topics):
        scale[0, z] = 1 / sums[z] if sums[z] > 0 else 1
        add[0, z] *= scale[0, z]
    for w in range(seen.size):
        if seen[w]:
            for z in range(0, width, LANES):
                store(out, w, z, multiply_add(load(expected, w, z), load(scale, 0, z), load(add, 0, z)))


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
def _posteriors(starts, words, counts, row, phi, theta, out, objective):
    """Clicks (4) for every word of a text; returns Σ_w n(w) log P(w|θ), if the objective is asked for."""
    likelihood = 0.0
    for at in range(starts[row], starts[row + 1]):
        found = spread(theta.dtype.type(_TINY))
        for z in range(0, theta.shape[1], LANES):
            p = times(load(phi, words[at], z), load(theta, row, z))
            store(out, at - starts[row], z, p)
            found = multiply_add(p, spread(theta.dtype.type(1)), found)
        probability = total(found)
        if objective:
            likelihood += counts[at] * math.log(probability)
        scale = spread(theta.dtype.type(1) / probability)
        for z in range(0, theta.shape[1], LANES):
            store(out, at - starts[row], z, times(load(out, at - starts[row], z), scale))
    return likelihood


@inner(fastmath=_SUMS)
def _fractions(starts, counts, row, length, posteriors, factor, sums, out):
    """out_t = (1/|x|) Σ_w n(w) P'(t|w) with P' ∝ P·factor, Clicks (10), (11), (13); sums_w = Z of each word.

    `factor` and `out` are tables of one row.
    """
    width, n = factor.shape[1], starts[row + 1] - starts[row]
    for z in range(0, width, LANES):
        store(out, 0, z, spread(factor.dtype.type(0)))
    for at in range(n):
        found = spread(factor.dtype.type(0))
        for z in range(0, width, LANES):
            found = multiply_add(load(posteriors, at, z), load(factor, 0, z), found)
        sums[at] = total(found)
        share = spread(counts[starts[row] + at] / (length * sums[at]))
        for z in range(0, width, LANES):
            store(out, 0, z, multiply_add(share, load(posteriors, at, z), load(out, 0, z)))
    for z in range(0, width, LANES):
        store(out, 0, z, times(load(out, 0, z), load(factor, 0, z)))


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
def project(queries, titles, row, posteriors_q, posteriors_d, factor_q, factor_d, sums_q, sums_d, e_q, e_d, steps, tol):
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
        _fractions(queries[0], queries[2], row, length_q, posteriors_q, factor_q, sums_q, e_q)
        _fractions(titles[0], titles[2], row, length_d, posteriors_d, factor_d, sums_d, e_d)
        if step == steps or _largest_gap(e_q[0], e_d[0]) <= tol:
            return step
        _move(e_q[0], e_d[0], factor_q[0], factor_d[0], share_q, small)
        step += 1


@inner(fastmath=_SUMS)
def _add_projected(starts, words, counts, row, weight, posteriors, factor, sums, theta_sum, expected):
    """The expected counts of a text under P' ∝ P·factor."""
    for at in range(starts[row], starts[row + 1]):
        place, w = at - starts[row], words[at]
        share = counts[at] / sums[place]
        s, v = spread(share), spread(weight)
        for z in range(0, factor.shape[1], LANES):
            p = times(s, times(load(posteriors, place, z), load(factor, 0, z)))
            store(theta_sum, 0, z, multiply_add(p, spread(factor.dtype.type(1)), load(theta_sum, 0, z)))
            store(expected, w, z, multiply_add(v, p, load(expected, w, z)))


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
    steps, tol
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
        found = _posteriors(*queries, i, phi_q, theta, of_q, objective)
        found += _posteriors(*titles, i, phi_d, theta, of_d, objective)
        n_steps += project(queries, titles, i, of_q, of_d, factor_q, factor_d, sums_q, sums_d, e_q, e_d, steps, tol)
        if objective:
            found += _log_prior(theta[i], n_topics, alpha - 1)
            found -= _divergence(queries[0], queries[2], i, e_q[0], factor_q[0], sums_q)
            found -= _divergence(titles[0], titles[2], i, e_d[0], factor_d[0], sums_d)
        value += weight * found
        _add_projected(*queries, i, weight, of_q, factor_q, sums_q, theta_sum, expected_q)
        _add_projected(*titles, i, weight, of_d, factor_d, sums_d, theta_sum, expected_d)
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
def fold_in(titles, phi_d, n_topics, alpha, iterations, first, last, theta):
    """θ of titles first..last by EM with φ^d fixed, from uniform: Clicks (5), (8) without a query."""
    starts, words, counts = titles
    one, tiny = theta.dtype.type(1), theta.dtype.type(_TINY)
    phi_sum, pseudo = np.zeros((1, theta.shape[1]), theta.dtype), _pseudo_counts(theta, n_topics, alpha - 1)
    for i in range(first, last):
        theta[i, :n_topics] = one / n_topics
        for _ in range(iterations):
            for at in range(starts[i], starts[i + 1]):
                share = spread(counts[at] / (_probability(phi_d, words[at], theta, i) + tiny))
                for z in range(0, theta.shape[1], LANES):
                    store(phi_sum, 0, z, multiply_add(share, load(phi_d, words[at], z), load(phi_sum, 0, z)))
            _theta(phi_sum, 0, theta, i, pseudo)

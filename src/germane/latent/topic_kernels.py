"""EM of topic models over rows of word ids: arrays in, arrays out, no checks.

Tables of topics are words × topics, so that one word's topics lie side by side. All are of one type, single precision
or double; sums over topics are added in any order (`reassoc`), so that they are done several at a time.
"""

import math

import numpy as np

from germane.jit import allocating, inner

_SUMS = {"reassoc", "contract", "nsz"}
_TINY = 1e-30


@inner(fastmath=_SUMS)
def _posterior(phi_w, theta, out):
    """out_z = φ_z(w) θ_z, Clicks (4) before it is divided by the sum, which is returned."""
    total = theta.dtype.type(0)
    for z in range(theta.size):
        p = phi_w[z] * theta[z]
        out[z] = p
        total += p
    return total


@inner(fastmath=_SUMS)
def _probability(phi_w, theta):
    """P(w|θ) = Σ_z φ_z(w) θ_z."""
    total = theta.dtype.type(0)
    for z in range(theta.size):
        total += phi_w[z] * theta[z]
    return total


@inner(fastmath=_SUMS)
def _add(phi_w, theta, share, weighted_share, phi_sum, theta_sums_w):
    """phi_sum += share·φ(w); theta_sums_w += weighted_share·θ."""
    for z in range(phi_sum.size):
        phi_sum[z] += share * phi_w[z]
        theta_sums_w[z] += weighted_share * theta[z]


@inner(fastmath=_SUMS)
def _add_row(starts, words, counts, row, weight, phi, theta, phi_sum, theta_sums, objective):
    """The E-step of one text; returns Σ_w n(w) log P(w|θ), if the objective is asked for."""
    likelihood = 0.0
    one = theta.dtype.type(1)
    for at in range(starts[row], starts[row + 1]):
        w = words[at]
        total = _probability(phi[w], theta)
        if objective:
            likelihood += counts[at] * math.log(total + _TINY)
        share = one * counts[at] / (total + theta.dtype.type(_TINY))
        _add(phi[w], theta, share, one * weight * share, phi_sum, theta_sums[w])
    return likelihood


@inner
def _log_prior(theta, pseudo):
    """(α-1) Σ_z log θ_z."""
    total = 0.0
    for z in range(theta.size):
        total += math.log(theta[z] + _TINY)
    return pseudo * total


@allocating
def theta_sums(queries, titles, weights, phi_q, phi_d, theta, alpha, first, last, sums_q, sums_d, objective):
    """One E-step over pairs first..last: Clicks (4), (5), and (8), which is written over `theta`.

    `sums_q` and `sums_d` (words × topics) grow by Σ weight · n(w) θ_z / P(w|θ): times φ_z(w) these are the expected
    counts Σ weight · N_{w,z} of Clicks (6) and (7), φ being the same for all pairs. Returns the log-likelihood before
    the step with (α-1) Σ log θ; 0 without `objective`, since logarithms take their time.
    """
    n_topics = theta.shape[1]
    phi_sum = np.empty(n_topics, theta.dtype)
    total = 0.0
    for i in range(first, last):
        phi_sum[:] = 0
        weight = weights[i]
        found = _add_row(*queries, i, weight, phi_q, theta[i], phi_sum, sums_q, objective)
        found += _add_row(*titles, i, weight, phi_d, theta[i], phi_sum, sums_d, objective)
        if objective:
            found += _log_prior(theta[i], alpha - 1)
        total += weight * found
        for z in range(n_topics):
            phi_sum[z] = alpha - 1 + theta[i, z] * phi_sum[z]
        _normalise(phi_sum, theta[i])
    return total


@inner(fastmath=_SUMS)
def _normalise(sums, out):
    """out = sums / Σ sums."""
    total = out.dtype.type(0)
    for z in range(sums.size):
        total += sums[z]
    scale = out.dtype.type(1) / total
    for z in range(sums.size):
        out[z] = sums[z] * scale


@inner
def _posteriors(starts, words, counts, row, phi, theta, out, objective):
    """Clicks (4) for every word of a text; returns Σ_w n(w) log P(w|θ), if the objective is asked for."""
    likelihood = 0.0
    for at in range(starts[row], starts[row + 1]):
        each = out[at - starts[row]]
        total = _posterior(phi[words[at]], theta, each)
        if objective:
            likelihood += counts[at] * math.log(total + _TINY)
        scale = theta.dtype.type(1) / (total + theta.dtype.type(_TINY))
        for z in range(theta.size):
            each[z] *= scale
    return likelihood


@inner(fastmath=_SUMS)
def _fractions(starts, counts, row, length, posteriors, factor, sums, out):
    """out_t = (1/|x|) Σ_w n(w) P'(t|w) with P' ∝ P·factor, Clicks (10), (11), (13); sums_w = Z of each word."""
    out[:] = 0
    for at in range(starts[row], starts[row + 1]):
        each = posteriors[at - starts[row]]
        total = factor.dtype.type(0)
        for z in range(factor.size):
            total += each[z] * factor[z]
        sums[at - starts[row]] = total
        share = factor.dtype.type(counts[at]) / (length * total)
        for z in range(factor.size):
            out[z] += share * (each[z] * factor[z])


@inner
def _largest_gap(a, b):
    gap = 0.0
    for z in range(a.size):
        gap = max(gap, abs(a[z] - b[z]))
    return gap


@inner
def project(queries, titles, row, posteriors_q, posteriors_d, factor_q, factor_d, sums_q, sums_d, e_q, e_d, steps, tol):
    """Project the posteriors of a pair so that its topic fractions agree, Clicks (9)-(13).

    factor_q = exp(-λ/|q|), factor_d = exp(λ/|d|), with the fixed-point step
    λ_t += (log E_q[t] - log E_d[t]) / (1/|q| + 1/|d|) instead of the gradient's (12). Ends when all fractions agree
    within `tol`, or after `steps`; returns the steps made.
    """
    length_q, length_d = factor_q.dtype.type(0), factor_q.dtype.type(0)
    for at in range(queries[0][row], queries[0][row + 1]):
        length_q += queries[2][at]
    for at in range(titles[0][row], titles[0][row + 1]):
        length_d += titles[2][at]
    factor_q[:] = 1
    factor_d[:] = 1
    share_q = length_d / (length_q + length_d)  # (1/|q|) / (1/|q| + 1/|d|)
    share_d = length_q / (length_q + length_d)
    small = 0.1 * tol
    step = 0
    while True:
        _fractions(queries[0], queries[2], row, length_q, posteriors_q, factor_q, sums_q, e_q)
        _fractions(titles[0], titles[2], row, length_d, posteriors_d, factor_d, sums_d, e_d)
        if step == steps or _largest_gap(e_q, e_d) <= tol:
            return step
        for z in range(factor_q.size):
            if e_q[z] > small or e_d[z] > small:  # others agree as it is
                log_ratio = math.log((e_q[z] + _TINY) / (e_d[z] + _TINY))
                factor_q[z] *= math.exp(-log_ratio * share_q)
                factor_d[z] *= math.exp(log_ratio * share_d)
        step += 1


@inner(fastmath=_SUMS)
def _add_projected(starts, words, counts, row, weight, posteriors, factor, sums, theta_sum, expected):
    """The expected counts of a text under P' ∝ P·factor."""
    one = factor.dtype.type(1)
    for at in range(starts[row], starts[row + 1]):
        each, expected_w = posteriors[at - starts[row]], expected[words[at]]
        share = one * counts[at] / sums[at - starts[row]]
        weighted = one * weight * share
        for z in range(factor.size):
            p = each[z] * factor[z]
            theta_sum[z] += share * p
            expected_w[z] += weighted * p


@inner
def _divergence(starts, counts, row, fractions, factor, sums):
    """KL(P'‖P) of a text's words: |x| Σ_t E[t] log factor_t - Σ_w n(w) log Z_w, Clicks (28)."""
    total, length = 0.0, 0.0
    for at in range(starts[row], starts[row + 1]):
        total -= counts[at] * math.log(sums[at - starts[row]])
        length += counts[at]
    for z in range(factor.size):
        if fractions[z] > 0:
            total += length * fractions[z] * math.log(factor[z])
    return total


@inner
def _longest(starts, first, last):
    longest = 1
    for i in range(first, last):
        longest = max(longest, starts[i + 1] - starts[i])
    return longest


@allocating
def projected_counts(
    queries, titles, weights, phi_q, phi_d, theta, alpha, first, last, expected_q, expected_d, objective, steps, tol
):
    """One E-step with posterior regularisation: expected counts under the projected posteriors, Clicks §3.2.

    Returns the objective, the log-likelihood with (α-1) Σ log θ less KL(P'‖P), and the steps of all projections.
    """
    n_topics = theta.shape[1]
    of_q = np.empty((_longest(queries[0], first, last), n_topics), theta.dtype)
    of_d = np.empty((_longest(titles[0], first, last), n_topics), theta.dtype)
    sums_q, sums_d = np.empty(of_q.shape[0], theta.dtype), np.empty(of_d.shape[0], theta.dtype)
    factor_q, factor_d = np.empty(n_topics, theta.dtype), np.empty(n_topics, theta.dtype)
    e_q, e_d = np.empty(n_topics, theta.dtype), np.empty(n_topics, theta.dtype)
    theta_sum = np.empty(n_topics, theta.dtype)
    total, n_steps = 0.0, 0
    for i in range(first, last):
        theta_sum[:] = alpha - 1
        weight = weights[i]
        found = _posteriors(*queries, i, phi_q, theta[i], of_q, objective)
        found += _posteriors(*titles, i, phi_d, theta[i], of_d, objective)
        n_steps += project(queries, titles, i, of_q, of_d, factor_q, factor_d, sums_q, sums_d, e_q, e_d, steps, tol)
        if objective:
            found += _log_prior(theta[i], alpha - 1)
            found -= _divergence(queries[0], queries[2], i, e_q, factor_q, sums_q)
            found -= _divergence(titles[0], titles[2], i, e_d, factor_d, sums_d)
        total += weight * found
        _add_projected(*queries, i, weight, of_q, factor_q, sums_q, theta_sum, expected_q)
        _add_projected(*titles, i, weight, of_d, factor_d, sums_d, theta_sum, expected_d)
        _normalise(theta_sum, theta[i])
    return total, n_steps


@allocating
def fold_in(titles, phi_d, alpha, iterations, first, last, theta):
    """θ of titles first..last by EM with φ^d fixed, from uniform: Clicks (5), (8) without a query."""
    n_topics = theta.shape[1]
    starts, words, counts = titles
    one = theta.dtype.type(1)
    phi_sum = np.empty(n_topics, theta.dtype)
    for i in range(first, last):
        theta[i, :] = one / n_topics
        for _ in range(iterations):
            phi_sum[:] = 0
            for at in range(starts[i], starts[i + 1]):
                total = _probability(phi_d[words[at]], theta[i])
                share = one * counts[at] / (total + theta.dtype.type(_TINY))
                for z in range(n_topics):
                    phi_sum[z] += share * phi_d[words[at], z]
            for z in range(n_topics):
                phi_sum[z] = alpha - 1 + theta[i, z] * phi_sum[z]
            _normalise(phi_sum, theta[i])

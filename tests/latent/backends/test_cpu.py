"""Tiles hold every word of every pair once; padded tables; the same bits on any number of cores."""

import numba
import numpy as np
import pytest

from germane.latent import BLTM
from germane.latent.backends.cpu import backend
from germane.latent.backends.cpu.lanes import LANES, padded, wide_zeros, widened
from germane.latent.backends.cpu.tiles import LEAST_SHARED, TILE, TiledTexts, Tiles
from germane.latent.topics import TopicPartition
from latent.planted import Planted


def test_tiles_hold_what_the_pairs_hold(planted: Planted) -> None:
    pairs = planted.pairs
    tiles = Tiles.of(pairs)
    assert sorted(tiles.order.tolist()) == list(range(len(pairs)))
    assert np.array_equal(tiles.weights, pairs.weights[tiles.order])
    for tiled, texts in ((tiles.queries, pairs.queries), (tiles.titles, pairs.titles)):
        found = []
        for k in range(len(tiles)):
            at = slice(tiled.starts[k], tiled.starts[k + 1])
            assert (np.diff(tiled.words[at]) >= 0).all()
            rows = tiles.order[k * TILE + tiled.members[at].astype(int)]
            found += list(zip(rows.tolist(), tiled.words[at].tolist(), tiled.counts[at].tolist(), strict=True))
        expected = zip(texts.rows.tolist(), texts.words.tolist(), texts.counts.tolist(), strict=True)
        assert sorted(found) == sorted(expected)


def test_pairs_with_a_rare_word_are_neighbours(planted: Planted) -> None:
    titles = planted.pairs.titles
    frequency = np.bincount(titles.words)
    keys = []
    for row in Tiles.of(planted.pairs).order.tolist():
        words = titles.words[titles.starts[row] : titles.starts[row + 1]].tolist()
        shared = [word for word in words if frequency[word] >= LEAST_SHARED]
        keys.append(min(shared, key=lambda word: frequency[word]) if shared else -1)
    assert keys == sorted(keys)


def test_texts_without_words(planted: Planted) -> None:
    none = TiledTexts.of(planted.pairs.queries.without_words(), np.arange(len(planted.pairs)))
    assert not none.starts.any()


@pytest.mark.parametrize("n_columns", [1, 4, LANES, LANES + 1, 100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_wide_tables(n_columns: int, dtype: type) -> None:
    wide = wide_zeros(5, n_columns, dtype)
    assert wide.shape == (5, padded(n_columns))
    assert wide.ctypes.data % 64 == 0
    part = wide[:, :n_columns]
    part[:] = np.arange(5)[:, None] + 1
    assert np.shares_memory(widened(part), wide)
    for table in (part, part.copy(), np.asfortranarray(part), np.pad(part, 1)[1:-1, 1:-1]):
        found = widened(table)
        assert found.flags.c_contiguous
        assert np.array_equal(found, wide)


@pytest.mark.parametrize("regularised", [False, True])
def test_threads_do_not_change_a_bit(planted: Planted, monkeypatch: pytest.MonkeyPatch, regularised: bool) -> None:
    monkeypatch.setattr(backend, "LEAST_ROWS", 200)
    settings = BLTM(n_topics=5, n_iterations=3, regularised=regularised)
    found = []
    before = numba.get_num_threads()
    try:
        for threads in (1, before):
            numba.set_num_threads(threads)
            found.append(settings.fit(planted.pairs))
    finally:
        numba.set_num_threads(before)
    assert np.array_equal(found[0].phi_q, found[1].phi_q)
    assert np.array_equal(found[0].phi_d, found[1].phi_d)


@pytest.mark.parametrize("regularised", [False, True])
def test_single_precision_is_near_double(planted: Planted, regularised: bool) -> None:
    """The powers of the projection, too, which single precision takes by polynomials."""
    found = []
    for precision in ("single", "double"):
        settings = BLTM(n_topics=20, precision=precision, regularised=regularised, tolerance=1e-6)
        part, model = TopicPartition.of(settings, planted.pairs), settings.start(planted.pairs)
        for _ in range(2):
            statistics = part.statistics(model, objective=True)
            model = settings.update(model, statistics)
        found.append((statistics.query, statistics.title, part.theta, statistics.objective))
    for single, double in zip(*found, strict=True):
        np.testing.assert_allclose(single, double, rtol=2e-3, atol=2e-5)


@pytest.mark.parametrize("regularised", [False, True])
def test_statistics_are_the_callers(planted: Planted, monkeypatch: pytest.MonkeyPatch, regularised: bool) -> None:
    """The next E-step over the same part does not write over them."""
    monkeypatch.setattr(backend, "LEAST_ROWS", 200)
    settings = BLTM(n_topics=5, regularised=regularised)
    part, model = TopicPartition.of(settings, planted.pairs), settings.start(planted.pairs)
    first = part.statistics(model)
    query, title = first.query.copy(), first.title.copy()
    part.statistics(settings.update(model, first))
    assert np.array_equal(first.query, query)
    assert np.array_equal(first.title, title)


def test_theta_moves_on_and_lies_in_the_order_of_the_pairs(planted: Planted) -> None:
    settings = BLTM(n_topics=5)
    part, model = TopicPartition.of(settings, planted.pairs), settings.start(planted.pairs)
    assert (part.theta == np.float32(0.2)).all()
    part.statistics(model)
    for row in (0, 7, 1100):
        one = TopicPartition.of(settings, planted.pairs.take([row]))
        one.statistics(model)
        np.testing.assert_allclose(one.theta[0], part.theta[row], rtol=1e-5)

"""Machine code is kept where that is possible, and nothing breaks where it is not."""

import numpy as np
import pytest
from numba.core import caching

from germane.index import kernels
from germane.jit import njit


def doubled(values):
    return values * 2


def test_a_user_who_may_write_nowhere_compiles_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """And finds what was compiled where the package lies."""

    def refused(locator: object) -> None:
        raise PermissionError("read-only")

    base = next(each for each in caching.CompileResultCacheImpl.mro() if "_locator_classes" in vars(each))
    for locator in base._locator_classes:
        monkeypatch.setattr(locator, "ensure_cache_path", refused)
    monkeypatch.setattr(caching.IndexDataCacheFile, "save", lambda *told: refused(told))
    made = njit(doubled, cache=True)
    assert made(np.arange(3)).tolist() == [0, 2, 4]
    assert made.stats.cache_path.endswith("tests/__pycache__")
    again = njit(kernels.encode_forward.py_func, cache=True)
    assert again.stats.cache_path == kernels.encode_forward.stats.cache_path

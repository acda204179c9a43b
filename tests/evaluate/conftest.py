"""Random runs and judgements, and small files."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file below the test's own folder, and return its path."""

    def _write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return _write


@pytest.fixture
def random_case() -> Callable[[int], tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]]:
    """A run with ties, missing and unjudged queries, unjudged documents, graded and negative judgements."""

    def _make(seed: int) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]:
        rng = np.random.default_rng(seed)
        documents = [f"d{i}" for i in range(30)]
        qrels = {
            f"q{i}": {
                str(doc): int(grade)
                for doc, grade in zip(
                    rng.permutation(documents)[: rng.integers(1, 20)], rng.integers(-1, 4, 20), strict=False
                )
            }
            for i in range(5)
        }
        for grades in qrels.values():  # pytrec_eval's nDCG never ends where all grades are negative
            grades.update({doc: 0 for doc in list(grades)[:1] if max(grades.values()) < 0})
        run = {
            f"q{i}": {
                str(doc): float(score)
                for doc, score in zip(
                    rng.permutation(documents)[: rng.integers(1, 30)],
                    rng.integers(0, 6, 30) / 3 if rng.random() < 0.7 else rng.normal(size=30),
                    strict=False,
                )
            }
            for i in range(7)
            if i == 1 or rng.random() < 0.8
        }
        return run, qrels

    return _make

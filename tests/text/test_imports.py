import subprocess
import sys

import pytest

import germane.text


def test_importing_is_light() -> None:
    code = "import sys, germane.text; print([m for m in ('numba', 'numpy', 'Stemmer') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_exports() -> None:
    assert germane.text.__all__ == [
        "Analyzer",
        "AnyAnalyzer",
        "BulkAnalyzer",
        "CharacterNGrams",
        "Synonyms",
        "WordPairs",
        "analyzer_from_dict",
        "tokenize",
    ]
    assert germane.text.BulkAnalyzer.__module__ == "germane.text.bulk"
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        germane.text.Nothing  # noqa: B018

"""Text analysis: `tokenize` splits a text into tokens; an `Analyzer` also removes stop words and stems.

`WordPairs` and `CharacterNGrams` are analysers with other terms. `BulkAnalyzer` turns many texts into term ids; it
needs Numba, and is imported on first use.
"""

from typing import TYPE_CHECKING

from germane.lazy import lazy_exports
from germane.text.analyzer import Analyzer
from germane.text.any_analyzer import AnyAnalyzer, analyzer_from_dict
from germane.text.character_ngrams import CharacterNGrams
from germane.text.synonyms import Synonyms
from germane.text.tokenizer import tokenize
from germane.text.word_pairs import WordPairs

if TYPE_CHECKING:
    from germane.text.bulk import BulkAnalyzer

__all__ = [
    "Analyzer",
    "AnyAnalyzer",
    "BulkAnalyzer",
    "CharacterNGrams",
    "Synonyms",
    "WordPairs",
    "analyzer_from_dict",
    "tokenize",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "bulk": ["BulkAnalyzer"],
    },
)

"""Analysers of every kind: what they have in common, and how they are read back."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from germane.text.analyzer import Analyzer
from germane.text.character_ngrams import CharacterNGrams
from germane.text.word_pairs import WordPairs

AnyAnalyzer: TypeAlias = Analyzer | CharacterNGrams | WordPairs
"""Whatever has `terms(text)`, `to_dict`, `from_dict` and `fingerprint`."""


def analyzer_from_dict(settings: Mapping[str, Any]) -> AnyAnalyzer:
    """The analyser whose `to_dict` gave these settings; `IndexFormatError` if it was none of ours.

    >>> analyzer_from_dict(CharacterNGrams(n=(2, 4)).to_dict())
    CharacterNGrams(n=(2, 4))
    """
    if "pairs_of" in settings:
        return WordPairs.from_dict(settings)
    kind = CharacterNGrams if "characters" in settings else Analyzer
    return kind.from_dict(settings)

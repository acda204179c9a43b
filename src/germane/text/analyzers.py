"""The analysers there are, and which of them left these settings."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from germane.text.analyzer import Analyzer
from germane.text.character_ngrams import CharacterNGrams

AnyAnalyzer: TypeAlias = Analyzer | CharacterNGrams
"""Whatever has `terms(text)`, `to_dict`, `from_dict` and `fingerprint`."""


def analyzer_from_dict(settings: Mapping[str, Any]) -> AnyAnalyzer:
    """The analyser whose `to_dict` gave these settings; `IndexFormatError` if it was none of ours.

    >>> analyzer_from_dict(CharacterNGrams(n=(2, 4)).to_dict())
    CharacterNGrams(n=(2, 4))
    """
    kind = CharacterNGrams if "characters" in settings else Analyzer
    return kind.from_dict(settings)

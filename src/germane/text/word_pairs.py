"""Runs of words as terms: neighbours say more than each alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Self

from germane.errors import ParameterError
from germane.text.analyzer import Analyzer
from germane.text.settings import digest

JOINED = " "
"""What stands between the words of a pair; no term holds it."""


@dataclass(frozen=True)
class WordPairs:
    """An analyser whose terms are those of `words`, and every two of them that stand side by side.

    It offers what `Analyzer` offers (`terms`, `to_dict`, `from_dict`, `fingerprint`), so a classifier takes either.
    What is no word of the analyser (a stop word that it drops) separates nothing.

    >>> WordPairs(Analyzer("none", "none")).terms("not very good")
    ['not', 'very', 'good', 'not very', 'very good']
    """

    words: Analyzer = field(default_factory=Analyzer)

    def __post_init__(self) -> None:
        if not isinstance(self.words, Analyzer):
            raise ParameterError(f"words must be a germane.text.Analyzer, not {self.words!r}")

    def terms(self, text: str) -> list[str]:
        """The words of a text and then its pairs, in order, repeats included."""
        found = self.words.terms(text)
        return found + [f"{first}{JOINED}{second}" for first, second in pairwise(found)]

    def to_dict(self) -> dict[str, Any]:
        """The settings as JSON values; `from_dict` reads them back."""
        return {"pairs_of": self.words.to_dict()}

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> Self:
        """The analyser that `to_dict` described. `IndexFormatError` if the keys or the tokeniser version differ."""
        return cls(Analyzer.from_dict(settings["pairs_of"]))

    @property
    def fingerprint(self) -> str:
        """16 hex digits that change with any setting, with the stop list and with the tokeniser's rules."""
        return digest({"pairs_of": self.words.fingerprint})

"""From text to character n-grams: the terms of language identification, and of text too short or too odd for words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from germane.errors import ParameterError
from germane.text.settings import check_settings, digest
from germane.text.tokenizer import TOKENIZER_VERSION, tokenize

EDGE = "_"
"""Marks where a word begins and ends. The tokeniser separates at underscores, so no word holds one."""
LONGEST = 16

_KEYS = frozenset({"tokenizer", "characters"})


@dataclass(frozen=True, slots=True)
class CharacterNGrams:
    """An analyser whose terms are the runs of n characters within words, for every n from `n[0]` to `n[1]`.

    Words are those of the tokeniser (case folded, accents kept), and `_` marks their two ends: "_th" begins a word.
    Nothing is stopped or stemmed: the commonest words say most about a language. It offers what `Analyzer` offers
    (`terms`, `to_dict`, `from_dict`, `fingerprint`), so a classifier takes either.

    >>> CharacterNGrams(n=(1, 2)).terms("Été")
    ['é', 't', 'é', '_é', 'ét', 'té', 'é_']
    """

    n: tuple[int, int] = (1, 3)

    def __post_init__(self) -> None:
        valid = isinstance(self.n, (tuple, list)) and len(self.n) == 2
        if not valid or any(isinstance(n, bool) or not isinstance(n, int) for n in self.n):
            raise ParameterError(f"n must be two whole numbers, the shortest and the longest, not {self.n!r}")
        if not 1 <= self.n[0] <= self.n[1] <= LONGEST:
            raise ParameterError(f"n must lie between 1 and {LONGEST}, the shorter number first, not {self.n!r}")
        object.__setattr__(self, "n", tuple(self.n))

    def terms(self, text: str) -> list[str]:
        """The n-grams of a text: word by word, the shorter ones first, repeats included."""
        shortest, longest = self.n
        found: list[str] = []
        for token in tokenize(text):
            if shortest == 1:
                found += token  # an edge alone says nothing
            marked = f"{EDGE}{token}{EDGE}"
            for n in range(max(shortest, 2), longest + 1):
                found += [marked[i : i + n] for i in range(len(marked) - n + 1)]
        return found

    def to_dict(self) -> dict[str, Any]:
        """The settings as JSON values; `from_dict` reads them back."""
        return {"tokenizer": TOKENIZER_VERSION, "characters": list(self.n)}

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> Self:
        """The analyser that `to_dict` described. `IndexFormatError` if the keys or the tokeniser version differ."""
        check_settings(settings, _KEYS)
        return cls(settings["characters"])

    @property
    def fingerprint(self) -> str:
        """16 hex digits that change with any setting and with the tokeniser's rules."""
        return digest(self.to_dict())

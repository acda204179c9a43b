"""A vocabulary of synonyms, as MeSH has one: terms of several words, each with the term that is preferred to it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

from germane.errors import InputError, ParameterError


class Word(NamedTuple):
    """A term of the analyser, and the token it stands for."""

    term: str
    token: str


@dataclass(frozen=True, slots=True)
class Synonyms:
    """Pairs of a term and the term preferred to it; each may have several words.

    An `Analyzer` that has them reads every occurrence of a term as if the preferred one stood there:

    - Both sides are analysed as texts are, so "heart attacks" is found by "heart attack", stop words do not count
      ("cancer of the lung" is found by "cancer lung"), and punctuation between the words does not matter.
    - Where several terms begin at one word, the longest is taken; what it covers is not looked at again.
    - The preferred term stands for itself: it is not looked up in turn.
    - Terms that the analyser makes one ("attack", "attacks") are one term; of two such pairs the first counts. A term
      of stop words alone is never met.

    Refine §X names a controlled vocabulary as future work.

    >>> Synonyms([("heart attack", "myocardial infarction")]).preferred("heart attack")
    'myocardial infarction'
    """

    pairs: tuple[tuple[str, str], ...]

    def __init__(self, pairs: Iterable[tuple[str, str]] | Mapping[str, str]) -> None:
        given = pairs.items() if isinstance(pairs, Mapping) else pairs
        known: dict[str, str] = {}
        for pair in given:
            term, preferred = _checked(pair)
            if known.setdefault(term, preferred) != preferred:
                raise ParameterError(f"the term '{term}' has two preferred terms: '{known[term]}' and '{preferred}'")
        object.__setattr__(self, "pairs", tuple(known.items()))

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """A UTF-8 file of lines `term<TAB>preferred term`; empty lines and lines that begin with # are passed over."""
        known: dict[str, str] = {}
        try:
            lines = Path(path).read_text(encoding="utf-8-sig").split("\n")
        except UnicodeDecodeError:
            raise InputError("a vocabulary of synonyms must be UTF-8 text", source=str(path)) from None
        for number, line in enumerate(lines, start=1):
            if not line.strip() or line.startswith("#"):
                continue
            try:
                term, preferred = _checked(tuple(cell.strip() for cell in line.split("\t")))
            except ParameterError as error:
                raise InputError(str(error), source=str(path), line=number) from None
            if known.setdefault(term, preferred) != preferred:
                raise InputError(
                    f"the term '{term}' has the preferred term '{known[term]}' already", source=str(path), line=number
                )
        if not known:
            raise InputError("there is no line 'term<TAB>preferred term' in it", source=str(path))
        return cls(known)

    def preferred(self, term: str) -> str | None:
        """The term preferred to this one, letter for letter; None if there is none."""
        return dict(self.pairs).get(term)


class SynonymRules:
    """The vocabulary in the words of one analyser: what to look for, and what to put there."""

    def __init__(self, synonyms: Synonyms, analyse: Callable[[str], list[Word]]) -> None:
        self._rules: dict[tuple[str, ...], list[Word]] = {}
        longest: dict[str, int] = {}
        analysed: dict[str, list[Word]] = {}
        for term, preferred in synonyms.pairs:
            words = tuple(word.term for word in analyse(term))
            replacement = analysed.get(preferred)  # many terms have one preferred term
            if replacement is None:
                replacement = analysed[preferred] = analyse(preferred)
            if not replacement and term == preferred:
                continue  # a heading that is a stop word, which is not searched anyway
            if not replacement:
                raise ParameterError(f"the preferred term '{preferred}' of '{term}' holds nothing but stop words")
            if words:
                self._rules.setdefault(words, replacement)
                longest[words[0]] = max(longest.get(words[0], 0), len(words))
        self._longest = longest

    def apply(self, words: Sequence[Word]) -> list[Word]:
        """The words with every term of the vocabulary replaced by the preferred one, longest match first."""
        found: list[Word] = []
        for place, preferred in self.read([word.term for word in words]):
            found += words[place] if preferred is None else preferred
        return found

    def read(self, terms: Sequence[str]) -> Iterator[tuple[slice, list[Word] | None]]:
        """The text in pieces: where each stands, and what is preferred to it; None for a word that stays."""
        at = 0
        while at < len(terms):
            for length in range(min(self._longest.get(terms[at], 0), len(terms) - at), 0, -1):
                preferred = self._rules.get(tuple(terms[at : at + length]))
                if preferred is not None:
                    break
            else:
                length, preferred = 1, None
            yield slice(at, at + length), preferred
            at += length


def _checked(pair: object) -> tuple[str, str]:
    if not isinstance(pair, tuple | list) or len(pair) != 2 or not all(isinstance(part, str) for part in pair):
        raise ParameterError(f"a synonym is a term and the term preferred to it, not {pair!r}")
    term, preferred = (" ".join(part.split()) for part in pair)
    if not term or not preferred:
        raise ParameterError(f"a synonym needs a term and a preferred term, not {pair!r}")
    return term, preferred

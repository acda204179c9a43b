"""Stemmers by name: "none", "lemma" (English base forms by rule, `germane.text.lemmas`), and every algorithm of the
installed PyStemmer ("english" is Porter2, "porter" Porter's).

PyStemmer is imported at the first use of one of its names.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from threading import Lock
from typing import TypeAlias

from germane.errors import ParameterError
from germane.lazy import on_first_use
from germane.text.lemmas import LEMMA, lemma, lemmas

with on_first_use(__name__):
    import Stemmer

Stem: TypeAlias = Callable[[str], str]
StemAll: TypeAlias = Callable[[Sequence[str]], list[str]]

STEM_CACHE_SIZE = 1 << 16


def stemmer_names() -> list[str]:
    """The names `stemmer` knows, "none" and "lemma" first."""
    return ["none", LEMMA, *sorted(Stemmer.algorithms())]


def check_stemmer(name: str) -> None:
    """Raise `ParameterError`, listing the valid names, unless `name` is a stemmer."""
    if name not in ("none", LEMMA) and name not in stemmer_names():
        raise ParameterError(f"unknown stemmer {name!r}; valid names: {', '.join(stemmer_names())}")


@lru_cache(maxsize=64)
def stemmer(name: str) -> StemAll:
    """The function from tokens to their stems; several threads may call it, and no stem is empty.

    >>> stemmer("english")(["retrieval", "models"]), stemmer("none")(["models"])
    (['retriev', 'model'], ['models'])
    """
    check_stemmer(name)
    if name == "none":
        return list
    if name == LEMMA:
        return lemmas
    stem_words: StemAll = Stemmer.Stemmer(name, 0).stemWords
    lock = Lock()  # a Snowball stemmer works in a buffer of its own

    def stem_all(tokens: Sequence[str]) -> list[str]:
        with lock:
            stems = stem_words(tokens)
        return [stem or token for stem, token in zip(stems, tokens, strict=True)]

    return stem_all


@lru_cache(maxsize=64)
def cached_stemmer(name: str) -> Stem:
    """The function from one token to its stem, which remembers its last `STEM_CACHE_SIZE` tokens."""
    if name == LEMMA:
        return lemma
    stem_all = stemmer(name)

    def stem(token: str) -> str:
        return stem_all([token])[0]

    return _identity if name == "none" else lru_cache(maxsize=STEM_CACHE_SIZE)(stem)


def _identity(token: str) -> str:
    return token

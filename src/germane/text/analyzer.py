"""From text to index terms: tokenise, drop stop words, stem."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from germane.errors import ParameterError
from germane.text.settings import check_settings, digest
from germane.text.stemming import cached_stemmer, check_stemmer
from germane.text.stopwords import stop_list
from germane.text.tokenizer import TOKENIZER_VERSION, tokenize

_KEYS = frozenset({"tokenizer", "stemmer", "stopwords"})


@dataclass(frozen=True, slots=True)
class Analyzer:
    """The settings that turn text into terms. An index stores them, and queries must use the same.

    `stemmer`: a name from `germane.text.stemming.stemmer_names()`.
    `stopwords`: the name of a list in `germane.text.stopwords`, or the words themselves. Words are put in the form the
    tokeniser gives them (so "Don't" stops "dont"), sorted, and each once. They are dropped before stemming.
    `stop_tokens`: the words that `stopwords` stands for.

    >>> Analyzer().terms("The ranking of the documents")
    ['rank', 'document']
    """

    stemmer: str = "english"
    stopwords: str | tuple[str, ...] = "english"
    stop_tokens: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_stemmer(self.stemmer)
        if isinstance(self.stopwords, str):
            stop = stop_list(self.stopwords)
        elif not isinstance(self.stopwords, Iterable):
            raise ParameterError(f"stopwords must be the name of a list or a tuple of words, not {self.stopwords!r}")
        else:
            stop = frozenset(map(_one_token, self.stopwords))
            object.__setattr__(self, "stopwords", tuple(sorted(stop)))
        object.__setattr__(self, "stop_tokens", stop)

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in order, repeats included."""
        stop, stem = self.stop_tokens, cached_stemmer(self.stemmer)
        return [stem(token) for token in tokenize(text) if token not in stop]

    def term_of(self, token: str) -> str | None:
        """The term of one token as the tokeniser emits it; None for a stop word."""
        return None if token in self.stop_tokens else cached_stemmer(self.stemmer)(token)

    def to_dict(self) -> dict[str, Any]:
        """The settings as JSON values; `from_dict` reads them back."""
        stopwords = self.stopwords if isinstance(self.stopwords, str) else list(self.stopwords)
        return {"tokenizer": TOKENIZER_VERSION, "stemmer": self.stemmer, "stopwords": stopwords}

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> Self:
        """The analyser that `to_dict` described. `IndexFormatError` if the keys or the tokeniser version differ."""
        check_settings(settings, _KEYS)
        stopwords = settings["stopwords"]
        return cls(settings["stemmer"], tuple(stopwords) if isinstance(stopwords, list) else stopwords)

    @property
    def fingerprint(self) -> str:
        """16 hex digits that change with any setting, with the words of the stop list and with the tokeniser's rules.

        Two analysers with one fingerprint give the same tokens and stop words, and ask for the same stemmer. The
        release of PyStemmer is not part of it.
        """
        return digest({**self.to_dict(), "stop": sorted(self.stop_tokens)})


def _one_token(word: object) -> str:
    tokens = tokenize(word) if isinstance(word, str) else []
    if len(tokens) != 1:
        raise ParameterError(f"the stop word {word!r} is not one word: the tokeniser makes {tokens} of it")
    return tokens[0]

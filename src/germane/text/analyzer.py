"""From text to index terms: tokenise, drop stop words, stem, read synonyms as one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Self

from germane.errors import ParameterError
from germane.text.settings import check_settings, digest
from germane.text.stemming import cached_stemmer, check_stemmer, stemmer
from germane.text.stopwords import stop_list
from germane.text.synonyms import SynonymRules, Synonyms, Word
from germane.text.tokenizer import TOKENIZER_VERSION, tokenize

_KEYS = frozenset({"tokenizer", "stemmer", "stopwords"})


@dataclass(frozen=True, slots=True)
class Analyzer:
    """The settings that turn text into terms. An index stores them, and queries must use the same.

    `stemmer`: a name from `germane.text.stemming.stemmer_names()`.
    `stopwords`: the name of a list in `germane.text.stopwords`, or the words themselves. Words are put in the form the
    tokeniser gives them (so "Don't" stops "dont"), sorted, and each once. They are dropped before stemming.
    `synonyms`: a vocabulary of terms with the terms preferred to them, or None.
    `stop_tokens`: the words that `stopwords` stands for.

    >>> Analyzer().terms("The ranking of the documents")
    ['rank', 'document']
    >>> Analyzer("lemma", synonyms=Synonyms({"heart attack": "myocardial infarction"})).terms("After two heart attacks")
    ['two', 'myocardial', 'infarction']
    """

    stemmer: str = "english"
    stopwords: str | tuple[str, ...] = "english"
    synonyms: Synonyms | None = None
    stop_tokens: frozenset[str] = field(init=False, repr=False, compare=False)
    _rules: SynonymRules | None = field(init=False, repr=False, compare=False)

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
        if self.synonyms is not None and not isinstance(self.synonyms, Synonyms):
            raise ParameterError(f"synonyms must be a germane.text.Synonyms or None, not {self.synonyms!r}")
        rules = None if self.synonyms is None else SynonymRules(self.synonyms, self._kept)
        object.__setattr__(self, "_rules", rules)

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in order, repeats included."""
        if self._rules is not None:
            return [word.term for word in self.words(text)]
        stop, stem = self.stop_tokens, cached_stemmer(self.stemmer)
        return [stem(token) for token in tokenize(text) if token not in stop]

    def words(self, text: str) -> list[Word]:
        """The terms of a text, each with the token it stands for: that of the text, or of the preferred term."""
        kept = self._kept(text)
        return kept if self._rules is None else self._rules.apply(kept)

    def readings(self, words: Sequence[str]) -> list[list[str]]:
        """The terms that each of these words stands for in the text they make.

        Every word of a term of the vocabulary stands for all words of the preferred term.

        >>> Analyzer(synonyms=Synonyms({"heart attack": "myocardial infarction"})).readings(["heart", "attack", "risk"])
        [['myocardi', 'infarct'], ['myocardi', 'infarct'], ['risk']]
        """
        if self._rules is None:
            kept_tokens = [[token for token in tokenize(word) if token not in self.stop_tokens] for word in words]
            stems = iter(stemmer(self.stemmer)([token for tokens in kept_tokens for token in tokens]))
            return [[next(stems) for _ in tokens] for tokens in kept_tokens]
        kept = [self._kept(word) for word in words]
        owners = [place for place, own in enumerate(kept) for _ in own]
        terms = [word.term for own in kept for word in own]
        found: list[list[str]] = [[] for _ in words]
        for place, preferred in self._rules.read(terms):
            read = terms[place] if preferred is None else [word.term for word in preferred]
            for owner in dict.fromkeys(owners[place]):
                found[owner] += read
        return found

    def _kept(self, text: str) -> list[Word]:
        stop, stem = self.stop_tokens, cached_stemmer(self.stemmer)
        return [Word(stem(token), token) for token in tokenize(text) if token not in stop]

    def term_of(self, token: str) -> str | None:
        """The term of one token as the tokeniser emits it; None for a stop word.

        Of a token whose preferred term has several words this is the first one.
        """
        if token in self.stop_tokens:
            return None
        word = Word(cached_stemmer(self.stemmer)(token), token)
        return word.term if self._rules is None else self._rules.apply([word])[0].term

    def to_dict(self) -> dict[str, Any]:
        """The settings as JSON values; `from_dict` reads them back."""
        stopwords = self.stopwords if isinstance(self.stopwords, str) else list(self.stopwords)
        settings = {"tokenizer": TOKENIZER_VERSION, "stemmer": self.stemmer, "stopwords": stopwords}
        if self.synonyms is None:
            return settings
        return {**settings, "synonyms": [list(pair) for pair in self.synonyms.pairs]}

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> Self:
        """The analyser that `to_dict` described. `IndexFormatError` if the keys or the tokeniser version differ."""
        pairs = settings.get("synonyms")  # settings without synonyms are written without the key
        check_settings(settings, _KEYS if pairs is None else _KEYS | {"synonyms"})
        stopwords = settings["stopwords"]
        return cls(
            settings["stemmer"],
            tuple(stopwords) if isinstance(stopwords, list) else stopwords,
            None if pairs is None else Synonyms(pairs),
        )

    @property
    def fingerprint(self) -> str:
        """16 hex digits that change with any setting, with the words of the stop list and with the tokeniser's rules.

        Two analysers with one fingerprint give the same tokens and stop words, and ask for the same stemmer. The
        release of PyStemmer is not part of it.
        """
        return _fingerprint(self, TOKENIZER_VERSION)


@lru_cache(maxsize=16)
def _fingerprint(analyzer: Analyzer, tokenizer: int) -> str:
    """Remembered, since every commit asks for it; `tokenizer`: the version of its rules, among the settings."""
    return digest({**analyzer.to_dict(), "tokenizer": tokenizer, "stop": sorted(analyzer.stop_tokens)})


def _one_token(word: object) -> str:
    tokens = tokenize(word) if isinstance(word, str) else []
    if len(tokens) != 1:
        raise ParameterError(f"the stop word {word!r} is not one word: the tokeniser makes {tokens} of it")
    return tokens[0]

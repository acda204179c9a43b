"""The fast road for indexing: batches of texts to term ids, equal to `Analyzer.terms` text by text."""

from collections.abc import Sequence

from germane.arrays import Integers, Words
from germane.errors import ParameterError
from germane.lazy import is_few
from germane.text.analyzer import Analyzer
from germane.text.numbered import NumberedTokens, NumberedWords, PackedWords


class BulkAnalyzer:
    """Analyses batches of texts, and numbers their terms densely in order of first appearance.

    `terms[i]` is the term with id `i`; successive batches extend the same vocabulary. A batch needs about six times its
    size in memory while it is analysed. Kernels do the work and release the GIL, so threads run side by side when each
    has its own BulkAnalyzer; one BulkAnalyzer must not be shared. A few texts are analysed without them, one by one, in
    a process that has not loaded the compiler; those with synonyms always are, since their terms do not follow from
    single tokens.

    >>> bulk = BulkAnalyzer(Analyzer())
    >>> bulk.analyze(["Ranking the documents", "A document ranks"])
    (array([0, 1, 1, 0], dtype=uint32), array([2, 4]))
    >>> bulk.terms
    ['rank', 'document']
    """

    def __init__(self, analyzer: Analyzer) -> None:
        self.analyzer = analyzer
        self._characters = 0
        self._numbered: NumberedWords | NumberedTokens = NumberedWords(analyzer)

    def analyze(self, texts: Sequence[str]) -> tuple[Words, Integers]:
        """The term ids of all texts, one after another, and for each text where its ids end."""
        if isinstance(texts, str):
            raise ParameterError("analyze takes a sequence of texts, not one text")
        if isinstance(self._numbered, NumberedWords) and self.analyzer.synonyms is None:
            self._characters += sum(map(len, texts))
            if not is_few(self._characters):
                self._numbered = NumberedTokens(self.analyzer, self._numbered.counts)
        return self._numbered.analyze(texts)

    @property
    def terms(self) -> list[str]:
        """The terms as strings, made when they are asked for: `terms[i]` has the id `i`."""
        return self._numbered.terms

    @property
    def packed_terms(self) -> PackedWords:
        """The terms as bytes."""
        return self._numbered.packed_terms

    @property
    def n_terms(self) -> int:
        """How many terms there are."""
        return self._numbered.n_terms

    @property
    def memory(self) -> int:
        """Bytes that the words take."""
        return self._numbered.memory

    def surfaces(self) -> tuple[list[str], Integers]:
        """For each term the token it most often stood for so far (of equals, the one seen first), and how often."""
        return self._numbered.surfaces()

    def packed_surfaces(self) -> tuple[PackedWords, Integers, Integers]:
        """What `surfaces` says, without strings: packed tokens, the number of each term's token, how often it came."""
        return self._numbered.packed_surfaces()

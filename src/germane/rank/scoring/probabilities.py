"""The probabilities behind a query likelihood: of each query word in the document, in the collection, and in both."""

from collections.abc import Sequence

import numpy as np

from germane.errors import ParameterError
from germane.index.snapshot import DocumentPlace
from germane.rank.models.base import RankingModel
from germane.rank.models.likelihood import QueryLikelihood
from germane.rank.registry import MODEL_NAMES, model_named
from germane.rank.scoring.explain import TermPart, WordProbability
from germane.rank.scoring.searcher import Searcher


def word_probabilities(
    searcher: Searcher, model: RankingModel, place: DocumentPlace, parts: Sequence[TermPart]
) -> tuple[WordProbability, ...]:
    """The probabilities of the words that an explanation names, under a model that is a query likelihood."""
    if not isinstance(model, QueryLikelihood):
        names = ", ".join(name for name in MODEL_NAMES if isinstance(model_named(name), QueryLikelihood))
        raise ParameterError(
            f"{type(model).__name__} does not rank by probabilities of the query's words, so there are none to show; "
            f"choose one of the language models: {names}"
        )
    segment = searcher.snapshot.segments[place.segment].segment
    length, unique = float(segment.doc_len[place.doc]), float(segment.n_unique[place.doc])
    counts = np.array([part.count for part in parts], np.float64)
    excess, background = model.smoothing.split(counts, length, unique)
    stats = searcher.statistics.term_stats([part.term for part in parts])
    p_C = np.array([found.cf for found in stats]) / searcher.collection.n_tokens
    theta = excess + background * p_C
    p_d = counts / length if length else counts
    return tuple(
        WordProbability(part.term, part.word, part.weight, part.count, *numbers)
        for part, *numbers in zip(
            parts,
            p_d.tolist(),
            p_C.tolist(),
            theta.tolist(),
            (np.array([part.weight for part in parts]) * np.log(theta)).tolist(),
            strict=True,
        )
    )

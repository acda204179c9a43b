"""Why a latent model scores a document as it does: a part for each word of the query, which add up to the score.

**Generative models.** Clicks (14) is a sum over words of the query, held against a document that has nothing of them:

    log P_s(q|d) = Σ_q n(q) log(λ1 P(q|C))  +  Σ_q n(q) log(P_s(q|d) / (λ1 P(q|C)))

The first is the same for all documents (`constant`), the second a part of 0 or more for each word. Within P_s(q|d) the
word itself has (1-λ1) λ2 P(q|d), and the latent model the rest: title words that translate into it, or topics.

**Projections.** Both cosines are sums over the words of query and title: of the words themselves q_w d_w, and in the
projected space over pairs of words, Σ_w Σ_v q_w d_v A_w·A_v, each divided by both norms.

**Combinations.** The parts of each model times its weight, added up; a source is named with its model, and its weight
is what it adds to the score, where five of a model are told.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from germane.latent.ensemble import EnsembleModel, query_length
from germane.latent.generative import GenerativeModel
from germane.latent.pairs import FoldedDocuments, Query
from germane.latent.parts import LatentExplanation, LatentPart, LatentSource
from germane.latent.projection import ProjectionModel, weighted
from germane.latent.topics import TopicModel
from germane.latent.translation import TranslationModel

MOST_SOURCES = 5
Write: TypeAlias = Callable[[str], str]
"""Function from a term to its form for people."""


def explained(
    model: GenerativeModel | ProjectionModel | EnsembleModel,
    query: Query,
    document: FoldedDocuments,
    write: Write = str,
) -> LatentExplanation:
    """The parts of the score of one document; `write` gives a term as people read it."""
    if isinstance(model, EnsembleModel):
        return _combined(model, query, document, write)
    if isinstance(model, ProjectionModel):
        return _projected(model, query, document, write)
    return _generated(model, query, document, write)


def _combined(model: EnsembleModel, query: Query, document: FoldedDocuments, write: Write) -> LatentExplanation:
    asked, words = document.query(query), _words(query, document)
    constant = 0.0
    sums = np.zeros((len(words), 2))
    sources: list[list[LatentSource]] = [[] for _ in words]
    for name, weight, (part, folded) in zip(model.names, model.weights.tolist(), model.split(document), strict=True):
        found, share = explained(part, query, folded, write), weight / query_length(part, asked)
        constant += share * found.constant
        for place, word in enumerate(found.parts):
            whole = word.literal + word.latent  # of a generative model shares of a probability, else of the impact
            literal = word.impact * word.literal / whole if whole else 0.0
            sums[place] += share * literal, share * (word.impact - literal)
            told = sum(source.weight for source in word.sources)
            if isinstance(part, GenerativeModel) and told > 0:
                share_of_source = share * (word.impact - literal) / told
            else:
                share_of_source = share
            sources[place] += [
                LatentSource(f"{name}: {each.name}", share_of_source * each.weight) for each in word.sources
            ]
    parts = [
        LatentPart(write(word), float(n), literal, latent, literal + latent, _first(each))
        for word, n, (literal, latent), each in zip(words, asked.counts, sums.tolist(), sources, strict=True)
    ]
    return LatentExplanation(constant, tuple(parts))


def _first(sources: Sequence[LatentSource]) -> tuple[LatentSource, ...]:
    """The strongest."""
    return tuple(sorted(sources, key=lambda each: (-abs(each.weight), each.name))[:MOST_SOURCES])


def _words(query: Query, document: FoldedDocuments) -> list[str]:
    """The query's words in the order of their ids, as `WordIds.query` has them."""
    terms = list(dict.fromkeys(document.vocabulary.analyzer.terms(query))) if isinstance(query, str) else [
        term for term, weight in query.items() if weight > 0
    ]  # fmt: skip
    ids, unknown = document.vocabulary.ids, len(document.vocabulary)
    return sorted(terms, key=lambda term: (ids.get(term, unknown), term))


def _generated(model: GenerativeModel, query: Query, document: FoldedDocuments, write: Write) -> LatentExplanation:
    found = model.probabilities(query, document)
    background = model.lambda1 * found.background
    literal = (1 - model.lambda1) * model.lambda2 * found.literal[:, 0]
    latent = (1 - model.lambda1) * (1 - model.lambda2) * found.latent[:, 0]
    with np.errstate(divide="ignore"):
        whole = np.log(background + literal + latent)
        floor = np.log(background) if model.lambda1 > 0 else np.zeros(len(background))
    impacts = found.counts * (whole - floor)
    parts = [
        LatentPart(
            write(word),
            float(n),
            float(literal_part),
            float(other),
            float(impact),
            _sources(model, word, document, write),
        )
        for word, n, literal_part, other, impact in zip(
            _words(query, document), found.counts, literal, latent, impacts, strict=True
        )
    ]
    return LatentExplanation(float(found.counts @ floor), tuple(parts))


def _sources(model: GenerativeModel, word: str, document: FoldedDocuments, write: Write) -> tuple[LatentSource, ...]:
    known = FoldedDocuments(model.vocabulary, model.known(document.texts), document.vectors)
    if isinstance(model, TranslationModel):
        return tuple(LatentSource(write(name), share) for name, share in model.sources(word, known)[:MOST_SOURCES])
    number = model.vocabulary.ids.get(word)
    if isinstance(model, TopicModel) and number is not None:
        weights = np.asarray(model.phi_q[number] * document.vectors[0], np.float64)
        best = np.argsort(-weights, kind="stable")[:MOST_SOURCES].tolist()
        return tuple(LatentSource(model.topic_name(z, write=write), float(weights[z])) for z in best if weights[z] > 0)
    return ()


def _projected(model: ProjectionModel, query: Query, document: FoldedDocuments, write: Write) -> LatentExplanation:
    asked, held = document.query(query), document.texts
    n_words = max(len(document.vocabulary), 1 + int(asked.words.max(initial=-1)))
    q = weighted(asked, model.idf, n_words)[[0]].toarray().ravel()
    d = weighted(held, model.idf, n_words)[[0]].toarray().ravel()
    share, known = model.literal_weight, len(model.vocabulary)
    title = [word for word in held.words.tolist() if word < known]
    norms = [_soft_norm(model, vector) for vector in (q, d)]
    parts = []
    for word, term, n in zip(asked.words.tolist(), _words(query, document), asked.counts.tolist(), strict=True):
        literal = share * float(q[word] * d[word])
        pairs = _pairs(model, word, title, q, d, norms, 1 - share) if word < known else []
        sources = [LatentSource(write(each.name), each.weight) for each in pairs]
        latent = sum(each.weight for each in sources)
        parts.append(LatentPart(write(term), float(n), literal, latent, literal + latent, _first(sources)))
    return LatentExplanation(0.0, tuple(parts))


def _pairs(
    model: ProjectionModel, word: int, title: Sequence[int], q: np.ndarray, d: np.ndarray, norms: Sequence[float],
    share: float,
) -> list[LatentSource]:  # fmt: skip
    """Return the contribution of each word of the title to one word of the query."""
    if not title or not all(norms):
        return []
    products = model.matrix[title].astype(np.float64) @ model.matrix[word].astype(np.float64)
    added = share * float(q[word]) * d[title] * products / (norms[0] * norms[1])
    return [LatentSource(model.vocabulary.words[v], float(x)) for v, x in zip(title, added, strict=True)]


def _soft_norm(model: ProjectionModel, vector: np.ndarray) -> float:
    projected = vector[: len(model.vocabulary)] @ model.matrix.astype(np.float64)
    return float(np.sqrt(projected @ projected + model.softness**2))

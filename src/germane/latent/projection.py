"""Linear projections of tf-idf vectors: VSM, which projects nothing, LSA, CL-LSA and OPCA.

A document is A^T D, Clicks (19), and scores by the cosine with the query's, (20), mixed with that of the words
themselves (§5.3). All three matrices A follow from the second moments of the pairs, which are sparse and add up over
parts of the pairs:

    S_qq = Σ Q Q^T,  S_dd = Σ D D^T,  S_qd = Σ Q D^T

LSA: the first eigenvectors of S_qq + S_dd. This is the PCA form that the paper used, without a mean, which is almost 0
and would not be sparse; U_k Σ_k^-1 is the other scaling. CL-LSA: of the same for concatenated texts,
S_qq + S_dd + S_qd + S_qd^T. OPCA: S v = μ N v with S = S_qq + S_dd and the noise N = S_qq + S_dd - S_qd - S_qd^T,
Clicks (23), (24), to whose diagonal a ridge is added. No table of words × words is ever dense.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg, eigsh

from germane.arrays import AnyArray, Floats, sums_of_products
from germane.errors import ParameterError
from germane.latent.pairs import FoldedDocuments, Pairs, Query, Texts, WordIds, check_above, check_count, check_share


class Cosines(NamedTuple):
    """The two cosines of a query with each document: of their words, and in the projected space."""

    literal: Floats
    latent: Floats

    def score(self, literal_weight: float) -> Floats:
        """The weighted sum, Clicks §5.3."""
        return literal_weight * self.literal + (1 - literal_weight) * self.latent


def inverse_frequencies(pairs: Pairs) -> Floats:
    """idf(w) = log((1 + N)/(1/2 + df)) over queries and titles; at the end that of words never seen."""
    seen = [np.bincount(side.words, minlength=len(pairs.vocabulary) + 1) for side in (pairs.queries, pairs.titles)]
    return np.asarray(np.log((1 + 2 * len(pairs)) / (0.5 + seen[0] + seen[1])))


def weighted(texts: Texts, idf: Floats, n_words: int) -> sparse.csr_array:
    """tf-idf vectors of length 1, texts × words."""
    weight = texts.counts * idf[np.minimum(texts.words, len(idf) - 1)]
    squares = np.bincount(texts.rows, weight * weight, len(texts))
    norms = np.sqrt(np.where(squares > 0, squares, 1))
    return sparse.csr_array((weight / norms[texts.rows], texts.words, texts.starts), shape=(len(texts), n_words))


@dataclass(frozen=True, eq=False)
class ProjectionModel:
    """The matrix A, words × dimensions, and idf by word, at its end that of unknown words.

    `softness` is ε of the cosine Q̂·D̂ / (√(‖Q̂‖² + ε²) √(‖D̂‖² + ε²)); 0 is the plain one.
    """

    vocabulary: WordIds
    idf: Floats
    matrix: npt.NDArray[np.float32]
    literal_weight: float
    softness: float = 0.0

    def __post_init__(self) -> None:
        check_share("literal_weight", self.literal_weight)

    def mixed(self, *, literal_weight: float) -> Self:
        """Return the model with another weight of the words' cosine."""
        return replace(self, literal_weight=literal_weight)

    @property
    def width(self) -> int:
        """The numbers that it keeps of a document."""
        return int(self.matrix.shape[1])

    def fold_in(self, titles: Sequence[str], vectors: npt.NDArray[np.float32] | None = None) -> FoldedDocuments:
        """The projected titles, divided by their (soft) norms; `vectors`: where these are known already."""
        vocabulary, texts = self.vocabulary.extended(titles)
        return FoldedDocuments(vocabulary, texts, self.project(texts) if vectors is None else vectors)

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """The projected texts, for a vector field; zeros where the model knows no word."""
        return self.project(self.vocabulary.numbered(texts)[1])

    def encode_query(self, text: str) -> npt.NDArray[np.float32]:
        """The projected query."""
        vector: npt.NDArray[np.float32] = self.project(self.vocabulary.query(text))[0]
        return vector

    def project(self, texts: Texts) -> npt.NDArray[np.float32]:
        """A^T D / √(‖A^T D‖² + ε²) of each text. Words without a row in A count in the length of D alone."""
        vectors = weighted(texts, self.idf, max(len(self.vocabulary), 1 + int(texts.words.max(initial=-1))))
        known = vectors[:, : len(self.vocabulary)]
        used, places = np.unique(known.indices, return_inverse=True)  # of a query some rows of A, not all
        held = sparse.csr_array((known.data, places, known.indptr), shape=(len(texts), len(used)))
        projected = held @ self.matrix[used]
        norms = np.sqrt((projected * projected).sum(axis=1, keepdims=True) + self.softness**2)
        return np.asarray(projected / np.where(norms > 0, norms, 1), np.float32)

    def cosines(self, query: Query, documents: FoldedDocuments) -> Cosines:
        """The parts of the score."""
        asked = documents.query(query)
        n_words = max(len(documents.vocabulary), 1 + int(asked.words.max(initial=-1)))
        words = weighted(asked, self.idf, n_words).toarray().ravel()
        literal = weighted(documents.texts, self.idf, n_words) @ words
        return Cosines(literal, sums_of_products(documents.vectors, self.project(asked)[0]))

    def score(self, query: Query, documents: FoldedDocuments) -> Floats:
        """The mixed cosine of each document."""
        return self.cosines(query, documents).score(self.literal_weight)

    def neighbours(self, word: str, n: int = 10) -> list[tuple[str, float]]:
        """The words nearest to a word in the projected space, with their cosines; none for a word that is not known."""
        place = self.vocabulary.ids.get(word)
        if place is None:
            return []
        norms = np.linalg.norm(self.matrix, axis=1)
        found = (self.matrix @ self.matrix[place]) / np.maximum(norms * norms[place], np.finfo(np.float32).tiny)
        found[place] = -np.inf
        best = np.argsort(-found, kind="stable")[: min(n, len(found) - 1)]
        return [(self.vocabulary.words[other], float(found[other])) for other in best.tolist()]


@dataclass(frozen=True)
class VSM:
    """The baseline of projections: cosines of tf-idf vectors."""

    def fit(self, pairs: Pairs) -> ProjectionModel:
        """Count how many texts hold each word."""
        nothing = np.zeros((len(pairs.vocabulary), 0), np.float32)
        return ProjectionModel(pairs.vocabulary, inverse_frequencies(pairs), nothing, 1.0)


@dataclass(frozen=True, eq=False)
class Moments:
    """S_qq, S_dd and S_qd, sparse; sums over parts of the pairs are those of the whole."""

    query: sparse.csr_array
    title: sparse.csr_array
    cross: sparse.csr_array

    @classmethod
    def of(cls, pairs: Pairs, idf: Floats) -> "Moments":
        """The second moments of tf-idf vectors, each pair as often as its weight says."""
        n_words = len(pairs.vocabulary)
        queries, titles = (weighted(side, idf, n_words) for side in (pairs.queries, pairs.titles))
        weights = sparse.diags_array(pairs.weights.astype(np.float64))
        return cls(
            sparse.csr_array(queries.T @ (weights @ queries)),
            sparse.csr_array(titles.T @ (weights @ titles)),
            sparse.csr_array(queries.T @ (weights @ titles)),
        )

    def merge(self, other: "Moments") -> "Moments":
        """The moments of both parts."""
        return Moments(self.query + other.query, self.title + other.title, self.cross + other.cross)


class TooManyDimensionsError(ParameterError):
    """More dimensions than `n_words` words have."""

    def __init__(self, n_dimensions: int, n_words: int) -> None:
        self.n_words = n_words
        super().__init__(f"{n_dimensions} dimensions need more than {n_words} words: ask for fewer dimensions")


@dataclass(frozen=True)
class Eigenprojection(ABC):
    """Base of the three projections: k dimensions, found from moments."""

    n_dimensions: int = 100
    literal_weight: float = 0.5
    random_state: int = 0

    def __post_init__(self) -> None:
        check_count("n_dimensions", self.n_dimensions)
        check_share("literal_weight", self.literal_weight)
        check_count("random_state", self.random_state, 0)

    def fit(self, pairs: Pairs) -> ProjectionModel:
        """Moments, then eigenvectors."""
        idf = inverse_frequencies(pairs)
        return self.update(pairs.vocabulary, idf, Moments.of(pairs, idf))

    def update(self, vocabulary: WordIds, idf: Floats, moments: Moments) -> ProjectionModel:
        """The model that the moments of all pairs give."""
        if not self.n_dimensions < len(vocabulary):
            raise TooManyDimensionsError(self.n_dimensions, len(vocabulary))
        matrix = self.eigenvectors(moments).astype(np.float32)
        return ProjectionModel(vocabulary, idf, matrix, self.literal_weight)

    @abstractmethod
    def eigenvectors(self, moments: Moments) -> AnyArray:
        """A, words × dimensions."""

    def _first(self, signal: Any, **generalised: Any) -> AnyArray:
        """The first eigenvectors, the strongest first, their largest entry positive."""
        start = np.random.default_rng(self.random_state).standard_normal(signal.shape[0])
        _, vectors = eigsh(signal, self.n_dimensions, which="LA", v0=start, tol=1e-7, **generalised)
        vectors = vectors[:, ::-1]
        largest = np.abs(vectors).argmax(axis=0)
        return np.asarray(vectors * np.sign(vectors[largest, np.arange(vectors.shape[1])]))


@dataclass(frozen=True)
class LSA(Eigenprojection):
    """Latent semantic analysis: queries and titles as texts of their own, Clicks (18), (22)."""

    def eigenvectors(self, moments: Moments) -> AnyArray:
        """Of S_qq + S_dd."""
        return self._first(moments.query + moments.title)


@dataclass(frozen=True)
class CLLSA(Eigenprojection):
    """Cross-language LSA: each query and its title as one text."""

    def eigenvectors(self, moments: Moments) -> AnyArray:
        """Of S_qq + S_dd + S_qd + S_qd^T."""
        return self._first(moments.query + moments.title + moments.cross + moments.cross.T)


@dataclass(frozen=True)
class OPCA(Eigenprojection):
    """Oriented principal components, Clicks (23), (24): directions of much variance in which pairs differ little.

    `ridge`: added to N's diagonal, as a multiple of its mean. Eigenvectors have v^T N v = 1. Systems N x = b are solved
    by conjugate gradients: the ridge makes N well-conditioned.
    """

    ridge: float = field(default=0.5, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_above("ridge", self.ridge, 0)

    def eigenvectors(self, moments: Moments) -> AnyArray:
        """Of S v = μ N v."""
        signal = moments.query + moments.title
        noise = signal - moments.cross - moments.cross.T
        noise = sparse.csr_array(noise + self.ridge * noise.diagonal().mean() * sparse.eye_array(noise.shape[0]))
        return self._first(signal, M=noise, Minv=LinearOperator(noise.shape, _Solver(noise), dtype=np.float64))


class _Solver:
    """x = N^-1 b by conjugate gradients, preconditioned by N's diagonal."""

    def __init__(self, noise: sparse.csr_array) -> None:
        self._noise = noise
        self._preconditioner = sparse.diags_array(1 / noise.diagonal())

    def __call__(self, b: AnyArray) -> AnyArray:
        x, failed = cg(self._noise, b.ravel(), rtol=1e-7, maxiter=1000, M=self._preconditioner)
        if failed:
            raise ParameterError("the noise matrix is too badly conditioned: raise the ridge")
        return np.asarray(x)

"""What the ranking sees of a reference: its words, those of the title three times, as unit tf-idf vectors."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from germane.arrays import AnyArray, Integers
from germane.errors import ParameterError
from germane.text import Analyzer, BulkAnalyzer
from germane.types import Document, text_of

TITLE_FIELDS = ("title",)
ABSTRACT_FIELDS = ("text", "abstract")
BODY_FIELDS = (*ABSTRACT_FIELDS, "keywords")
"""Where the words are looked for, in any case; `text` is what the readers of references call the abstract."""
TITLE_WEIGHT = 3.0
BATCH = 4096
"""Texts analysed at once: analysing needs several times their size in memory."""


class Weighted(NamedTuple):
    """One unit row for each document (zero where it has no word), and the word each column stands for."""

    rows: sparse.csr_array
    words: list[str]


def weigh_documents(
    documents: Sequence[Document],
    *,
    analyzer: Analyzer | None = None,
    title_weight: float = TITLE_WEIGHT,
    title_fields: Sequence[str] = TITLE_FIELDS,
    body_fields: Sequence[str] = BODY_FIELDS,
) -> Weighted:
    """The documents' words, counted (title words `title_weight` times), as unit tf-idf rows.

    The analyser is `default_analyzer` unless another is given.
    """
    if not (np.isfinite(title_weight) and title_weight >= 0.0):
        raise ParameterError(f"the weight of the title must be a number from 0, not {title_weight}")
    bulk = BulkAnalyzer(analyzer or default_analyzer())
    titles = _count(bulk, [words_of(document, title_fields) for document in documents])
    bodies = _count(bulk, [words_of(document, body_fields) for document in documents])
    n_words = len(bulk.terms)
    titles.resize(len(documents), n_words)
    bodies.resize(len(documents), n_words)
    words = bulk.surfaces()[0] if n_words else []
    return Weighted(tf_idf(sparse.csr_array(title_weight * titles + bodies)), words)


def default_analyzer() -> Analyzer:
    """Porter's stemmer with English stop words."""
    return Analyzer(stemmer="porter")


def words_of(document: Document, fields: Sequence[str]) -> str:
    """`text_of` of a document's fields, found in any case."""
    return text_of({name.lower(): value for name, value in document.fields.items()}, map(str.lower, fields))


def tf_idf(counts: sparse.csr_array) -> sparse.csr_array:
    """x_dw = (1 + ln max(1, c_dw))·(ln((1 + N)/(1 + df_w)) + 1), each row divided by its length √Σx².

    A row without words stays zero. idf is scikit-learn's smoothed one, tf its `sublinear_tf`.
    """
    rows = sparse.csr_array(counts, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    n_docs, n_words = rows.shape
    df = np.bincount(rows.indices, minlength=n_words)
    idf = np.log((1.0 + n_docs) / (1.0 + df)) + 1.0
    rows.data = (1.0 + np.log(np.maximum(rows.data, 1.0))) * idf[rows.indices]
    owner = np.repeat(np.arange(n_docs), np.diff(rows.indptr))
    norm = np.sqrt(np.bincount(owner, rows.data**2, minlength=n_docs))
    rows.data /= norm[owner]
    return rows


def _count(bulk: BulkAnalyzer, texts: Sequence[str]) -> sparse.csr_array:
    """Counts of the words of each text, as wide as the vocabulary is by now."""
    ids: list[AnyArray] = [np.zeros(0, np.int64)]
    ends: list[Integers] = [np.zeros(1, np.int64)]
    for start in range(0, len(texts), BATCH):
        found, found_ends = bulk.analyze(texts[start : start + BATCH])
        ids.append(found.astype(np.int64))
        ends.append(found_ends + ends[-1][-1])
    columns, indptr = np.concatenate(ids), np.concatenate(ends)
    table = sparse.csr_array((np.ones(len(columns)), columns, indptr), shape=(len(texts), len(bulk.terms)))
    table.sum_duplicates()
    return table

"""The common opponent: tf-idf and a linear SVM."""

from typing import Any

from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC


def tfidf_svm(C: float = 1.0, random_state: Any = None) -> Pipeline:
    """A linear SVM on (1 + log f)·idf, each document scaled to length 1: a pipeline for counts, "weights" and "svm"."""
    return Pipeline(
        [("weights", TfidfTransformer(sublinear_tf=True)), ("svm", LinearSVC(C=C, random_state=random_state))]
    )

"""Unigram language models: the `LanguageModel` type, smoothing methods and divergences. Needs only NumPy."""

from germane.lm.bigram import BigramModel
from germane.lm.collection import CollectionStats, idf, robertson_idf
from germane.lm.divergences import (
    cross_entropy,
    d_cross_entropy,
    entropy,
    jensen_shannon,
    kl,
    perplexity,
    symmetric_kl,
    t_cross_entropy,
)
from germane.lm.leave_one_out import LeaveOneOut, Postings, optimal_lam, optimal_mu
from germane.lm.model import LanguageModel, Truncation
from germane.lm.smoothing import (
    MLE,
    AbsoluteDiscounting,
    Dirichlet,
    ExcessRatio,
    JelinekMercer,
    Laplace,
    Size,
    Smoothing,
    TwoStage,
)
from germane.lm.spelling import Speller

__all__ = [
    "MLE",
    "AbsoluteDiscounting",
    "BigramModel",
    "CollectionStats",
    "Dirichlet",
    "ExcessRatio",
    "JelinekMercer",
    "LanguageModel",
    "Laplace",
    "LeaveOneOut",
    "Postings",
    "Size",
    "Smoothing",
    "Speller",
    "Truncation",
    "TwoStage",
    "cross_entropy",
    "d_cross_entropy",
    "entropy",
    "idf",
    "jensen_shannon",
    "kl",
    "optimal_lam",
    "optimal_mu",
    "perplexity",
    "robertson_idf",
    "symmetric_kl",
    "t_cross_entropy",
]

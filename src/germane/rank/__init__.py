"""Ranking: which documents does a query ask for, in which order, and why?"""

from germane.rank.models import BM25, DCrossEntropy, QueryLikelihood, RankingModel, TfIdf
from germane.rank.registry import MODEL_NAMES, model_named

__all__ = ["BM25", "MODEL_NAMES", "DCrossEntropy", "QueryLikelihood", "RankingModel", "TfIdf", "model_named"]

"""Ranking: query language, ranking models (query likelihood, BM25, TF-IDF, ...), filters, top-k search, explanations.

Names are imported on first use.
"""

from typing import TYPE_CHECKING

from germane.lazy import lazy_exports

if TYPE_CHECKING:
    from germane.rank.maxscore.posting_cache import keep_decoded
    from germane.rank.models.base import RankingModel
    from germane.rank.models.bm25 import BM25
    from germane.rank.models.comparison import DCrossEntropy, LikelihoodRatio
    from germane.rank.models.dependence import SequentialDependence
    from germane.rank.models.fields import BM25F, FieldMixture
    from germane.rank.models.likelihood import QueryLikelihood
    from germane.rank.models.tfidf import TfIdf
    from germane.rank.registry import MODEL_NAMES, model_named

__all__ = [
    "BM25",
    "BM25F",
    "MODEL_NAMES",
    "DCrossEntropy",
    "FieldMixture",
    "LikelihoodRatio",
    "QueryLikelihood",
    "RankingModel",
    "SequentialDependence",
    "TfIdf",
    "keep_decoded",
    "model_named",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "maxscore.posting_cache": ["keep_decoded"],
        "models.dependence": ["SequentialDependence"],
        "models.fields": ["BM25F", "FieldMixture"],
        "models.base": ["RankingModel"],
        "models.bm25": ["BM25"],
        "models.comparison": ["DCrossEntropy", "LikelihoodRatio"],
        "models.likelihood": ["QueryLikelihood"],
        "models.tfidf": ["TfIdf"],
        "registry": ["MODEL_NAMES", "model_named"],
    },
)

"""Ranking: query language, ranking models (query likelihood, BM25, TF-IDF, ...), filters, top-k search, explanations.

Names are imported on first use.
"""

from typing import TYPE_CHECKING

from germane.lazy import lazy_exports

if TYPE_CHECKING:
    from germane.rank.decoded import keep_decoded
    from germane.rank.dependence import SequentialDependence
    from germane.rank.field_models import BM25F, FieldMixture
    from germane.rank.models import BM25, DCrossEntropy, LikelihoodRatio, QueryLikelihood, RankingModel, TfIdf
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
        "decoded": ["keep_decoded"],
        "dependence": ["SequentialDependence"],
        "field_models": ["BM25F", "FieldMixture"],
        "models": ["BM25", "DCrossEntropy", "LikelihoodRatio", "QueryLikelihood", "RankingModel", "TfIdf"],
        "registry": ["MODEL_NAMES", "model_named"],
    },
)

"""Ranking models: each states its formula once, as a function of numbers, with its equation and its source.

- `base`: what a model is: `plan` does the work of a query, `document_*` what depends on the documents alone.
- `bm25` (with the default, adaptive one), `likelihood`, `tfidf`, `fields`, `dependence`, `bayesian_likelihoods`,
  `comparison`: the models.
- `evidence`: models that make their own counts, of fields or of pairs of words.

Not here: names and defaults (`rank.registry`), how documents are found (`rank.scoring`, `rank.maxscore`).
Names are imported on first use.
"""

from typing import TYPE_CHECKING

from germane.lazy import lazy_exports

if TYPE_CHECKING:
    from germane.rank.models.base import Documents, RankingModel, TermwiseModel, WordSums

__all__ = ["Documents", "RankingModel", "TermwiseModel", "WordSums"]

__getattr__, __dir__ = lazy_exports(__name__, {"base": ["Documents", "RankingModel", "TermwiseModel", "WordSums"]})

"""Why a second stage by a latent model gives a document its score."""

from dataclasses import dataclass

from germane.engine.rerank import Reranker
from germane.errors import ParameterError
from germane.latent.parts import LatentExplanation
from germane.lazy import on_first_use
from germane.rank.query.resolve import ParsedQuery
from germane.rank.retriever import Retriever, Scoring, SignedTopic
from germane.rank.scoring.explain import Explanation
from germane.rank.scoring.priors import Prior

with on_first_use(__name__):
    from germane.engine.models import stage as models_stage


@dataclass(frozen=True, slots=True)
class RerankedExplanation(Explanation):
    """score = latent.score + first_weight · (the score of the first stage, whose parts are those of `Explanation`)."""

    stage: str = ""
    first_weight: float = 0.0
    latent: LatentExplanation | None = None

    @property
    def first_score(self) -> float:
        """The score of the ranking model that is mixed in."""
        return Explanation.score.fget(self)  # type: ignore[attr-defined, no-any-return]

    @property
    def score(self) -> float:
        """The parts added up."""
        assert self.latent is not None
        return self.latent.score + (self.first_weight * self.first_score if self.first_weight else 0.0)


def explain_reranked(
    retriever: Retriever, query: ParsedQuery, ref: int, stage: Reranker, priors: tuple[Prior, ...]
) -> RerankedExplanation:
    """The parts of what a latent stage says of a document; a `ParameterError` for another re-ranker."""
    if not isinstance(stage, models_stage.LatentStage):
        raise ParameterError(f"{type(stage).__name__} does not say what its scores are made of")
    latent = stage.explained(query, retriever, ref)
    scoring = Scoring(SignedTopic(query.weights), stage.first.of_query(query.runs), priors)
    first = retriever.explain(ref, scoring)  # without parts where no word of the query occurs in the collection
    return RerankedExplanation(
        first.doc_id, first.parts, first.norm, first.constant, first.document, first.prior, first.length, None,
        stage.name, stage.first_weight, latent,
    )  # fmt: skip

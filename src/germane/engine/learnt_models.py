"""What an engine learns: models from clicks, and parameters from its documents."""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from germane.engine import changing
from germane.engine.estimating import SAMPLE, learn_lam, learn_mu
from germane.engine.searching import Searching
from germane.lazy import load
from germane.lm import LeaveOneOut

if TYPE_CHECKING:
    from germane.clicks import ClickRules, ClickStore
    from germane.engine.models.model_store import ModelStore
    from germane.engine.models.values import LearnReport, ModelVersion
    from germane.evaluate.frames import AnyQrels, AnyTopics


class EngineLearning:
    """The methods of an `Engine` that learn, and that say which learnt model serves."""

    _searching: Searching

    @property
    def models(self) -> "ModelStore":
        """The models that were learnt from clicks: their versions, which one serves, promotion and rollback."""
        return self._searching.models

    def learn(
        self,
        clicks: "str | os.PathLike[str] | ClickStore",
        *,
        name: str = "clicks",
        model: str = "wtm",
        hold_out: Literal["query", "time"] = "query",
        share: float = 0.2,
        depth: int = 1000,
        alpha: float = 0.05,
        allow_equal: bool = False,
        topics: "AnyTopics | None" = None,
        qrels: "AnyQrels | None" = None,
        rules: "ClickRules | None" = None,
        force: bool = False,
        on_progress: Callable[[str], None] | None = None,
        **parameters: Any,
    ) -> "LearnReport":
        """Learn a latent model from a click history, and let it serve if it ranks held-out queries better.

        `model`: a name of `latent.LATENT_NAMES` with its `parameters`. The candidate is compared with what searches use
        now, a learnt model or the plain ranking, on a `share` of the queries, or of the days (`hold_out="time"`), and
        on judged queries (`topics`, `qrels`). It is kept in any case, and promoted if it passes (`learning`;
        `alpha`, `allow_equal`: see `gate.py`) or with `force`. Then searches use it, unless they name another ranking.
        """
        settings = load("germane.learning.loop.LearnSettings")
        report: LearnReport = load("germane.learning.loop.learn")(
            self,
            clicks,
            name=name,
            settings=settings(model, parameters, hold_out, share, depth, alpha, allow_equal),
            rules=rules,
            topics=topics,
            qrels=qrels,
            force=force,
            on_progress=on_progress,
        )
        return report

    def promote(self, version: str) -> "ModelVersion":
        """Let a version of a learnt model serve ("clicks@2"), and fold all documents in by it.

        What it keeps of documents becomes the vector field of its name, which later documents join as they are added.
        Where another process is writing, the next change does that.
        """
        promoted = self.models.promote(version)
        changing.follow(self._searching, promoted.name)
        return promoted

    def rollback(self, name: str = "clicks") -> "ModelVersion | None":
        """Let the version serve that did before, as `promote` does; None if there was none, and none serves now."""
        before = self.models.rollback(name)
        changing.follow(self._searching, name)
        return before

    def remove_models(self, versions: Sequence[str], *, force: bool = False) -> list[str]:
        """Delete versions of learnt models ("clicks@2") with the vectors that they made; those that serve with `force`.

        Then the versions serve that did before, and the vector fields become theirs. Returns the fields that hold
        vectors of a removed version still, since another process is writing: its next change removes them.
        """
        return changing.remove_models(self._searching, versions, force=force)

    def fold_in(self, name: str = "clicks") -> int:
        """Make the vector field of a learnt model that of the version that serves; how many documents have vectors.

        Promotions do so by themselves; this is for an index that another process was changing then. Where no version
        serves any more, the field of a model goes.
        """
        return changing.fold_all(self._searching, name)

    def learn_mu(self, *, sample: int = SAMPLE, random_state: int = 0) -> LeaveOneOut:
        """The μ of Dirichlet smoothing under which each word is best predicted by the rest of its document."""
        return learn_mu(self._searching.retriever, sample, random_state)

    def learn_lam(self, *, sample: int = SAMPLE, random_state: int = 0) -> LeaveOneOut:
        """The λ of Jelinek-Mercer smoothing, learnt likewise; no judgement is needed."""
        return learn_lam(self._searching.retriever, sample, random_state)

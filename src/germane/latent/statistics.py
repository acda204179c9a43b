"""What one pass over a part of the pairs says of a model. Statistics own their arrays, and those of parts `merge`."""

from dataclasses import dataclass

from germane.arrays import AnyArray, Floats


@dataclass(frozen=True, eq=False)
class TopicStatistics:
    """Expected counts Σ N_{q,z} and Σ N_{w,z}, words × topics, Clicks (6), (7).

    `objective`: the log-likelihood and log P(θ|α) before the step, less KL(P'‖P) where posteriors were projected.
    `steps`: of all projections together.
    """

    query: AnyArray
    title: AnyArray
    objective: float = 0.0
    steps: int = 0

    def merge(self, other: "TopicStatistics") -> "TopicStatistics":
        """The statistics of both parts."""
        return TopicStatistics(
            self.query + other.query,
            self.title + other.title,
            self.objective + other.objective,
            self.steps + other.steps,
        )


@dataclass(frozen=True, eq=False)
class TranslationStatistics:
    """Expected counts of the word pairs of a model's table, Brown et al. (1993)."""

    expected: Floats

    def merge(self, other: "TranslationStatistics") -> "TranslationStatistics":
        """The statistics of both parts."""
        return TranslationStatistics(self.expected + other.expected)


@dataclass(frozen=True, eq=False)
class GradientStatistics:
    """The loss Σ weight · L, its gradient, and Σ weight, Clicks (31)."""

    loss: float
    gradient: AnyArray
    weight: float

    def merge(self, other: "GradientStatistics") -> "GradientStatistics":
        """The statistics of both parts."""
        return GradientStatistics(self.loss + other.loss, self.gradient + other.gradient, self.weight + other.weight)

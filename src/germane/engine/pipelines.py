"""Pipelines: a ranking as an expression, in the manner of PyTerrier (Macdonald & Tonellotto 2020).

    bm25 = engine.pipeline("bm25")
    two_stages = bm25 >> RM3() >> rerank("dirichlet", depth=100) % 50
    mixed = 0.7 * bm25 + 0.3 * engine.pipeline("dirichlet")

A pipeline is a value: nothing is searched before `search`, `run` or `evaluate` asks. Each step says how many results it
needs of the one before, so that a pipeline gives what `Engine.search(feedback=..., rerank=...)` gives, to the last bit.
"""

import dataclasses
import itertools
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from germane.engine.candidates import Candidates
from germane.engine.feedback import Learnt, Passes, gather_evidence, model_of, rank_expansion
from germane.engine.feedback_report import FeedbackReport
from germane.engine.filtering import AnyFilter
from germane.engine.rerank import ByName, Reranker, SecondStage
from germane.engine.results import SearchResult
from germane.engine.searching import Query, Searching, SearchOptions
from germane.errors import InputError, ParameterError
from germane.feedback import FeedbackMethod
from germane.lazy import on_first_use
from germane.lm.parameters import positive, whole
from germane.rank.fusion import Fused, Ranking, fusion_named
from germane.rank.models.base import RankingModel
from germane.rank.query.resolve import ParsedQuery
from germane.rank.retriever import Hits, Retriever, SignedTopic
from germane.rank.scoring.priors import Prior
from germane.types import Marks, Topic

with on_first_use(__name__):
    from germane.evaluate import compare, frames
    from germane.evaluate import measures as evaluate_measures

if TYPE_CHECKING:
    from germane.evaluate.compare import RunsCompared
    from germane.evaluate.frames import AnyQrels, AnyTopics, RunTable
    from germane.evaluate.measures import Evaluation

COMBINED_DEPTH = 1000
"""Number of results that a combination takes of each part, unless a cut-off or k names another."""
BELOW = 1.0
"""By how much the first document of the second part of `a ^ b` is scored below the last of the first part."""


class Asked(NamedTuple):
    """A query, whether it is in the query language, and the filter that documents are to pass."""

    query: Query
    syntax: bool
    filter: AnyFilter | None = None


class Ranked(NamedTuple):
    """State between two steps: the best documents, where they lie, and the query that ranked them."""

    query: ParsedQuery
    topic: SignedTopic
    hits: Hits
    retriever: Retriever
    priors: tuple[Prior, ...]
    report: FeedbackReport | None

    def with_hits(self, hits: Hits) -> "Ranked":
        """Return the query with other documents."""
        report = None if self.report is None else dataclasses.replace(self.report, _hits=hits)
        return self._replace(hits=hits, report=report)

    @property
    def rows(self) -> list[tuple[str, float]]:
        """(id, score), best first."""
        return list(zip(self.retriever.ids(self.hits.refs), self.hits.scores.tolist(), strict=True))


class Pipeline(ABC):
    """A way to rank documents for a query.

    | written | ranks by |
    |---|---|
    | `a >> RM3()` | feedback: learn from the first results of a, rank the collection again |
    | `a >> rerank("dirichlet", depth=100)` | the first results of a, scored again; any `Reranker` may stand there |
    | `a % 100` | the first 100 of a |
    | `2 * a` | a, its scores doubled |
    | `a + b` | the sum of the scores; what a part lacks counts as 0, or as its lowest score if that is below 0 |
    | `a | b`, `a & b` | documents of either, of both; by their best rank: the score is 1/rank |
    | `a ^ b` | the documents of a, and below them what only b has |

    A combination looks at the first 1000 results of each part, or as many as are wanted if more; `(a % 50) + b` at the
    first 50 of a.
    """

    @property
    @abstractmethod
    def model(self) -> RankingModel | None:
        """The model that was named for the search, if one was: feedback ranks by it too."""

    @property
    def home(self) -> Searching:
        """The searches of the pipeline, of a combination those of its first part: whose learnt models can be named."""
        raise ParameterError(f"{type(self).__name__} does not say whose learnt models are meant: give the model itself")

    @abstractmethod
    def best(self, asked: Asked, n: int) -> Ranked:
        """The best n documents, or as many as there are."""

    # -- asking ----------------------------------------------------------------------------------------------------

    def search(
        self, query: Query, k: int = 10, *, syntax: bool = True, filter: AnyFilter | None = None
    ) -> SearchResult:
        """The best k documents for a query in the query language, or plain text with `syntax=False`.

        `filter`: as in `Engine.search`.
        """
        found = self.best(Asked(query, syntax, filter), whole("k", k, least=1))
        return SearchResult(found.query, found.hits, found.retriever, found.report)

    def run(
        self,
        topics: "AnyTopics",
        k: int = 1000,
        *,
        syntax: bool = False,
        filter: AnyFilter | None = None,
        threads: int | None = None,
    ) -> "RunTable":
        """The best k documents for each topic, on all cores: a dictionary of dictionaries, and a frame when asked.

        `topics`: `Topic`s, `{"q1": "heart attack"}`, or a frame with the columns qid and query. They are plain text, as
        in `Engine.batch`; with `syntax` they are in the query language. `filter`: as in `Engine.search`.
        """
        wanted = frames.as_topics(topics)
        whole("k", k, least=1)
        workers = whole("threads", threads, least=1) if threads is not None else os.cpu_count() or 1

        def one(topic: Topic) -> dict[str, float]:
            return dict(self.best(Asked(topic.text, syntax, filter), k).rows)

        if workers == 1:
            rankings = list(map(one, wanted))
        else:
            with ThreadPoolExecutor(workers) as pool:
                rankings = list(pool.map(one, wanted))
        ids = [topic.id for topic in wanted]
        return frames.RunTable(dict(zip(ids, rankings, strict=True)), {topic.id: topic.text for topic in wanted})

    def evaluate(
        self,
        topics: "AnyTopics",
        qrels: "AnyQrels",
        measures: str | Sequence[str] | None = None,
        *,
        k: int = 1000,
        syntax: bool = False,
        threads: int | None = None,
    ) -> "Evaluation":
        """Run the topics that are judged, and measure the run (`germane.evaluate.evaluate`)."""
        judged = frames.as_qrels(qrels)
        wanted = [topic for topic in frames.as_topics(topics) if topic.id in judged]
        run = self.run(wanted, k, syntax=syntax, threads=threads)
        return evaluate_measures.evaluate(
            run, judged, evaluate_measures.DEFAULT_MEASURES if measures is None else measures
        )

    # -- composing -------------------------------------------------------------------------------------------------

    def __rshift__(self, following: "Following") -> "Pipeline":
        made: Pipeline = self
        for step in steps_of(following):
            made = made.then(step)
        return made

    def then(self, step: "Step") -> "Pipeline":
        """This pipeline and one more step."""
        if isinstance(step, FeedbackMethod):
            return Learning(self, step)
        if isinstance(step, SecondStage):
            if isinstance(step.reranker, ByName):
                self.home.reranker(step.reranker.name)  # complains of a name that nothing has
            return Reranking(self, step)
        return CutOff(self, step)

    def __mod__(self, n: int) -> "Pipeline":
        return self.then(whole("a cut-off (%)", n, least=1))

    def __mul__(self, factor: float) -> "Pipeline":
        return Scaled(self, positive("a factor (*)", factor))

    __rmul__ = __mul__

    def __add__(self, other: "Pipeline") -> "Pipeline":
        return Combined.of(self, other, "+", added)

    def __or__(self, other: "Pipeline") -> "Pipeline":
        return Combined.of(self, other, "|", united)

    def __and__(self, other: "Pipeline") -> "Pipeline":
        return Combined.of(self, other, "&", intersected)

    def __xor__(self, other: "Pipeline") -> "Pipeline":
        return Combined.of(self, other, "^", concatenated)


# -- steps that stand by themselves ------------------------------------------------------------------------------------

Step: TypeAlias = FeedbackMethod | SecondStage | int
"""Learn and rank again; score the first results again; cut off."""


@dataclass(frozen=True)
class Steps:
    """Steps that follow a pipeline: `rerank("dirichlet", depth=50) % 10` is one before it has anything to follow."""

    steps: tuple[Step, ...]

    def __rshift__(self, following: "Following") -> "Steps":
        return Steps((*self.steps, *steps_of(following)))

    def __mod__(self, n: int) -> "Steps":
        return Steps((*self.steps, whole("a cut-off (%)", n, least=1)))


Following: TypeAlias = Steps | FeedbackMethod | Reranker
"""Operand on the right of >>."""


def rerank(reranker: str | Reranker, depth: int | None = None) -> Steps:
    """The first `depth` results (1000) scored again: by a ranking model's name, or any `Reranker`.

    The name of a learnt model ("clicks") is one of the index which the pipeline searches: the version that serves then.
    """
    second = SecondStage.of(reranker, depth)
    assert second is not None  # a re-ranker was named
    return Steps((second,))


def steps_of(following: "Following") -> tuple[Step, ...]:
    """Return the operand on the right of >> as steps."""
    if isinstance(following, Steps):
        return following.steps
    if isinstance(following, FeedbackMethod):
        return (following,)
    if isinstance(following, type):
        raise ParameterError(f"{following.__name__} is a class: write {following.__name__}()")
    if isinstance(following, Reranker):
        return rerank(following).steps
    raise ParameterError(
        f"{following!r} cannot follow a pipeline: a feedback method (RM3()), rerank(...) or an object with "
        "rerank(query, candidates) can"
    )


# -- rankings ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Retrieval(Pipeline):
    """A search of the whole collection, with feedback or without: `Engine.search`."""

    searching: Searching = field(repr=False)
    chosen: RankingModel | None
    priors: tuple[Prior, ...] = ()
    feedback: FeedbackMethod | None = None

    @property
    def model(self) -> RankingModel | None:
        return self.chosen

    @property
    def home(self) -> Searching:
        return self.searching

    def best(self, asked: Asked, n: int) -> Ranked:
        options = SearchOptions(self.chosen, self.priors, asked.syntax, self.feedback, rerank=None, filter=asked.filter)
        result = self.searching.search(asked.query, n, options)
        report = result.feedback
        topic = SignedTopic(result.query.weights) if report is None else report.topic
        return Ranked(result.query, topic, *result.located, self.priors, report)

    def then(self, step: Step) -> Pipeline:
        if isinstance(step, FeedbackMethod) and self.feedback is None:
            return dataclasses.replace(self, feedback=step)
        return super().then(step)


@dataclass(frozen=True)
class Learning(Pipeline):
    """Feedback from whatever ranked first: its best documents are the evidence, and the collection is ranked again."""

    first: Pipeline
    method: FeedbackMethod

    @property
    def model(self) -> RankingModel | None:
        return self.first.model

    @property
    def home(self) -> Searching:
        return self.first.home

    def best(self, asked: Asked, n: int) -> Ranked:
        method = self.method
        first = self.first.best(asked, max(method.n_docs, 1))
        chosen = self.model.of_query(first.query.runs) if self.model is not None else None
        models = [chosen or model_of(choice) for choice in (*method.first_rankings, method.final)]
        passes = Passes(tuple(models[:-1]), models[-1], first.query.conditions, first.priors, first.query.wordless)
        retriever, rankings = first.retriever, [first.hits] * len(method.first_rankings)
        evidence, documents, terms = gather_evidence(retriever, first.query.weights, rankings, Marks(), method.n_docs)
        learnt = Learnt(evidence, documents, terms, method.expand(evidence))
        hits = rank_expansion(retriever, learnt.expansion, terms, n, passes)
        report = FeedbackReport(method, learnt, passes, retriever, first.query, hits)
        return first._replace(topic=report.topic, hits=hits, report=report)


@dataclass(frozen=True)
class Reranking(Pipeline):
    """The first results scored again; the others follow in their order (`SecondStage`)."""

    first: Pipeline
    second: SecondStage

    @property
    def model(self) -> RankingModel | None:
        return self.first.model

    @property
    def home(self) -> Searching:
        return self.first.home

    def best(self, asked: Asked, n: int) -> Ranked:
        second = self.second
        if isinstance(second.reranker, ByName):
            second = dataclasses.replace(second, reranker=self.home.reranker(second.reranker.name))
        first = self.first.best(asked, max(n, second.depth))

        def candidates(hits: Hits) -> Candidates:
            return Candidates(first.topic, hits, first.retriever, first.priors)

        return first.with_hits(second.apply(first.hits, n, first.query, candidates))


@dataclass(frozen=True)
class CutOff(Pipeline):
    """The first n."""

    first: Pipeline
    n: int

    @property
    def model(self) -> RankingModel | None:
        return self.first.model

    @property
    def home(self) -> Searching:
        return self.first.home

    def best(self, asked: Asked, n: int) -> Ranked:
        return self.first.best(asked, min(n, self.n))


@dataclass(frozen=True)
class Scaled(Pipeline):
    """Multiply scores by a factor, for a combination."""

    first: Pipeline
    factor: float

    @property
    def model(self) -> RankingModel | None:
        return self.first.model

    @property
    def home(self) -> Searching:
        return self.first.home

    def best(self, asked: Asked, n: int) -> Ranked:
        found = self.first.best(asked, n)
        return found.with_hits(found.hits._replace(scores=found.hits.scores * self.factor))


# -- combinations ------------------------------------------------------------------------------------------------------

Combine: TypeAlias = Callable[[Sequence[Ranking]], Fused]


@dataclass(frozen=True)
class Combined(Pipeline):
    """Several rankings made one by a function of their (id, score) lists."""

    parts: tuple[Pipeline, ...]
    name: str
    combine: Combine = field(repr=False)

    @classmethod
    def of(cls, a: Pipeline, b: Pipeline, name: str, combine: Combine) -> Pipeline:
        """a and b; of `a + b + c` all three at once."""
        if not isinstance(b, Pipeline):
            raise ParameterError(f"a pipeline can be combined ({name}) with a pipeline, not with {b!r}")
        parts = [part.parts if isinstance(part, cls) and part.combine is combine else (part,) for part in (a, b)]
        return cls(tuple(itertools.chain(*parts)), name, combine)

    @property
    def model(self) -> RankingModel | None:
        return None

    @property
    def home(self) -> Searching:
        return self.parts[0].home

    def best(self, asked: Asked, n: int) -> Ranked:
        found = [part.best(asked, max(n, COMBINED_DEPTH)) for part in self.parts]
        rankings = [part.rows for part in found]
        hits = _placed(self.combine(rankings)[:n], found, rankings)
        report = next((part.report for part in found if part.report is not None), None)
        return found[0]._replace(report=report).with_hits(hits)


def _placed(rows: Ranking, parts: Sequence[Ranked], rankings: Sequence[Ranking]) -> Hits:
    """The documents in the collection of the first part."""
    home = parts[0].retriever
    refs: dict[str, int] = {}
    for part, ranking in zip(parts, rankings, strict=True):
        if part.retriever is home:
            refs.update(zip((doc_id for doc_id, _ in ranking), part.hits.refs.tolist(), strict=True))
    others = [doc_id for doc_id, _ in rows if doc_id not in refs]
    refs.update(zip(others, home.locate(others).tolist(), strict=True))
    name = home.schema().name
    lost = next((doc_id for doc_id in others if refs[doc_id] < 0), None)
    if lost is not None and any(part.retriever.schema().name != name for part in parts):
        raise InputError(
            f"document '{lost}' is not in {name}, the index of the first pipeline: combine pipelines over the same "
            "documents, or fuse their runs (germane.evaluate.fusion.fuse_runs)"
        )  # else it came or went between two searches of one index
    kept = [(score, refs[doc_id]) for doc_id, score in rows if refs[doc_id] >= 0]
    scores, places = zip(*kept, strict=True) if kept else ((), ())
    return Hits(np.array(scores, np.float64), np.array(places, np.int64))


def added(rankings: Sequence[Ranking]) -> Fused:
    """Σ s_r(d); where r lacks d, min(0, the lowest score of r): a missing document never gains by negative scores."""
    tables = [dict(ranking) for ranking in rankings]
    absent = [min(0.0, *table.values()) if table else 0.0 for table in tables]
    ids = {doc_id for table in tables for doc_id in table}
    scores = {
        doc_id: sum(table.get(doc_id, least) for table, least in zip(tables, absent, strict=True)) for doc_id in ids
    }
    return sorted(scores.items(), key=lambda row: (-row[1], row[0]))


def united(rankings: Sequence[Ranking]) -> Fused:
    """The documents of any, each scored 1/(its best rank)."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, (doc_id, _) in enumerate(ranking, 1):
            scores[doc_id] = max(scores.get(doc_id, 0.0), 1.0 / rank)
    return sorted(scores.items(), key=lambda row: (-row[1], row[0]))


def intersected(rankings: Sequence[Ranking]) -> Fused:
    """The documents that all hold, each scored 1/(its best rank)."""
    common = set.intersection(*({doc_id for doc_id, _ in ranking} for ranking in rankings))
    return [row for row in united(rankings) if row[0] in common]


def concatenated(rankings: Sequence[Ranking]) -> Fused:
    """The first, then what only the second has, and so on; later scores are lowered by one number for each part."""
    rows: Fused = []
    for ranking in rankings:
        held = {doc_id for doc_id, _ in rows}
        rest = [row for row in ranking if row[0] not in held]
        lower = max(0.0, rest[0][1] - rows[-1][1] + BELOW) if rows and rest else 0.0
        rows += [(doc_id, score - lower) for doc_id, score in rest]
    return rows


def fuse(
    *pipelines: Pipeline,
    method: str = "rrf",
    k: float | None = None,
    normalise: str | None = None,
    weights: Sequence[float] | None = None,
) -> Pipeline:
    """Pipelines fused: by reciprocal ranks ("rrf"), "isr", "combsum" or "combmnz" (`germane.rank.fusion`)."""
    if not pipelines:
        raise ParameterError("there is no pipeline to fuse")
    for pipeline in pipelines:
        if not isinstance(pipeline, Pipeline):
            raise ParameterError(f"pipelines can be fused, {pipeline!r} is none")
    fusion = fusion_named(method, k=k, normalise=normalise)
    fusion([[] for _ in pipelines], weights=weights)  # complain before the work

    def combine(rankings: Sequence[Ranking]) -> Fused:
        return fusion(rankings, weights=weights)

    return Combined(pipelines, method, combine)


def experiment(
    pipelines: Pipeline | Sequence[Pipeline] | Mapping[str, Pipeline],
    topics: "AnyTopics",
    qrels: "AnyQrels",
    measures: str | Sequence[str] = ("AP", "nDCG@10"),
    *,
    baseline: str | None = None,
    test: str = "t",
    k: int = 1000,
    syntax: bool = False,
    threads: int | None = None,
) -> "RunsCompared":
    """Run pipelines over the judged topics and compare them: means, differences, p-values corrected by Holm's method.

    `pipelines`: by the names of the table; in a sequence they are called 1, 2 and so on. Of one
    alone the means are told.

    Each is compared with each, or with the `baseline` alone. `test`: "t", "wilcoxon", "sign" or "randomisation".
    """
    if isinstance(pipelines, Pipeline):
        pipelines = {"pipeline": pipelines}
    elif not isinstance(pipelines, Mapping):
        pipelines = {str(i): one for i, one in enumerate(pipelines, start=1)}
    for name, one in pipelines.items():
        if not isinstance(one, Pipeline):
            raise ParameterError(f"'{name}' is no pipeline but {one!r:.60}: engine.pipeline(...) begins one")
    judged = frames.as_qrels(qrels)
    wanted = [topic for topic in frames.as_topics(topics) if topic.id in judged]
    runs = {name: one.run(wanted, k, syntax=syntax, threads=threads) for name, one in pipelines.items()}
    return compare.compare_runs(runs, judged, measures, baseline=baseline, test=test)

"""germane search: the best documents for a query."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from germane.cli import answers, learnt, options, questions
from germane.cli.failures import NOTHING_FOUND
from germane.cli.feedback import Feedback, ranked_by
from germane.cli.opening import open_engine
from germane.cli.ranking import Ranking
from germane.cli.streams import tell, terminal
from germane.errors import ParameterError

if TYPE_CHECKING:
    from germane.engine import Engine, SearchResult


def search(
    folder: options.Folder,
    words: Annotated[
        list[str], typer.Argument(metavar="WORDS...", help="The query; - reads it from stdin.", show_default=False)
    ],
    k: options.K = 10,
    model: options.ModelIfNamed = None,
    mu: options.Mu = None,
    lam: options.Lam = None,
    delta: options.Delta = None,
    k1: options.K1 = None,
    b: options.B = None,
    prior: options.PriorOption = None,
    feedback: options.Feedback = None,
    relevant: options.Relevant = None,
    not_relevant: options.NotRelevant = None,
    feedback_docs: options.FeedbackDocs = None,
    feedback_terms: options.FeedbackTerms = None,
    query_weight: options.QueryWeight = None,
    guard: options.Guard = False,
    rerank: options.Rerank = None,
    depth: options.Depth = None,
    explain: options.ExplainFeedback = False,
    plot: options.PlotFeedback = None,
    plain: options.Plain = False,
    json: options.Json = False,
    tsv: options.Tsv = False,
    trec: options.Trec = False,
    tag: options.Tag = "germane",
) -> None:
    """Search an index.

    Query language: heart^2 weighs a word; +heart must, -surgery must not occur;
    year:2015, year:2010..2015, year:>=2010 and author:"Smith J" filter.
    Exit code 1 means that nothing was found.

    Example: germane search my-index "heart attack year:2010.." -k 5

    Example: germane search my-index "heart attack" --model bm25 --json

    Example: germane search my-index "heart attack" --feedback rm3 --relevant doc-17 --explain
    """
    if json + tsv + trec > 1:
        raise ParameterError("choose one of --json, --tsv and --trec")
    learning = Feedback(
        feedback, feedback_docs, feedback_terms, query_weight, guard, relevant or (), not_relevant or ()
    )
    _check(learning, explain=explain, plot=plot is not None, lines=tsv or trec)
    query = questions.typed(" ".join(words))
    engine = open_engine(folder)
    ranking = Ranking(model, mu, lam, delta, k1, b, prior or ())
    result, ranked = _searched(engine, query, k, ranking, learning, Second(rerank, depth), plain=plain)
    sought = questions.words_of(query, result, plain=plain)
    reason = questions.why_nothing(engine, query, sought, result) if not len(result) else None
    better = questions.suggestion(engine, query, sought)
    report = result.feedback
    if report is not None and plot is not None:
        learnt.draw(report, plot)
    if json:
        told = learnt.content(learning.known_as(), report) if report is not None and explain else None
        answers.put_json(query, ranked, k, result, better, told)
    elif tsv:
        answers.put_tsv(result)
    elif trec:
        answers.put_trec(result, tag)
    elif len(result):
        answers.show(terminal(), engine, result)
        if report is not None and explain:
            learnt.show(terminal(), engine, learning.known_as(), report)
    if reason is not None:
        tell(reason)
    if better is not None:
        tell(f"did you mean: {better}")
    if reason is not None:
        raise typer.Exit(NOTHING_FOUND)


def _check(learning: Feedback, *, explain: bool, plot: bool, lines: bool) -> None:
    """What is shown of feedback needs feedback, and a place to show it."""
    for option, given in (("--explain", explain), ("--plot", plot)):
        if given and not learning.wanted:
            raise ParameterError(
                f"{option} shows what feedback did: choose a method with --feedback ({', '.join(options.FEEDBACK)}), "
                "or mark documents with --relevant or --not; for the score of one document there is germane explain"
            )
    if explain and lines:
        raise ParameterError("--explain goes with the table or with --json, not with --tsv or --trec")


class Second(NamedTuple):
    """What was asked of a second stage."""

    rerank: str | None
    depth: int | None

    def name(self, first: str) -> str:
        """The models that ranked, the last one last."""
        return first if self.rerank is None else f"{first} >> {self.rerank}"


def _searched(
    engine: "Engine", query: str, k: int, ranking: Ranking, learning: Feedback, second: Second, *, plain: bool
) -> tuple["SearchResult", str]:
    """The result, and the name of the model that ranked it."""
    method = learning.method()
    if method is None:
        model, priors = ranking.chosen(engine)
        result = engine.search(query, k, model=model, priors=priors, syntax=not plain, **second._asdict())
        return result, second.name(ranking.model or options.DEFAULT_MODEL)
    own, priors = ranking.named(engine)
    marks = learning.marks(engine)
    result = engine.search(
        query, k, model=own, priors=priors, syntax=not plain, feedback=method, marks=marks, **second._asdict()
    )
    return result, second.name(ranking.model or ranked_by(method))

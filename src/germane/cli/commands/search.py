"""germane search: the best documents for a query."""

from typing import Annotated

import typer

from germane.cli import answers, options, questions
from germane.cli.failures import NOTHING_FOUND
from germane.cli.opening import open_engine
from germane.cli.ranking import Ranking
from germane.cli.streams import tell, terminal
from germane.errors import ParameterError


def search(
    folder: options.Folder,
    words: Annotated[
        list[str], typer.Argument(metavar="WORDS...", help="The query; - reads it from stdin.", show_default=False)
    ],
    k: options.K = 10,
    model: options.Model = options.DEFAULT_MODEL,
    mu: options.Mu = None,
    lam: options.Lam = None,
    delta: options.Delta = None,
    k1: options.K1 = None,
    b: options.B = None,
    prior: options.PriorOption = None,
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
    """
    if json + tsv + trec > 1:
        raise ParameterError("choose one of --json, --tsv and --trec")
    query = questions.typed(" ".join(words))
    engine = open_engine(folder)
    chosen, priors = Ranking(model, mu, lam, delta, k1, b, prior or ()).chosen(engine)
    result = engine.search(query, k, model=chosen, priors=priors, syntax=not plain)
    sought = questions.words_of(query, result, plain=plain)
    reason = questions.why_nothing(engine, query, sought, result) if not len(result) else None
    better = questions.suggestion(engine, query, sought)
    if json:
        answers.put_json(query, model, k, result, better)
    elif tsv:
        answers.put_tsv(result)
    elif trec:
        answers.put_trec(result, tag)
    elif len(result):
        answers.show(terminal(), engine, result)
    if reason is not None:
        tell(reason)
    if better is not None:
        tell(f"did you mean: {better}")
    if reason is not None:
        raise typer.Exit(NOTHING_FOUND)

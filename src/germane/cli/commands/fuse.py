"""germane fuse: several runs become one."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from germane.cli import options
from germane.cli.streams import tell
from germane.errors import ParameterError
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    from germane import evaluate
    from germane.evaluate import fusion

if TYPE_CHECKING:
    from germane.evaluate.fusion import LearntFusion


def fuse(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="Two runs or more: TREC, TSV or JSON.", show_default=False)
    ],
    method: Annotated[str, typer.Option(help="rrf, isr, combsum or combmnz.")] = "rrf",
    normalise: Annotated[
        str | None,
        typer.Option(help="Of combsum and combmnz: min-max, z-score, sum or none.", show_default="min-max"),
    ] = None,
    rank_constant: Annotated[
        float | None,
        typer.Option("--rank-constant", metavar="K", help="Of rrf: K in 1/(K + rank).", show_default="60"),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="A weight for each run, 0 or more.", show_default="all 1"),
    ] = None,
    learn: Annotated[
        str | None,
        typer.Option(
            metavar="QRELS", help="Learn the weights from judgements, cross-validated over queries.", show_default=False
        ),
    ] = None,
    measure: Annotated[str, typer.Option("-m", "--measure", help="What --learn maximises.")] = "AP",
    folds: Annotated[int, typer.Option(help="Parts that --learn splits the queries in.")] = 2,
    seed: Annotated[int, typer.Option(help="Draws the folds.")] = 0,
    k: options.K = 1000,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Where the run goes; stdout otherwise.", show_default=False),
    ] = None,
    tag: options.Tag = "germane",
) -> None:
    """Fuse runs: by reciprocal ranks (rrf), inverse squares of ranks (isr), or sums of scores (combsum, combmnz).

    With --learn the weights are chosen by hill-climbing. Each judged query is fused by weights that the other folds
    chose, so that the run can be measured with the same judgements.

    Example: germane fuse bm25.txt dirichlet.txt --method rrf --out fused.txt

    Example: germane fuse bm25.txt dirichlet.txt --method combsum --learn qrels.txt --out learnt.txt
    """
    if len(runs) < 2:
        raise ParameterError("two runs at least are fused")
    if learn is not None and weights is not None:
        raise ParameterError("choose one of --learn and --weights")
    if k < 1:
        raise ParameterError(f"-k must be at least 1, not {k}")
    loaded = [evaluate.load_run(run) for run in runs]
    if learn is None:
        fused = fusion.fuse_runs(
            loaded, method, k=rank_constant, normalise=normalise, weights=_numbers(weights), depth=k
        )
    else:
        found = fusion.learn_weights(
            loaded, evaluate.load_qrels(learn), measure, method=method, k=rank_constant, normalise=normalise,
            folds=folds, random_state=seed,
        )  # fmt: skip
        _tell_learnt(found, runs, measure)
        fused = evaluate.RunTable({query: dict(list(scores.items())[:k]) for query, scores in found.run.items()})
    fused.write(out if out is not None else sys.stdout, tag)
    if out is not None:
        tell(f"{counted(len(loaded), 'run')} fused over {counted(len(fused), 'query')}; the run is in {out}")


def _numbers(text: str | None) -> list[float] | None:
    try:
        return None if text is None else [float(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError(f"--weights wants numbers with commas between them, as in 1,0.5, not '{text}'") from None


def _tell_learnt(found: "LearntFusion", runs: list[str], measure: str) -> None:
    named = ", ".join(f"{Path(run).name} {weight:g}" for run, weight in zip(runs, found.weights, strict=True))
    tell(f"weights chosen on all judged queries: {named} ({measure} {found.value:.4f} there)")
    tell(f"{measure} over queries that had no say in their weights: {found.validation.mean:.4f}")

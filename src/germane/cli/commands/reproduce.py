"""germane reproduce: run experiments again, and see whether the figures still hold."""

from pathlib import Path
from typing import Annotated

import typer

from germane.cli.streams import say, tell
from germane.errors import InputError, ParameterError
from germane.lazy import on_first_use

with on_first_use(__name__):
    from germane import experiments as experimenting

FAILED_TO_REPRODUCE = 1


def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE|all|list", help="An experiment, a file of one, all of them, or list.", show_default=False
        ),
    ],
    folder: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="DIR", help="A folder of experiments; those of the papers otherwise.", show_default=False
        ),
    ] = None,
    into: Annotated[Path, typer.Option("--into", metavar="DIR", help="Where reports and plots go.")] = Path("results"),
    no_plots: Annotated[bool, typer.Option("--no-plots", help="Draw nothing.")] = False,
    expected: Annotated[
        bool, typer.Option("--expected", help="Print the figures as the [expected] part of the file.")
    ] = False,
) -> None:
    """Run an experiment and print its table beside the published figures.

    The experiments of the papers come with the package; FILE.toml or --from DIR runs those of your own.
    Writes Markdown, JSON and plots; exits with 1 when a figure leaves its tolerance or a bar is missed. Data sets are
    looked up in the folder that GERMANE_DATA names, then in ir_datasets; indexes are kept in the cache folder
    (GERMANE_CACHE).

    Example: germane reproduce small --into results
    """
    experiments = [experimenting.read_experiment(path) for path in _chosen(name, folder)]
    if name == "list":
        for experiment in experiments:
            say(f"{experiment.name}\t{experiment.title}")
        return
    left, missed = [], []
    for experiment in experiments:
        result = experimenting.run_experiment(
            experiment, on_progress=lambda dataset, system: tell(f"{dataset}: {system}")
        )
        say(experimenting.expected_toml(result) if expected else experimenting.as_text(result))
        for path in experimenting.write_report(result, into, figures=not no_plots):
            tell(f"written: {path}")
        if not all(figure.ok for figure in result.figures):
            left.append(experiment.name)
        if not all(bar.reached for bar in result.bars):
            missed.append(experiment.name)
    if (left or missed) and not expected:
        if left:
            tell(f"germane: figures left their tolerance in: {', '.join(left)}")
        if missed:
            tell(f"germane: bars are missed in: {', '.join(missed)}")
        raise typer.Exit(FAILED_TO_REPRODUCE)


def _chosen(name: str, folder: Path | None) -> list[Path]:
    """The files of the experiments asked for."""
    if name.endswith(".toml"):
        if folder is not None:
            raise ParameterError(f"{name} is a file already: leave out --from, or the ending .toml")
        return [Path(name)]
    known = experimenting.experiment_files(folder or experimenting.published_experiments())
    if name in ("all", "list"):
        return [*known.values()]
    if name not in known:
        raise InputError(f"there is no experiment '{name}'; there are: {', '.join(known)}, or give a file as FILE.toml")
    return [known[name]]

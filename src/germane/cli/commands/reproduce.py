"""germane reproduce: run experiments again, and see whether the figures still hold."""

from pathlib import Path
from typing import Annotated

import typer

from germane.cli.streams import put, tell
from germane.errors import InputError

FAILED_TO_REPRODUCE = 1


def reproduce(
    name: Annotated[
        str, typer.Argument(metavar="NAME|all|list", help="An experiment, all of them, or list.", show_default=False)
    ],
    folder: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="DIR", help="The folder of experiments; reproduce/ otherwise.", show_default=False
        ),
    ] = None,
    into: Annotated[Path, typer.Option("--into", metavar="DIR", help="Where reports and plots go.")] = Path("results"),
    no_plots: Annotated[bool, typer.Option("--no-plots", help="Draw nothing.")] = False,
    expected: Annotated[
        bool, typer.Option("--expected", help="Print the figures as the [expected] part of the file.")
    ] = False,
) -> None:
    """Run an experiment and print its table beside the published figures.

    Writes Markdown, JSON and plots; exits with 1 when a figure leaves its tolerance. Data sets are looked up in the
    folder that GERMANE_DATA names, then in ir_datasets; indexes are kept in the cache folder (GERMANE_CACHE).

    Example: germane reproduce small --into results
    """
    from germane.evaluate.experiments import (
        as_text,
        expected_toml,
        experiment_files,
        read_experiment,
        run_experiment,
        write_report,
    )

    files = experiment_files(folder or _default_folder())
    if name == "list":
        for known, path in files.items():
            put(f"{known}\t{read_experiment(path).title}".encode())
        return
    if name != "all" and name not in files:
        raise InputError(f"there is no experiment '{name}'; there are: {', '.join(files)}")
    experiments = [read_experiment(path) for known, path in files.items() if name in ("all", known)]
    failed = []
    for experiment in experiments:
        result = run_experiment(experiment, on_step=lambda dataset, system: tell(f"{dataset}: {system}"))
        put((expected_toml(result) if expected else as_text(result)).encode())
        for path in write_report(result, into, figures=not no_plots):
            tell(f"written: {path}")
        if not result.ok:
            failed.append(experiment.name)
    if failed and not expected:
        tell(f"germane: figures left their tolerance in: {', '.join(failed)}")
        raise typer.Exit(FAILED_TO_REPRODUCE)


def _default_folder() -> Path:
    """`reproduce/` where we stand, else that of the source checkout."""
    here = Path("reproduce")
    return here if here.is_dir() else Path(__file__).parents[4] / "reproduce"

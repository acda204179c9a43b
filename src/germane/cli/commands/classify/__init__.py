"""germane classify: learn the classes of texts, name those of new ones, measure how well. One module for each."""

import typer

from germane.cli.commands.classify.evaluate import evaluate
from germane.cli.commands.classify.predict import predict
from germane.cli.commands.classify.train import train

classify = typer.Typer(no_args_is_help=True)
classify.command("train")(train)
classify.command("predict")(predict)
classify.command("evaluate")(evaluate)


@classify.callback()
def about() -> None:
    """Learn to label texts from examples, label new ones, and measure how well that goes.

    Needs scikit-learn, which Germane's extra `learn` installs.

    Example: germane classify train mails.csv --label folder --into mails.germane

    Example: germane classify predict mails.germane new.csv
    """

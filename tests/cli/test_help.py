"""Help and documentation: an example for every command, and every command in the reference."""

import inspect
import re
from pathlib import Path

import pytest
import typer

from germane import __version__
from germane.cli.app import COMMANDS, function_of

NAMES = [name for name, *_ in COMMANDS]
TYPED = [
    words
    for name in NAMES
    for words in ([name], *([name, sub.name] for sub in getattr(function_of(name), "registered_commands", ())))
]
"""What is typed for each command: its name, and for a group also the names in it."""
REFERENCE = Path(__file__).parents[2] / "docs" / "cli.md"


@pytest.mark.parametrize("words", TYPED, ids=" ".join)
def test_every_command_has_help_with_an_example(run, words):
    result = run(*words, "--help")
    assert result.exit_code == 0
    assert f"Example: germane {' '.join(words)}" in result.stdout


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_the_summary_of_a_command_is_the_first_paragraph_of_its_help(command):
    function = function_of(command.name)
    if isinstance(function, typer.Typer):
        function = function.registered_callback.callback
    assert command.summary == " ".join(inspect.getdoc(function).split("\n\n")[0].split())


@pytest.mark.parametrize("words", TYPED, ids=" ".join)
def test_every_command_and_option_is_documented(run, words):
    text = REFERENCE.read_text(encoding="utf-8")
    section = text.split(f"\n## {words[0]}\n")[1].split("\n## ")[0]
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", run(*words, "--help").stdout)) - {"--help"}
    assert options <= set(re.findall(r"--[a-z][a-z0-9-]*", text)), options
    assert f"germane {' '.join(words)}" in section


def test_the_reference_holds_no_other_commands():
    titles = re.findall(r"^## ([a-z][a-z-]*)$", REFERENCE.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(titles) <= set(NAMES)


def test_version_and_overview(run):
    assert run("--version").stdout == f"germane {__version__}\n"
    overview = run("--help").stdout
    assert all(name in overview for name in NAMES)


def test_wrong_usage(run):
    assert run("serch").exit_code == 2
    assert run("search").exit_code == 2
    assert run("index", "x", "--into", "y", "--on-error", "maybe").exit_code == 2

"""germane check: is the index whole?"""

from dataclasses import replace

import typer

from germane.cli import options
from germane.cli.failures import DAMAGED, as_commands
from germane.cli.opening import must_be_index
from germane.cli.streams import put_json, say, tell
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    from germane.engine import announcing
    from germane.engine.models import model_store
    from germane.index import check as index_check


def check(folder: options.Folder, json: options.Json = False) -> None:
    """Read every file of an index and verify it, its learnt models too.

    Problems go to stdout; exit code 1 means that there are some.

    Example: germane check my-index
    """
    announcing.announce_compiling()
    must_be_index(folder)
    report, models = index_check.check_index(folder), model_store.ModelStore(folder).problems()
    damaged = len(report.problems)
    if models:
        report = replace(report, ok=False, problems=[*report.problems, *models])
    if json:
        put_json(report)
    for problem in report.problems if not json else ():
        say(as_commands(problem))
    for note in report.notes:
        tell(note)
    if not report.ok:
        repair = f"; 'germane repair {folder}' keeps what can be read" if damaged else ""
        tell(f"{counted(len(report.problems), 'problem')} found{repair}")
        raise typer.Exit(DAMAGED)
    tell(f"the index is whole: {counted(report.documents, 'document')} in {counted(report.segments, 'segment')}")

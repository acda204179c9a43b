"""germane repair: keep what can still be read."""

import typer

from germane.cli import options
from germane.cli.failures import DAMAGED
from germane.cli.opening import must_be_index
from germane.cli.streams import put_json, say, tell
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    from germane.engine import announcing
    from germane.engine.models import model_store
    from germane.index import repair as index_repair


def repair(folder: options.Folder, json: options.Json = False) -> None:
    """Make a damaged index usable again.

    What can be read is kept; what was lost is listed on stdout. Exit code 1 means that documents were lost. A damaged
    learnt model is told of, and stays as it is.

    Example: germane repair my-index
    """
    announcing.announce_compiling()
    must_be_index(folder)
    report = index_repair.repair_index(folder)
    for action in report.actions:
        tell(action)
    if json:
        put_json(report)
    for lost in report.lost if not json else ():
        say(lost)
    outcome = "nothing was lost" if not report.lost else "what was lost is listed above"
    outcome = outcome if report.actions else "nothing was wrong"
    for problem in model_store.ModelStore(folder).problems():
        tell(f"left as it is: {problem}")
    tell(f"{outcome}; the index holds {counted(report.kept_documents, 'document')}")
    if report.lost:
        raise typer.Exit(DAMAGED)

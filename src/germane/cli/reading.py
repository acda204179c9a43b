"""germane screen --interactive: one record at a time, large, and a key for each decision."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from germane.cli.keys import END, Keys, keys
from germane.cli.path_conflicts import require_apart
from germane.cli.screening_tables import facts_of, show_explanation
from germane.cli.streams import terminal
from germane.errors import GermaneError
from germane.lazy import on_first_use
from germane.wording import counted, people

with on_first_use(__name__):
    from rich import padding as rich_padding
    from rich import rule as rich_rule
    from rich import text as rich_text

    from germane.rank import snippets
    from germane.refine import screening as screenings
    from germane.refine.screening import responses, weighting

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from germane.refine.screening import ReviewSession, Screening, Suggestion
    from germane.types import Document

REASONS = ("population", "intervention", "comparison", "outcome", "study design", "publication type", "language")
"""Reasons for exclusion unless others are named: the parts of a review's question, and the kinds of a record."""
MOST_REASONS = 9
WIDTH = 76
"""Characters a line: people read here."""
HELP = (
    ("y", "include"),
    ("n", "exclude"),
    ("1-9", "exclude, for that reason"),
    ("m", "maybe: comes again when nothing else is left"),
    ("c", "a note on this record; what follows, up to the end of the line"),
    ("u", "undo, also of an earlier session"),
    ("U", "redo"),
    ("j k", "pass over for now, and back"),
    ("w", "why: the words for and against"),
    ("e", "export the included records to a file"),
    ("?", "these keys"),
    ("q", "quit; everything is kept"),
)
_UNBROKEN = "\u00a0"
"""A space at which no line is broken."""
_FACTS = ("authors", "author", "journal", "year", "doi", "pmid")


def read_records(screening: "Screening", reasons: Sequence[str], files: Sequence[str]) -> None:
    """Read and decide until the reader quits, the input ends, or every record is decided.

    `files`: those of the records and of the decisions, which no export may replace.
    """
    session = screenings.ReviewSession(screening)
    console = terminal()
    with keys() as typed:
        _loop(session, reasons, files, typed, console)
    for name, value in facts_of(screening):
        console.print(f"{name}: {value}", soft_wrap=True)


def _loop(
    session: "ReviewSession", reasons: Sequence[str], files: Sequence[str], typed: Keys, console: "Console"
) -> None:
    message = ""
    while True:
        record = session.record
        if record is None:
            message = " ".join(filter(None, (message, "Every record is decided.")))
        _show(console, session, record, reasons, message)
        key = typed.key()
        if key in (END, "q"):
            return
        if key == "e":
            message = _export(session, files, typed)
        else:
            message = _act(key, session, reasons, typed, console)


def _act(key: str, session: "ReviewSession", reasons: Sequence[str], typed: Keys, console: "Console") -> str:
    """Do what the key means; what there is to say about it."""
    record = session.record
    if key in ("u", "U"):
        found = session.undo() if key == "u" else session.redo()
        word = "undo" if key == "u" else "redo"
        return f"Nothing to {word}." if found is None else f"{word.capitalize()}: {found}."
    if key == "?":
        return "\n".join(f"{name:>4}  {meaning}" for name, meaning in HELP)
    if record is None:
        return "u undoes, e exports, q quits." if key in "ynmcwjk123456789" else _unknown(key)
    if key.isdecimal() and key != "0":
        if int(key) > len(reasons):
            return f"There are {counted(len(reasons), 'reason')}: 1 to {len(reasons)}."
        session.exclude(reasons[int(key) - 1])
        return f"Excluded, {reasons[int(key) - 1]}: {record.id}."
    if key == "c":
        session.note(typed.line("note: "))
        return ""
    if key == "w":
        show_explanation(console, session.screening, record.id)
        if console.is_terminal:
            console.print("Any key goes on.", style="dim")
            typed.key()
        return ""
    if key == "j":
        return "" if session.forward() else "No other record is left."
    if key == "k":
        return "" if session.back() else "Nothing was passed over."
    actions: dict[str, tuple[Callable[[], None], str]] = {
        "y": (session.include, "Included"),
        "n": (session.exclude, "Excluded"),
        "m": (session.postpone, "Maybe"),
    }
    if key not in actions:
        return _unknown(key)
    action, word = actions[key]
    action()
    return f"{word}: {record.id}."


def _unknown(key: str) -> str:
    return f"{key!r} means nothing here; ? lists the keys."


def _export(session: "ReviewSession", files: Sequence[str], typed: Keys) -> str:
    """Errors are told and nothing ends: a mistyped name must not cost a session."""
    name = typed.line("export to (.ris, .nbib, .bib, .csv, .tsv, .jsonl): ")
    if not name:
        return "Nothing was written: e wants the name of a file."
    try:
        require_apart({"e": Path(name)}, files)
        count = session.screening.export_records(Path(name))
    except (GermaneError, OSError) as error:
        return f"Nothing was written: {error}"
    return f"{counted(count, 'included record')} written to {name}."


# -- the screen --------------------------------------------------------------------------------------------------------


def _show(
    console: "Console", session: "ReviewSession", record: "Suggestion | None", reasons: Sequence[str], message: str
) -> None:
    if console.is_terminal:
        console.clear()
    console.print(_progress(session))
    console.print(rich_rule.Rule(style="dim"))
    if record is not None:
        _show_record(console, session.screening, record)
        console.print(rich_rule.Rule(style="dim"))
        numbered = "  ".join(f"{key} {reason}".replace(" ", _UNBROKEN) for key, reason in enumerate(reasons, start=1))
        console.print(rich_text.Text(f"y include  n exclude  m maybe  u undo  ? keys  q quit\n{numbered}", "dim"))
    if message:
        console.print(rich_text.Text(message, "italic"))


def _progress(session: "ReviewSession") -> "Text":
    screening = session.screening
    left, advice = screening.estimate(), screening.recommendation()
    waiting = sum(annotation.maybe for annotation in screening.annotations.values())
    expected = "" if left.expected is None else f"about {left.expected:.0f} remain, "
    parts = [
        f"{left.read:,} of {left.read + left.unread:,} read",
        f"{left.found:,} included",
        *([f"{waiting:,} maybe"] if waiting else []),
        f"{expected}at most {left.high:,} ({left.confidence:.0%} confidence)",
    ]
    text = rich_text.Text(" · ".join(parts), "dim")
    text.append(f"\n{'Stop' if advice.stop else 'Go on'}: {advice.reason}", "bold" if advice.stop else "dim")
    return text


def _show_record(console: "Console", screening: "Screening", record: "Suggestion") -> None:
    document = screening.documents[record.id]
    wide = min(WIDTH, console.width - 4)
    title = rich_text.Text(responses.title_of(screening, record.id) or record.id, "bold")
    facts = rich_text.Text(" · ".join([record.id, *_facts(document)]), "dim")
    abstract = _marked(responses.abstract_of(screening, record.id) or "(no abstract)", record)
    why = rich_text.Text(f"P(relevant) {record.probability:.0%}", "dim")
    if record.sampled:
        why.append(", drawn at random")
    if record.words:
        lead = "; unlike what was read: " if record.explores else ": "
        why.append(f"{lead}{', '.join(word.word for word in record.words)}")
    annotation = screening.annotations.get(record.id)
    if annotation is not None and annotation.note:
        why.append(f"\nnote: {annotation.note}", "italic")
    for part, below in ((title, 0), (facts, 1), (abstract, 1), (why, 0)):
        console.print(rich_padding.Padding(part, (0, 2, below, 2), expand=False), width=wide + 4)


def _facts(document: "Document") -> list[str]:
    """Who wrote it, where and when, as far as the record says."""
    fields = {name.lower(): value for name, value in document.fields.items()}
    found = []
    for name in _FACTS:
        value = fields.get(name)
        if name in ("authors", "author"):
            value = [*people(value)]
        several = value if isinstance(value, list) else [value]
        written = ", ".join(str(one) for one in several if one is not None)
        if written and written not in found:
            found.append(written if len(written) <= WIDTH else f"{written[:WIDTH]}…")
    return found


def _marked(text: str, record: "Suggestion") -> "Text":
    """The text, with the words in bold that speak most for the record."""
    analyzer = weighting.default_analyzer()
    shown = rich_text.Text(text)
    terms = {term for word in record.words for term in analyzer.terms(word.word)}
    for span in snippets.marks(text, terms, analyzer):
        shown.stylize("bold yellow", span.start, span.end)
    return shown

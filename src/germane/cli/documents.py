"""Documents on their way into an index: read, counted, looked at for the fields that are to be searched."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from germane.cli.progress import watched
from germane.cli.streams import put_json, tell
from germane.errors import InputError, ParameterError
from germane.lazy import on_first_use
from germane.wording import counted, without_a_number

with on_first_use(__name__):
    from germane import data
    from germane.engine import responses

if TYPE_CHECKING:
    from germane.data import SkipReport
    from germane.engine import Engine
    from germane.index.writer import AddReport
    from germane.types import Document


@dataclass(frozen=True, slots=True)
class InputFile:
    """Source of documents, as the command line names it."""

    name: str
    format: str | None
    mapping: Sequence[str]
    encoding: str
    on_error: Literal["stop", "skip"]
    number: bool
    keep_source: bool = False

    def read(self, report: "SkipReport") -> Iterator["Document"]:
        """The documents, one at a time."""
        return data.read_documents(
            self.name,
            format=self.format,
            mapping=mapping_of(self.mapping),
            on_error=self.on_error,
            report=report,
            encoding=self.encoding,
            number=self.number,
            keep_source=self.keep_source,
        )


def documents(
    sources: Sequence[InputFile], report: "SkipReport", text_fields: Sequence[str], *, all_fields: bool, progress: bool
) -> Iterator["Document"]:
    """The sources' documents, one source after another, watched.

    A source without any is an error, and so is none with a text field to search.

    With `all_fields` each of the text fields must occur in some document: a name that was typed may be misspelt.
    """
    missing = set(text_fields)
    example: list[str] = []
    readers = [source.read(report) for source in sources]  # all at once: what is not there is missed at once
    for document in watched(_all(sources, readers, report), "indexing", always=progress):
        example = example or list(document.fields)
        if missing:
            missing.difference_update(document.fields)
        yield document
    if missing and (all_fields or len(missing) == len(set(text_fields))):
        names = ", ".join(sorted(missing))
        found = ", ".join(example) or "none"
        raise InputError(
            f"no document has the field {names} to search; fields found: {found} (choose with --fields, or rename "
            "with --map)",
            source=", ".join(source.name for source in sources),
        )


def _all(
    sources: Sequence[InputFile], readers: "Sequence[Iterator[Document]]", report: "SkipReport"
) -> "Iterator[Document]":
    for source, reader in zip(sources, readers, strict=True):
        before, empty = report.count, True
        for document in reader:
            empty = False
            yield document
        if empty:
            skipped = report.count - before
            suffix = f" ({counted(skipped, 'record')} skipped)" if skipped else ""
            raise InputError(f"there are no documents in it{suffix}", source=source.name)


def tell_skipped(report: "SkipReport") -> None:
    """Say which records were passed over, the first of them in detail."""
    if not report.count:
        return
    for skipped in report.first:
        tell(f"skipped: {InputError(skipped.reason, source=skipped.source, line=skipped.line, field=skipped.field)}")
    if report.count > len(report.first):
        tell(f"... and {report.count - len(report.first):,} more")
    tell(f"{counted(report.count, 'record')} skipped")


class Holds(NamedTuple):
    """Count the documents of an index after an add, and those whose field of numbers holds something else."""

    total: int
    no_number: dict[str, int]

    @classmethod
    def of(cls, engine: "Engine") -> "Holds":
        return cls(len(engine), engine.unreadable())


def put_added(report: "AddReport", skipped: "SkipReport", holds: Holds, *, json: bool) -> None:
    """Say what an add did; with `json`, for programs too."""
    total, no_number = holds
    if json:
        put_json(responses.AddResponse.of(report, unreadable=skipped.count, documents=total, no_number=no_number))
    parts = [f"{counted(report.added, 'document')} indexed"]
    if report.replaced:
        parts.append(f"{report.replaced:,} of them replaced older ones")
    if report.skipped:
        parts.append(f"{report.skipped:,} skipped, their ids being there already")
    for note in without_a_number(no_number):
        tell(note)
    tell(f"{', '.join(parts)}; the index holds {total:,}")


def mapping_of(pairs: Sequence[str]) -> dict[str, str]:
    """`our=their` pairs as a dictionary."""
    mapping: dict[str, str] = {}
    for pair in pairs:
        ours, sign, theirs = pair.partition("=")
        if not sign or not ours or not theirs:
            raise ParameterError(f"--map wants our=their, as in --map text=abstract, not '{pair}'")
        if ours in mapping:
            raise ParameterError(f"--map names the field '{ours}' twice")
        mapping[ours] = theirs
    return mapping

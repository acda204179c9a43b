"""Files and folders as sources of a stream: feeds, records of any format, texts; only what is new is read."""

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from germane.data import SkipReport, read_documents
from germane.data.compression import BUFFER_BYTES, open_binary
from germane.data.folder import files_in, read_text
from germane.data.formats import detect_format, format_in_folder
from germane.errors import GermaneError, InputError
from germane.metasearch.answers import SourceError
from germane.metasearch.payload import Payload
from germane.stream.arrivals import Arrival
from germane.stream.feeds import MAX_FEED, feed_arrivals
from germane.stream.intake import Intake
from germane.stream.lines import line_arrival, lines_of
from germane.stream.sources import ArrivalSource, batched
from germane.stream.store import Store

_FEED = re.compile(
    rb"\s*(?:\xef\xbb\xbf)?(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>]*>|\s)*<(?:rss|feed|rdf:RDF)\b", re.DOTALL
)
_UNFINISHED = (".tmp", ".part", ".crdownload", "~")


@dataclass
class Files(ArrivalSource):
    """A file, or all files of a folder; those that are as they were when they were last read are left alone."""

    path: Path
    store: Store
    _read: list[tuple[str, dict[str, int]]] = field(default_factory=list)

    @property
    def name(self) -> str:  # type: ignore[override]
        """Its path."""
        return str(self.path)

    def poll(self, intake: Intake) -> Iterator[list[Arrival]]:
        """The documents of new and changed files, in the order of their paths."""
        self._read = []
        known = self.store.polls()
        try:
            files = [*files_in(self.path)] if self.path.is_dir() else [self.path]
        except InputError as error:
            intake.trouble(str(error))
            return
        for file in files:
            try:
                stat = file.stat()
                if not os.access(file, os.R_OK):  # not taken for read: leave to read it may be given
                    raise PermissionError("it may not be read")
            except OSError as error:
                intake.trouble(f"{file}: {error.strerror or error}")
                continue
            name, state = str(file.resolve()), {"size": stat.st_size, "mtime": stat.st_mtime_ns}
            if file.name.endswith(_UNFINISHED) or (name in known and known[name].validators == state):
                continue
            yield from batched(file_arrivals(file, intake, alone=file == self.path), intake)
            self._read.append((name, state))

    def settle(self) -> None:
        """Remember which files were read."""
        for file, state in self._read:
            self.store.put_poll(file, validators=state, failures=0, not_before=0.0, trouble="")
        self._read = []


def file_arrivals(file: Path, intake: Intake, *, alone: bool = True) -> Iterator[Arrival]:
    """The documents of a file: a feed, records of any format, or a text. What is wrong with it is told.

    Their source is the whole path, however it was typed. A text's id is that and the start of the SHA-256 of what it
    says, so that a changed text is a new document; an empty one is none.
    """
    source = str(file.resolve())
    try:
        with open(file, "rb") as stream:
            head = stream.read(4096)
        if _FEED.match(head):
            yield from _feed_file(file, source, intake)
            return
        if alone and file.suffix.lower() != ".txt":
            format = detect_format(file)
        else:
            format = format_in_folder(file)
        if format is None:
            for document in read_text(file, file.parent, on_bad=partial(_told, intake)):
                text = str(document.fields["text"])
                if text.strip():
                    said = hashlib.sha256(text.encode()).hexdigest()[:12]
                    yield Arrival.of({"id": f"{source}#{said}", **document.fields}, source)
            return
        if format == "jsonl":
            yield from _line_file(file, source, intake)
            return
        yield from _records(file, source, format, intake)
    except (GermaneError, OSError) as error:
        intake.trouble(str(error) if isinstance(error, GermaneError) else f"{file}: {error.strerror or error}")


def _line_file(file: Path, source: str, intake: Intake) -> Iterator[Arrival]:
    with open_binary(file, text=False) as stream:
        for line in lines_of(iter(partial(stream.read1, BUFFER_BYTES), b""), source, intake):
            found = None if line is None else line_arrival(line[1], line[0], source, intake)
            if found is not None:
                yield found


def _records(file: Path, source: str, format: str, intake: Intake) -> Iterator[Arrival]:
    report = SkipReport()
    made = re.compile(re.escape(file.name) + r":\d+")
    try:
        for document in read_documents(file, format=format, on_error="skip", report=report, number=True):
            yield Arrival.of(document, source, made_id=made.fullmatch(document.id) is not None)
    finally:  # also where the file cannot be read to its end
        for skipped in report.first:
            intake.trouble(
                str(InputError(skipped.reason, source=skipped.source, line=skipped.line, field=skipped.field))
            )
        intake.n_troubles += report.count - len(report.first)


def _feed_file(file: Path, source: str, intake: Intake) -> Iterator[Arrival]:
    if file.stat().st_size > MAX_FEED:
        intake.trouble(
            f"{file}: a feed of more than {MAX_FEED:,} bytes, which is passed over; cut it into smaller ones"
        )
        return
    try:
        found, troubles = feed_arrivals(Payload(file.read_bytes()), source)
    except SourceError as error:
        intake.trouble(f"{file}: {error}")
        return
    for told in troubles:
        intake.trouble(f"{file}: {told}")
    yield from found


def _told(intake: Intake, error: InputError) -> bool:
    """Tell the intake of a record that cannot be used."""
    intake.trouble(str(error))
    return False

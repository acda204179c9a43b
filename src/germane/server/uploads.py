"""Files on their way in: kept apart until somebody has seen what they hold and said yes."""

import re
import secrets
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from germane.data import SkipReport, read_documents
from germane.data.atomic import write_bytes
from germane.data.bad_records import Skipped
from germane.data.bibliographic import FORMAT_FIELD, TAGS_FIELD
from germane.data.budget import allowance, spend
from germane.data.fields import NumberFields
from germane.data.formats import detect_format
from germane.data.owned import check_owned, make_private_folder
from germane.data.writing import TABLES
from germane.errors import InputError, ParameterError
from germane.refine.screening.verdicts import Verdict, verdicts_of
from germane.server.leftovers import forget_old
from germane.types import Document
from germane.wording import without_a_number

SHOWN = 3
MOST_RECORDS = 100_000
MOST_SECONDS = 20.0
"""Of processor time, to see what a file holds."""
MOST_RECORD_BYTES = 4 << 20
_NAME = re.compile(r"[0-9a-f]{32}")
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Preview:
    """What was understood of a file: its format, how many records, which fields how often, the first, what was odd."""

    key: str
    name: str
    format: str
    records: int
    fields: tuple[tuple[str, int], ...]
    first: tuple[Document, ...]
    skipped: int
    odd: tuple[str, ...]
    repeated: int
    decided: int
    deciders: tuple[str, ...]
    """Who decided, where the file names anybody."""
    too_many: bool
    cut_short: int | None
    """The line of a last record that the end of the file cuts short: nobody said yet whether it is to be taken."""


class Uploads:
    """Files that were handed in, each in a folder whose name we give; forgotten after a day.

    A file keeps its own name, made harmless: records without an id are called after it, the same way each time.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, name: str, content: bytes) -> Preview:
        """Keep the file, and say what is in it; what cannot be read at all is refused, and not kept."""
        if not content:
            raise InputError("the file is empty", source=name)
        make_private_folder(self._folder)
        forget_old(self._folder)
        key = secrets.token_hex(16)
        folder = self._folder / key
        make_private_folder(folder)
        path = folder / (_UNFIT.sub("_", Path(name.replace("\\", "/")).name).lstrip(".")[-80:] or "file")
        try:
            write_bytes(path, content, owned=True)
            with allowance(MOST_SECONDS, MOST_RECORD_BYTES):
                return self._preview(key, name, path)
        except BaseException:
            shutil.rmtree(folder)
            raise

    def documents(self, key: str, *, incomplete: bool = False) -> Iterator[Document]:
        """The records of a file that was kept; those that cannot be read are passed over.

        `incomplete`: with a last record that the end of the file cuts short.
        """
        return self._read(self._path(key), SkipReport(take_cut=incomplete))

    def verdicts(self, key: str) -> dict[str, list[Verdict]]:
        """What was said of the records of a file before it came here, by id."""
        table = detect_format(self._path(key)) in TABLES
        said = ((document.id, verdicts_of(document, table=table)) for document in self.documents(key))
        return {name: verdicts for name, verdicts in said if verdicts}

    def waiting(self, key: str) -> None:
        """Complain unless there is such a file."""
        self._path(key)

    def drop(self, key: str) -> None:
        """Forget a file."""
        shutil.rmtree(self._path(key).parent)

    def _preview(self, key: str, name: str, path: Path) -> Preview:
        try:
            format = detect_format(path)
            report = SkipReport()
            ids: Counter[str] = Counter()
            fields: Counter[str] = Counter()
            first: list[Document] = []
            decided, table, numbers = 0, format in TABLES, NumberFields()
            deciders: set[str] = set()
            for document in self._read(path, report):
                spend()
                if len(first) < SHOWN:
                    first.append(document)
                ids[document.id] += 1
                fields.update(document.fields.keys() - {FORMAT_FIELD, TAGS_FIELD})  # ours, to write it as it was
                numbers.see(document.fields)
                said = verdicts_of(document, table=table)
                decided += bool(said)
                deciders.update(filter(None, (verdict.by.strip() for verdict in said)))
        except InputError as error:
            raise InputError(error.message, source=name, line=error.line, field=error.field) from None
        records = sum(ids.values())
        if not records and report.cut_short is None:
            why = f": {_said(report.first[0])}" if report.first else ""
            raise InputError(f"no record could be read{why}", source=name)
        return Preview(
            key, name, format or "empty", records, tuple(fields.most_common(40)), tuple(first), report.count,
            (*without_a_number(numbers.unreadable()), *map(_said, report.first)), records - len(ids), decided,
            tuple(sorted(deciders)), records >= MOST_RECORDS, report.cut_short,
        )  # fmt: skip

    @staticmethod
    def _read(path: Path, report: SkipReport) -> Iterator[Document]:
        read = read_documents(path, on_error="skip", report=report, number=True)
        for count, document in enumerate(read):
            if count >= MOST_RECORDS:
                return
            yield document

    def _path(self, key: str) -> Path:
        if not _NAME.fullmatch(key):
            raise ParameterError("there is no such file waiting: hand it in again")
        found = next((self._folder / key).glob("*"), None)
        if found is None or not check_owned(found):
            raise ParameterError("there is no such file waiting, it may have been taken in already: hand it in again")
        return found


def _said(one: Skipped) -> str:
    return str(InputError(one.reason, line=one.line, field=one.field))

"""Sources on this machine: a Germane index, and files of records or texts."""

import threading
from abc import abstractmethod
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from germane.errors import InputError, ParameterError
from germane.lazy import compiler_is_loaded, on_first_use
from germane.metasearch.answers import SourceRecord
from germane.metasearch.sources.source import Batch, Source
from germane.metasearch.threads import aside
from germane.types import DEFAULT_FIELDS

with on_first_use(__name__):
    from germane import data
    from germane import engine as engines
    from germane.data import documents

if TYPE_CHECKING:
    from germane.data import SkipReport
    from germane.engine import Engine, SearchResult
    from germane.metasearch.web import Web

    Opened = tuple[Engine, tuple[str, ...]]

Signature = tuple[tuple[str, int, int], ...]
NAMED = 5
"""Records that cannot be used which are named; of more their number is told."""


@dataclass(frozen=True, kw_only=True)
class LocalSource(Source):
    """A source that an engine answers, in Germane's query language: as a plain search does, or by the `model` named."""

    timeout: float = 120.0
    path: str | Path = ""
    model: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not str(self.path):
            raise ParameterError(f"the source '{self.name}' needs the path of its files: path")

    @abstractmethod
    def _opened(self) -> "Opened":
        """The engine, and what may surprise about it."""

    def _is_ready(self) -> bool:
        return compiler_is_loaded()  # until then a search may have to compile

    async def _batches(
        self, query: str, k: int, offset: int, web: "Web | None", seconds: float
    ) -> AsyncGenerator[Batch, None]:
        yield await aside(lambda: self._found(query, k, offset))

    def _found(self, query: str, k: int, offset: int) -> Batch:
        engine, notes = self._opened()
        found = engine.search(query, k, offset=offset, model=self.model)
        records = []
        for hit in found:
            link = hit.fields.get("url") or hit.fields.get("link") or ""
            records.append(SourceRecord(hit.id, dict(hit.fields), str(link), hit.score))
        return Batch(records, found.total, (*notes, *_of_promotion(found)))


def _of_promotion(found: "SearchResult") -> tuple[str, ...]:
    """Return the note about the learnt model that was promoted in the index."""
    ranked = f"ranked by {found.reranked_by}, learnt from clicks" if found.reranked_by else None
    return tuple(filter(None, (ranked, found.not_reranked)))


@dataclass(frozen=True, kw_only=True)
class GermaneIndex(LocalSource):
    """An index; `engine` where it is open already."""

    kind: ClassVar[str] = "index"
    engine: "Engine | None" = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.engine is not None and not str(self.path):
            object.__setattr__(self, "path", str(self.engine.folder))
        super().__post_init__()

    def _opened(self) -> "Opened":
        return self.engine if self.engine is not None else engines.Engine.open(self.path), ()


class _Kept:
    """The index of some files, made anew when they have changed."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.signature: Signature = ()
        self.opened: Opened | None = None


@dataclass(frozen=True, kw_only=True)
class Folder(LocalSource):
    """A file or a folder of files, in any format that `germane index` reads.

    Records of one id are told apart by their file. Bad records are passed over, and named in the notes.
    """

    kind: ClassVar[str] = "folder"
    format: str | None = None
    _kept: _Kept = field(default_factory=_Kept, init=False, repr=False, compare=False)

    def _is_ready(self) -> bool:
        return self._kept.opened is not None and super()._is_ready()

    def _opened(self) -> "Opened":
        with self._kept.lock:
            signature = _signature(Path(self.path))
            if self._kept.opened is None or signature != self._kept.signature:
                names = tuple(
                    dict.fromkeys((*DEFAULT_FIELDS, "abstract", *documents.text_fields_of(self.path, self.format)))
                )
                engine = engines.Engine.create(":memory:", fields=names, positions=False)
                report = data.SkipReport(keep=NAMED)
                read = data.read_documents(
                    self.path, format=self.format, on_error="skip", report=report, number=True, distinct=True
                )
                engine.add(read, threads=1)
                self._kept.opened, self._kept.signature = (engine, _notes(report)), signature
            return self._kept.opened


def _notes(report: "SkipReport") -> tuple[str, ...]:
    """Describe the skipped records, the first by name."""
    named = [
        f"passed over: {InputError(one.reason, source=one.source, line=one.line, field=one.field)}"
        for one in report.first
    ]
    more = report.count - len(named)
    return (*named, f"passed over: {more:,} more") if more else tuple(named)


def _signature(path: Path) -> Signature:
    """The files with their sizes and dates."""
    if not path.exists():
        raise InputError("there is no such file or folder", source=str(path))
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    return tuple((str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files)

"""Several indexes that are searched as one: every call and answer passes through bytes, as between machines."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from germane.engine.open_index import OpenIndex
from germane.errors import ParameterError
from germane.index.writer import IndexWriter
from germane.lazy import on_first_use
from germane.rank.retriever import Retriever
from germane.rank.retrievers.local import SnapshotRetriever

with on_first_use(__name__):
    from germane.rank.retrievers import calls, several


class OpenCollections:
    """Indexes opened for searching. They answer like one index of all their documents, to the last bit.

    An id should be in one of them only: both documents are found otherwise. Nothing can be changed through this.
    """

    vanishes = False

    def __init__(self, paths: Sequence[str]) -> None:
        if isinstance(paths, str) or not paths:
            raise ParameterError("several indexes are opened by a list of their folders")
        self.parts = [OpenIndex.open(path) for path in paths]
        self.folder = Path(" + ".join(paths))
        """The name of the whole; no such folder exists."""
        self._refreshing = threading.Lock()
        self._shown = self._joined()

    def _joined(self) -> tuple[list[SnapshotRetriever], Retriever]:
        retrievers = [part.retriever for part in self.parts]
        return retrievers, several.Several([calls.through_bytes(each) for each in retrievers])

    @property
    def retriever(self) -> Retriever:
        """The generations that are shown now."""
        return self._shown[1]

    def refresh(self, within: float) -> None:
        """Show what others have committed to any of the indexes."""
        with self._refreshing:
            for part in self.parts:
                part.refresh(within)
            if any(own is not part.retriever for own, part in zip(self._shown[0], self.parts, strict=True)):
                self._shown = self._joined()

    @contextmanager
    def changing(self) -> Iterator[IndexWriter]:
        """Refuse: nobody can say which of the indexes is meant."""
        raise ParameterError(
            f"{self.folder}: several indexes that are opened as one are searched only; open the one that is to be "
            "changed with Engine.open(path)"
        )
        yield  # what makes this a context

    @property
    def paths(self) -> list[str]:
        """Paths that open the indexes in another process."""
        return [part.paths for part in self.parts]

    @property
    def closed(self) -> bool:
        """Whether nothing can be changed: always."""
        return True

    def close(self) -> None:
        """Close all indexes; they can still be searched."""
        for part in self.parts:
            part.close()

    def release(self) -> None:
        """Do nothing: no lock is held."""

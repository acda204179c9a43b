"""Searches that were kept because somebody marked a result: the list as it was, the marks, and its new order."""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from germane.errors import ParameterError
from germane.refine.interest import Interest, WordEdits
from germane.refine.reasons import Change
from germane.refine.refinement import Refinement
from germane.refine.refiner import Refiner
from germane.server.budget import MOST_KEPT, MOST_SLOWLY, SLOW
from germane.types import RESULT_FIELDS, Mark, Marks, n_characters, text_of
from germane.workspace import Workspace
from germane.workspace.values import MarkEntry, Result, Search

IN_MEMORY = 32
"""Saved searches whose analysis is held in memory."""
MOST_CHARACTERS = 32_000_000
"""Characters of the results that one saved search keeps; of longer documents it keeps fewer."""
LOOKED_AT, LONGEST = 10_000_000, 200_000
"""Characters of all results together, and of one, that orders by marks look at."""
WORDS = 10
MARKS = {"relevant": Mark.RELEVANT, "not_relevant": Mark.NOT_RELEVANT, "unmarked": Mark.UNMARKED}


class Steps(NamedTuple):
    """How many marks can be taken back, and the ones that were, latest last, and can be made again."""

    undo: int
    redo: tuple[MarkEntry, ...]


@dataclass(frozen=True, slots=True)
class Refined:
    """A saved search in its new order, what moved by the last step and why, and what that says of the interest."""

    search: Search
    results: dict[str, Result]
    refinement: Refinement
    changes: dict[str, Change]
    moved: int
    interest: Interest
    steps: Steps
    edits: WordEdits


@dataclass(slots=True)
class _Held:
    search: Search
    results: list[Result]
    refiner: Refiner
    now: Refinement | None = None
    before: Refinement | None = None
    state: tuple[object, ...] = ()
    lock: threading.Lock = field(default_factory=threading.Lock)


class SavedSearches:
    """Saves searches, marks their results and re-ranks them; what was acknowledged is in the workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._held: OrderedDict[int, _Held] = OrderedDict()
        self._lock = threading.Lock()

    def save(self, query: str, results: Iterable[Result], collection: str, **settings: object) -> Search:
        """Keep a search and its results, as they were found (`within_bound`)."""
        listed = within_bound(results)
        if not listed:
            raise ParameterError("a search without results cannot be kept: there is nothing to mark")
        return self._workspace.searches.record(query, listed, source=collection, settings=settings)

    def search(self, number: int) -> Search:
        """The search of that number."""
        return self._workspace.searches.get(number)

    def mark(self, number: int, document: str, mark: str) -> None:
        """Mark a result: relevant, not_relevant or unmarked. It is on disk when this returns."""
        if mark not in MARKS:
            raise ParameterError(f"a mark is {', '.join(MARKS)}, not '{mark}'")
        opened = self._opened(number)
        if all(result.document != document for result in opened.results):
            raise ParameterError(f"there is no result '{document}' in search {number}")
        self._workspace.marks.mark(opened.search, document, MARKS[mark])

    def undo(self, number: int) -> bool:
        """Take the latest mark back; False where there is none."""
        return self._workspace.marks.undo(self.search(number)) is not None

    def redo(self, number: int) -> bool:
        """Make the mark again that was taken back last; False where there is none."""
        search = self.search(number)
        undone = self.steps(search).redo
        if not undone:
            return False
        self._workspace.marks.mark(search, undone[-1].document, undone[-1].mark)
        return True

    def steps(self, search: Search) -> Steps:
        """What can be undone and redone. A mark equal to the one that was taken back last redoes it; any other mark
        ends what could be redone."""
        entries = {entry.id: entry for entry in self._workspace.marks.history(search)}
        done: list[MarkEntry] = []
        undone: list[MarkEntry] = []
        for entry in entries.values():
            if entry.undoes is not None:
                undone.append(entries[entry.undoes])
                done = [each for each in done if each.id != entry.undoes]
                continue
            done.append(entry)
            if undone and (undone[-1].document, undone[-1].mark) == (entry.document, entry.mark):
                undone.pop()
            else:
                undone.clear()
        return Steps(len(done), tuple(undone))

    def refined(
        self,
        number: int,
        *,
        method: str = "auto",
        dropped: Sequence[str] = (),
        added: Sequence[str] = (),
        weighed: Mapping[str, float] | None = None,
        page: slice = slice(None),
    ) -> Refined:
        """The search in the order that its marks and words ask for; what moved is told of the results of `page`."""
        opened = self._opened(number)
        _check_method(number, len(opened.results), method)
        edits = WordEdits(tuple(dropped), tuple(added), tuple((weighed or {}).items()))
        with opened.lock:
            marks = self._workspace.marks.current(opened.search)
            if method != opened.refiner.method:
                opened.refiner = _prepared(opened.results, method)
                opened.now = opened.before = None
            state = (marks, edits)
            if opened.now is None or state != opened.state:
                opened.refiner.remark(marks)
                opened.refiner.edit(dropped=edits.dropped, added=edits.added, weighed=dict(edits.weighed))
                opened.before = opened.now
                opened.now, opened.state = opened.refiner.rank(), state
            now = opened.now
            shown = {result.id for result in now.results[page]}
            changes = {change.id: change for change in now.changes(opened.before, shown)}
            before = opened.before.ranks if opened.before is not None else {}
            moved = sum(before.get(result.id, result.before) != result.rank for result in now.results)
            interest = now.interest(WORDS)
        results = {result.document: result for result in opened.results}
        return Refined(opened.search, results, now, changes, moved, interest, self.steps(opened.search), edits)

    def marks(self, number: int) -> Marks:
        """The marks that hold."""
        return self._workspace.marks.current(self.search(number))

    def results(self, search: Search, method: str = "auto") -> list[Result]:
        """The results of a kept search; a `ParameterError` where they are too many to be ordered by marks here."""
        size = self._workspace.searches.size(search)
        if size > MOST_KEPT:
            raise ParameterError(
                f"search {search.id} holds {size:,} results, where {MOST_KEPT:,} are ordered by marks here: "
                "'germane refine' orders more"
            )
        _check_method(search.id, size, method)
        return self._workspace.searches.results(search)

    def groups(self, number: int) -> list[tuple[list[str], list[str]]]:
        """The topics among what is not wanted: words, and ids of results. None without a relevant and another mark."""
        opened = self._opened(number)
        marks = self._workspace.marks.current(opened.search)
        if not marks.relevant:
            return []
        try:
            found = _prepared(opened.results, "mmem-aib").remark(marks).rank()
        except ParameterError:  # nothing is, or is taken for, not relevant: there is no rest to look into
            return []
        return [([word.word for word in part.words], list(part.ids)) for part in found.components]

    def _opened(self, number: int) -> _Held:
        with self._lock:
            if number in self._held:
                self._held.move_to_end(number)
                return self._held[number]
        search = self._workspace.searches.get(number)
        results = self.results(search)
        made = _Held(search, results, _prepared(results, "auto"))
        with self._lock:
            found = self._held.setdefault(number, made)
            while len(self._held) > IN_MEMORY:
                self._held.popitem(last=False)
        return found


def within_bound(results: Iterable[Result]) -> list[Result]:
    """The first results, as many as have `MOST_CHARACTERS` together, and one in any case."""
    kept: list[Result] = []
    room = MOST_CHARACTERS
    for result in results:
        room -= n_characters(result.fields)
        if kept and room < 0:
            break
        kept.append(result)
    return kept


def _check_method(number: int, size: int, method: str) -> None:
    if method in SLOW and size > MOST_SLOWLY:
        raise ParameterError(
            f"search {number} holds {size:,} results, where {method} orders {MOST_SLOWLY}: choose another method"
        )


def _prepared(results: Sequence[Result], method: str) -> Refiner:
    most = min(LONGEST, LOOKED_AT // max(len(results), 1))
    texts = [(result.document, text_of(result.fields, RESULT_FIELDS)[:most]) for result in results]
    return Refiner(method).prepare(texts)

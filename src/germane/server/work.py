"""Work of each kind of job (`jobs.py` has when, and how they end)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import anyio

from germane.data.atomic import open_for_writing
from germane.data.owned import make_private_folder
from germane.data.writing import write_documents
from germane.engine.requests import RankingRequest, SearchRequest
from germane.errors import ParameterError
from germane.lazy import on_first_use
from germane.rank.registry import DEFAULT_MODEL, MODEL_NAMES
from germane.server import finding, topics
from germane.server.exports import ENDINGS, harmless
from germane.server.histories import MEMORY, THREADS, history, remove_left
from germane.server.jobs import Progress, Runner
from germane.server.leftovers import forget_old
from germane.types import Document
from germane.workspace.values import Result, Search

with on_first_use(__name__):
    from germane import clicks
    from germane.latent import projection

if TYPE_CHECKING:
    from germane.clicks import ClickRules, ClickStore
    from germane.engine.models.values import LearnReport
    from germane.metasearch.merging import FoundList
    from germane.server.library import Library

BATCH = 2_000
"""Records of an import that are one commit."""
FED = 200


def import_file(library: "Library", settings: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """The records of a file that waits, a batch a commit; with "error" for repeated ids all in one, or nothing."""
    key, name, repeated = settings["key"], settings.get("collection"), settings.get("on_duplicate", "skip")
    records = library.uploads.documents(key, incomplete=settings.get("incomplete", False))
    if repeated == "error":
        with library.changing(name) as engine:
            counts = engine.add(records, on_duplicate=repeated)
        library.uploads.drop(key)
        return {"added": counts.added, "replaced": 0, "skipped": 0, "documents": len(engine)}
    totals = {each: int(progress.now.get(each, 0)) for each in ("added", "replaced", "skipped")}
    done = progress.done
    for batch in _batches(islice(records, done, None), BATCH):
        with library.changing(name) as engine:
            report = engine.add(batch, on_duplicate=repeated)
        done += len(batch)
        totals = {each: count + getattr(report, each) for each, count in totals.items()}
        progress.tell(force=True, done=done, step="adding", **totals)
    library.uploads.drop(key)
    return {**totals, "documents": len(library.engine(name))}


def train(library: "Library", settings: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """A candidate of what was clicked in a collection, through the gate.

    Where the clicked titles have fewer words than the model has dimensions, and nobody said how many it is to have, it
    has half as many as there are words.
    """
    progress.step("reading clicks")
    name = settings.get("collection") or library.first
    engine = library.engine(name)
    given: dict[str, Any] = dict(settings.get("parameters", {}))

    rules = click_rules(settings.get("min_users", library.settings.min_users))

    def learn(store: "ClickStore", **parameters: Any) -> "LearnReport":
        return engine.learn(
            store, name=settings.get("name", "clicks"), model=settings.get("model", "wtm"),
            hold_out=settings.get("hold_out", "query"), share=settings.get("share", 0.2),
            allow_equal=settings.get("allow_equal", False), force=settings.get("force", False),
            rules=rules, on_progress=progress.step, **parameters,
        )  # fmt: skip

    with history(library.home, library.events, name) as store:
        try:
            report = learn(store, **given)
        except projection.TooManyDimensionsError as error:
            if "n_dimensions" in given:
                raise
            report = learn(store, **given, n_dimensions=max(1, error.n_words // 2))
    made = report.candidate
    return {
        "version": f"{made.name}@{made.version}", "promoted": report.promoted, "passed": report.gate.passed,
        "reason": report.gate.reason, "pairs": made.data.pairs,
    }  # fmt: skip


def click_rules(min_users: int) -> "ClickRules":
    """Rules of reading the server's log: a query that fewer visitors typed is in no pair."""
    return clicks.ClickRules(pairs=clicks.PairRules(min_users), memory_mb=MEMORY, threads=THREADS)


def refresh(library: "Library", settings: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Ask the sources of a saved search again, and keep what they say now as a new one; what is new in it."""
    search = library.saved_searches.search(settings["search"])
    known = {result.document for result in library.workspace.searches.results(search)}
    kept = _found_again(library, search, progress) if "answers" in search.settings else _searched_again(library, search)
    new = [result.document for result in library.workspace.searches.results(kept) if result.document not in known]
    return {"search": kept.id, "results": library.workspace.searches.size(kept), "new": new}


def _searched_again(library: "Library", search: Search) -> Search:
    """Repeat a search in its collection, as it is now."""
    model = search.settings.get("model")
    ranking = RankingRequest(model if model in MODEL_NAMES and model != DEFAULT_MODEL else None)
    wanted = search.settings.get("filter")
    answer = library.answer(search.source, SearchRequest(search.query, library.settings.depth, ranking, filter=wanted))
    results = (Result(hit.id, hit.fields, hit.score) for hit in answer.hits)
    narrowed = {} if wanted is None else {"filter": wanted}
    return library.saved_searches.save(search.query, results, search.source, model=answer.model, **narrowed)


def _found_again(library: "Library", search: Search, progress: Progress) -> Search:
    names = tuple(name for name in search.source.split(",") if name)
    progress.tell(force=True, step="asking", done=0, total=len(names))

    async def ask() -> "FoundList | None":
        merged = None
        async for _, found in finding.answers(library, search.query, names):
            merged = found
            progress.tell(force=True, done=len(found.answers))
        return merged

    found = anyio.run(ask)
    if found is None or not len(found):
        raise ParameterError("no source found anything; the saved search stays as it is")
    return finding.save_found(library, found)


def export(library: "Library", settings: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """All documents of a collection as a file, which can be fetched for a day."""
    engine, format = library.engine(settings.get("collection")), settings.get("format", "jsonl")
    folder = library.home / "exports"
    make_private_folder(folder)
    forget_old(folder)
    name = f"{settings['file']}.{ENDINGS[format]}"
    total = len(engine)

    def watched() -> Iterator[Document]:
        for number, document in enumerate(engine.documents(), start=1):
            if number % 1_000 == 0:
                progress.tell(done=number, total=total, step="writing")
            yield harmless(document) if format == "csv" else document

    with open_for_writing(folder / name, owned=True) as file:
        count = write_documents(file, watched(), format)
    return {"documents": count, "file": name}


def feed(library: "Library", settings: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Show a collection's documents to all topics, and to each what came before it began."""
    engine = library.engine(settings.get("collection"))
    counts, total, done = [0, 0, 0], len(engine), 0
    for batch in _batches(engine.documents(), FED):
        counts = [a + b for a, b in zip(counts, topics.feed(library, batch), strict=True)]
        done += len(batch)
        progress.tell(done=done, total=total, step="reading")
    return dict(zip(("new", "repeated", "delivered"), counts, strict=True))


def _batches(documents: Iterable[Document], size: int) -> Iterator[tuple[Document, ...]]:
    iterator = iter(documents)
    return iter(lambda: tuple(islice(iterator, size)), ())


Kind = Callable[["Library", Mapping[str, Any], Progress], Mapping[str, Any]]
"""Does a job for a library with the job's settings."""
KINDS: Mapping[str, Kind] = {
    "import": import_file, "train": train, "refresh": refresh, "export": export, "feed": feed,
}  # fmt: skip


def runner_of(library: "Library", kinds: Mapping[str, Kind] = KINDS) -> Runner:
    """Worker that does the jobs of a library and removes old clicks from its log."""
    bound = {name: partial(work, library) for name, work in kinds.items()}
    return Runner(library.workspace.jobs, library.home, bound, partial(forget_old_clicks, library))


def forget_old_clicks(library: "Library") -> None:
    """Take clicks out of the log that are older than they are to be kept."""
    days = library.settings.retain_days
    if days:
        remove_left(library.home)
        gone = library.events.erase_before(datetime.now(UTC) - timedelta(days=days))
        if gone:
            library.audit.erased(f"older than {days} days", gone)

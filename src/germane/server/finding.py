"""Meta-search: one query to many sources, told as they answer.

Sources are the served collections, the public ones, and those of a person's settings, by name alone: no request can
name a path or an address, so that nothing on this machine or in its network is reached through here.
"""

import dataclasses
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any

from germane.errors import ParameterError
from germane.metasearch.answers import SourceAnswer
from germane.metasearch.merging import FoundList, merge
from germane.metasearch.registry import PUBLIC
from germane.metasearch.search import MetaSearch
from germane.metasearch.sources.local import GermaneIndex
from germane.metasearch.sources.source import Source
from germane.server.budget import MOST_SOURCES
from germane.server.problems import without_folders
from germane.workspace.values import Result, Search

if TYPE_CHECKING:
    from germane.server.library import Library

LIMIT = 100


def source_names(library: "Library") -> tuple[str, ...]:
    """Those that may be asked."""
    return tuple(dict.fromkeys((*library.engines, *library.settings.sources.sources, *PUBLIC)))


def sources_named(library: "Library", names: Sequence[str]) -> list[Source]:
    """The sources of these names; the first collection where none is named."""
    known = source_names(library)
    found: list[Source] = []
    for name in dict.fromkeys(names or (library.first,)):
        if name not in known:
            raise ParameterError(f"there is no source '{name[:80]}'; there are: {', '.join(known)}")
        if name in library.engines:
            found.append(GermaneIndex(name=name, engine=library.engines[name]))
        else:
            found.append(library.settings.sources.source(name))
    if len(found) > MOST_SOURCES:
        raise ParameterError(f"at most {MOST_SOURCES} sources at once")
    return found


async def answers(
    library: "Library", query: str, names: Sequence[str]
) -> AsyncIterator[tuple[SourceAnswer, FoundList]]:
    """Each answer as it comes, with the list of all that have come."""
    chosen = sources_named(library, names)
    searching = MetaSearch(chosen)
    so_far: list[SourceAnswer] = []
    stream = searching.stream(query, LIMIT, deadline=library.settings.find_seconds)
    try:
        async for answer in stream:
            so_far.append(answer)
            order = {source.name: place for place, source in enumerate(chosen)}
            came = sorted(so_far, key=lambda each: order[each.source])
            yield answer, merge(query, came)
    finally:
        await stream.aclose()


def save_found(library: "Library", found: FoundList) -> Search:
    """Keep a merged list, with what each source said, so that it can be marked."""
    results = (
        Result(one.id, one.fields, one.score, [dataclasses.asdict(source) for source in one.provenance])
        for one in found.results[: library.settings.depth]
    )
    asked = ",".join(answer.source for answer in found.answers)
    told = [answer_summary(answer) for answer in found.answers]
    return library.saved_searches.save(found.query, results, asked, ranking=found.ranking, answers=told)


def answer_summary(answer: SourceAnswer) -> dict[str, Any]:
    """What a source gave, in short."""
    failure = answer.failure
    return {
        "source": answer.source, "records": len(answer.records), "total": answer.total,
        "failure": None if failure is None else failure.kind,
        "message": "" if failure is None else without_folders(failure.message),
    }  # fmt: skip

"""What an assistant can do here, a method each: words in, a plain value out (`tool_answers`).

An assistant names collections, sources and topics by name, and documents by id: no path and no address, so that nothing
else on this machine or in its network is reached through here.
"""

import functools
import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field, WithJsonSchema

from germane.declare import MCP, check, made, offered, schema
from germane.declare import Field as Declared
from germane.engine.requests import QUERY, ExplainRequest, SearchRequest
from germane.errors import ParameterError
from germane.metasearch.search import MetaSearch
from germane.refine.refiner import Refiner
from germane.server import topics
from germane.server.budget import MOST_IDS, MOST_SOURCES
from germane.server.finding import notes_of, save_found, sources_named
from germane.server.library import Library
from germane.server.listing import safe_link
from germane.server.tool_answers import Delivery, Marked, News, Part, Result, Results, Saved, Text, Why
from germane.stream import Watch
from germane.stream.arrivals import iso_date, title_of
from germane.stream.health import MOST_CHARACTERS
from germane.types import RESULT_FIELDS, Document, Marks, text_of
from germane.workspace import values

SHOWN = 50
"""The longest list that is told."""

Query = Annotated[str, WithJsonSchema({**schema(QUERY.at(MCP)), "description": QUERY.help})]
Count = Annotated[int, Field(ge=1, le=SHOWN, description="How many results.")]
Id = Annotated[str, Field(max_length=500, description="The id of a document, as a search gave it.")]
Ids = Annotated[list[Id], Field(max_length=2 * MOST_IDS, description="Ids of documents, as a search gave them.")]
Name = Annotated[str, Field(max_length=200, description="The name of a collection; empty: the first.")]
Kept = Annotated[
    int | None,
    Field(ge=1, le=10**11, description="The number of a saved search; without it the query is searched anew."),
]


def asking(kind: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a tool the arguments of a request, which it has as its own first one; the texts of `schema` describe them.

    Every value is read by its field, not by pydantic: so that every door says alike what is wrong with it.
    """
    fields = offered(kind, MCP)

    def decorate(tool: Callable[..., Any]) -> Callable[..., Any]:
        itself, _, *others = inspect.signature(tool).parameters.values()
        arguments = map(_argument, fields)
        signature = inspect.signature(tool).replace(parameters=[itself, *arguments, *others])

        @functools.wraps(tool)
        def call(*positional: Any, **named: Any) -> Any:
            values = signature.bind(*positional, **named).arguments
            pairs = [(field, values.pop(field.name)) for field in fields if field.name in values]
            checked = {field.name: check(field, value) for field, value in pairs if value not in (None, "", {})}
            return tool(values.pop(itself.name), made(kind, checked, MCP), **values)

        call.__signature__ = signature  # type: ignore[attr-defined]
        return call

    return decorate


def _argument(field: Declared) -> inspect.Parameter:
    """Return the argument of a field. Texts are texts for MCP, which reads others that look like JSON as JSON."""
    kind: Any = str if field.kind in ("string", "id") and not field.many else Any
    annotation = Annotated[kind, WithJsonSchema({**schema(field), "description": field.help})]
    default = inspect.Parameter.empty if field.required else field.default
    return inspect.Parameter(
        field.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation
    )


class Tools:
    """The tools over a library. `READING` change nothing; `WRITING` keep what they are told in the workspace.

    `keeps`: what `find` has found is kept too, so that it can be marked.
    """

    READING = ("search", "fetch", "get", "explain", "refine", "find", "what_is_new")
    WRITING = ("mark", "save_topic")

    def __init__(self, library: Library, *, keeps: bool = False) -> None:
        self._library, self._keeps = library, keeps

    @asking(SearchRequest)
    def search(self, request: SearchRequest, collection: Name = "") -> Results:
        """Search a collection and give the best documents, each with the passage that shows why it was found."""
        self._check(request.query, request.offset)
        answer = self._library.answer(collection, replace(request, snippets=True))
        results = [
            Result(hit.id, _title(Document(hit.id, hit.fields)), safe_link(hit.fields), hit.score,
                   hit.snippet.text if hit.snippet is not None else "")
            for hit in answer.hits
        ]  # fmt: skip
        notes = [*(answer.notes or ()), *([answer.reason] if answer.reason else [])]
        if answer.reranked_by:
            notes.append(f"ranked by {answer.reranked_by}, learnt from clicks; a model that is named ranks without it")
        if answer.not_reranked:
            notes.append(answer.not_reranked)
        if answer.suggestion:
            notes.append(f"did you mean: {answer.suggestion}")
        return Results(results, answer.total, notes)

    def get(self, id: Id, collection: Name = "") -> Text:
        """Read a document whole: its title, its text and all other fields."""
        document = self._library.engine(collection).document(id)
        others = {name: value for name, value in document.fields.items() if name not in RESULT_FIELDS}
        text = text_of(document.fields, RESULT_FIELDS[1:])
        return Text(id, _title(document), text, safe_link(document.fields), others)

    def fetch(self, id: Id) -> Text:
        """Read a document whole; the same as `get`, under the name that some assistants look for."""
        return self.get(id)

    @asking(ExplainRequest)
    def explain(self, request: ExplainRequest, collection: Name = "") -> Why:
        """Say why a document has its score for a query: what each word adds."""
        self._check(request.query)
        found = self._library.answer(collection, request)
        words = [Part(part.word, part.count, part.impact * found.norm) for part in found.parts]
        rest = found.constant + found.document + found.prior
        if found.second is not None:  # a learnt model was promoted
            counts = {part.word: part.count for part in found.parts}
            words = [Part(part.word, counts.get(part.word, 0), part.impact) for part in found.second.parts]
            rest = found.second.constant + found.second.first_weight * found.second.first_score
        return Why(found.doc_id, found.model, found.score, words, rest)

    def refine(
        self,
        query: Query = "",
        relevant: Ids = [],  # noqa: B006 - the schema shows the default; it is never changed
        not_relevant: Ids = [],  # noqa: B006
        search: Kept = None,
        k: Count = 10,
        collection: Name = "",
        method: Annotated[
            str, Field(max_length=100, description="auto, paper, nb, em, knn ...: how marks re-rank.")
        ] = "auto",
    ) -> Results:
        """Re-rank the results of a query by which of them are relevant and which are not. Nothing is kept.

        With the number of a saved search, the marks kept on it count too.
        """
        listed, marks = self._list(query, collection, search, method)
        given = {**dict.fromkeys(relevant, True), **dict.fromkeys(not_relevant, False)}
        marked = {**dict.fromkeys(marks.relevant, True), **dict.fromkeys(marks.not_relevant, False), **given}
        if not marked:
            raise ParameterError("name at least one result that is relevant, or one that is not")
        by_id = {result.document: result for result in listed}
        refined = Refiner(method).fit([(one.document, text_of(one.fields, RESULT_FIELDS)) for one in listed], marked)
        ranked = refined.rank()
        results = [
            Result(one.id, _title(Document(one.id, by_id[one.id].fields)),
                   safe_link(by_id[one.id].fields, by_id[one.id]), one.probability, before=one.before)
            for one in list(ranked)[:k]
        ]  # fmt: skip
        return Results(results, len(listed), [f"{ranked.method}: {ranked.reason}"], search)

    def find(
        self,
        query: Query,
        sources: Annotated[
            list[Name], Field(max_length=MOST_SOURCES, description="Names of sources; empty: the first collection.")
        ] = [],  # noqa: B006
        k: Count = 10,
    ) -> Results:
        """Ask several sources at once (collections here, PubMed, arXiv and others), and give one list without doubles.

        A source that fails is named in the notes with the reason; the others' results are given.
        """
        self._check(query)
        found = MetaSearch(sources_named(self._library, sources)).search(
            query, self._library.settings.depth, deadline=self._library.settings.find_seconds
        )
        notes = [f"{answer.source}: {note}" for answer in found.answers for note in notes_of(answer)]
        notes += [f"{each.source}: {each.failure.message}" for each in found.answers if each.failure is not None]
        results = [
            Result(one.id, _title(Document(one.id, one.fields)), one.link, one.score, sources=list(one.sources))
            for one in found[:k]
        ]
        saved = save_found(self._library, found).id if self._keeps and len(found) else None
        return Results(results, len(found), notes, saved)

    def what_is_new(
        self,
        topic: Annotated[str, Field(max_length=200, description="The name of a topic; empty: all of them.")] = "",
        since: Annotated[
            str, Field(max_length=40, description="Only what came from this date on, as 2026-01-31; empty: all.")
        ] = "",
        k: Count = 20,
    ) -> News:
        """What followed topics delivered, the latest first."""
        moment = iso_date(since) if since else None
        if since and moment is None:
            raise ParameterError(f"'since' is a date, as 2026-01-31 or 2026-01-31T08:00, not '{since[:80]}'")
        if not Watch.is_in(self._library.workspace):
            return News([], [])
        with self._library.tracking:
            watch = Watch.open(self._library.workspace)
            names = [each.name for each in watch.topics()]
            hits = [
                hit for hit in watch.hits(topic or None, since=moment, last=k, most=MOST_CHARACTERS) if hit.delivered
            ]
        told = [Delivery(hit.topic, hit.document, hit.title, hit.url, hit.score, hit.at) for hit in reversed(hits)]
        return News(names, told)

    def mark(
        self,
        query: Query = "",
        relevant: Ids = [],  # noqa: B006
        not_relevant: Ids = [],  # noqa: B006
        search: Kept = None,
        collection: Name = "",
    ) -> Marked:
        """Keep marks on the results of a search, so that they are there tomorrow; give the number of the search."""
        if not relevant and not not_relevant:
            raise ParameterError("name at least one result that is relevant, or one that is not")
        listed, _ = self._list(query, collection, search)
        known = {result.document for result in listed}
        for id in (*relevant, *not_relevant):
            if id not in known:
                raise ParameterError(f"there is no result '{id[:80]}' in this list")
        saved = self._library.saved_searches
        if search is None:
            search = saved.save(query, listed, collection or self._library.first).id
        for ids, said in ((relevant, "relevant"), (not_relevant, "not_relevant")):
            for id in ids:
                saved.mark(search, id, said)
        marks = saved.marks(search)
        return Marked(search, list(marks.relevant), list(marks.not_relevant))

    def save_topic(
        self,
        name: Annotated[str, Field(min_length=1, max_length=200, description="What the topic is called.")],
        ids: Annotated[
            list[Id], Field(min_length=1, max_length=MOST_IDS, description="Documents on the topic: one is enough.")
        ],
        collection: Name = "",
    ) -> Saved:
        """Follow a topic through what will come, beginning with one document on it or a few."""
        engine = self._library.engine(collection)
        topics.follow(self._library, name, [engine.document(id) for id in ids], engine)
        return Saved(name, len(ids))

    def _list(
        self, query: str, collection: str, search: int | None, method: str = "auto"
    ) -> tuple[list[values.Result], Marks]:
        """The results to be marked, and the marks that hold on them."""
        if search is not None:
            held = self._library.saved_searches.search(search)
            return self._library.saved_searches.results(held, method), self._library.saved_searches.marks(search)
        self._check(query)
        found = self._library.answer(collection, SearchRequest(query, self._library.settings.depth))
        return [values.Result(hit.id, hit.fields, hit.score) for hit in found.hits], Marks()

    def _check(self, query: str, offset: int = 0) -> None:
        settings = self._library.settings
        if not query.strip():
            raise ParameterError("there is nothing to search for: give a query")
        if len(query) > settings.max_query:
            raise ParameterError(f"a query has at most {settings.max_query:,} characters")
        if offset > settings.max_depth:
            raise ParameterError(f"results are given down to place {settings.max_depth:,}: ask more precisely")


def _title(document: Document) -> str:
    return title_of(document.fields) or document.id

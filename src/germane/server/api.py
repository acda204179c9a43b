"""The operations of /api/v1: each a function of the library and what was given, called in a thread."""

import functools
import io
import operator
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from germane import __version__
from germane.declare import HTTP, Field, made, offered, schema
from germane.engine.filtering import filter_typed
from germane.engine.registry import PROMOTED
from germane.engine.requests import ExplainRequest, RankingRequest, SearchRequest
from germane.engine.responses import AddResponse, ExplainResponse, SearchResponse
from germane.errors import InputError, ParameterError
from germane.lazy import on_first_use
from germane.rank.query.filter_values import Filter
from germane.refine.registry import METHOD_NAMES
from germane.refine.responses import RefinementResponse, WordAmount
from germane.refine.screening.verdicts import NO_VERDICT, with_verdict
from germane.server import budget, topics
from germane.server.exports import TYPES, Attachment, RepeatedDocuments, attachment, in_pieces
from germane.server.histories import remove_left
from germane.server.listing import learnt_model, title_of
from germane.server.operations import MOST_JSON, Given, Media, Operation, json_of
from germane.server.problems import ProblemError
from germane.server.responses import (
    BadRecord,
    BulkResponse,
    CollectionEntry,
    CollectionResponse,
    CollectionsResponse,
    CountResponse,
    DocumentAnswer,
    FeedResponse,
    FieldCount,
    Group,
    GroupsResponse,
    HealthResponse,
    InterestResponse,
    PreviewResponse,
    ProjectEntry,
    ProjectsResponse,
    RefinedResponse,
    SavedSearch,
    SavedSearchList,
    ScreenResponse,
    SourcesResponse,
    TopicAnswer,
    TopicsResponse,
)
from germane.server.roles import Role
from germane.server.saved_searches import MARKS
from germane.server.screens import DECISIONS, ScreenState
from germane.stream.responses import HitResponse
from germane.types import Document
from germane.workspace.values import Result, Search

with on_first_use(__name__):
    from germane.server import finding

if TYPE_CHECKING:
    from germane.engine import Engine
    from germane.index.writer import AddReport
    from germane.server.library import Library
    from germane.server.uploads import Preview

COLLECTION = Field("collection", "the name of a collection", where="path", most=200)
SEARCH = Field("search", "the number of a saved search", "integer", "path", least=1, most=10**11)
FORMAT = Field("format", "the format", choices=tuple(TYPES), default="jsonl")
BOUNDS = {field.name: field for field in offered(SearchRequest, HTTP)}
K = Field("k", "how many results", "integer", least=1, most=budget.MOST_K, default=10)
DROP = Field("drop", "a word that shall not count", many=True, most=200, items=budget.MOST_WORDS)
ADD = Field("add", "a word that shall count", many=True, most=200, items=budget.MOST_WORDS)
METHOD = Field("method", "how marks are learnt from", choices=tuple(METHOD_NAMES), default="auto")
ON_KNOWN = ("error", "replace", "skip", "merge")
ON_DUPLICATE = Field("on_duplicate", "what happens to an id that is there", choices=ON_KNOWN, default="error")
ID = Field("id", "the id of a document", where="path", most=500)
NDJSON = "application/x-ndjson"
ATOM = "application/atom+xml"
EXPORT = Media(tuple(media.partition(";")[0] for media in TYPES.values()))


def text(most: int, least: int = 1) -> dict[str, Any]:
    return {"type": "string", "minLength": least, "maxLength": most}


def members(required: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": properties, "additionalProperties": False}


# -- collections and documents -----------------------------------------------------------------------------------------


def health(library: "Library", given: Given) -> HealthResponse:
    sizes = {name: len(engine) for name, engine in library.engines.items()} if given.known else {}
    return HealthResponse("ok", __version__, sizes)


def collections(library: "Library", given: Given) -> CollectionsResponse:
    return CollectionsResponse(
        tuple(
            CollectionEntry(name, len(engine), library.facet_fields(engine)) for name, engine in library.engines.items()
        )
    )


def collection(library: "Library", given: Given) -> CollectionResponse:
    return CollectionResponse(given["collection"], library.engine(given["collection"]).stats())


def parameters_of(kind: type) -> tuple[Field, ...]:
    """Return the parameters of a request: pairs and filters are texts that may be repeated."""
    return tuple(_repeated(field) if field.kind in ("pairs", "filter") else field for field in offered(kind, HTTP))


def _repeated(field: Field) -> Field:
    reader = field.reader if field.kind == "pairs" else ""  # filters are joined: `_narrowing`
    return field._replace(kind="string", many=True, most=500, reader=reader)


def search_of(given: Given) -> SearchRequest:
    """Return the search that was asked for."""
    values = {name: value for name, value in given.values.items() if value != ()}
    values["q"], values["filter"] = _narrowing(given["q"], given["filter"])
    request: SearchRequest = made(SearchRequest, values, HTTP)
    return request


def search(library: "Library", given: Given) -> SearchResponse:
    request = search_of(given)
    second = _second_stage(library.engine(given["collection"]), request.rerank)
    return library.answer(given["collection"], replace(request, rerank=second))


def _second_stage(engine: "Engine", name: str | None) -> str | None:
    """The learnt model that was promoted unless another or none is named."""
    return name if name in (PROMOTED, None) else learnt_model(engine, name)


def _narrowing(query: str, filters: Sequence[str]) -> tuple[str, Filter | None]:
    """The query with the conditions in its language behind it, and those that are JSON: a filter as plain data."""
    read = [filter_typed([text]) for text in filters]
    words = " ".join((query, *(each for each in read if isinstance(each, str))))
    values = [each for each in read if isinstance(each, Filter)]
    return words, functools.reduce(operator.and_, values) if values else None


def explain(library: "Library", given: Given) -> ExplainResponse:
    values = {name: value for name, value in given.values.items() if value != ()}
    request: ExplainRequest = made(ExplainRequest, values, HTTP)
    second = _second_stage(library.engine(given["collection"]), request.rerank)
    return library.answer(given["collection"], replace(request, rerank=second))


def document(library: "Library", given: Given) -> DocumentAnswer:
    found = library.engine(given["collection"]).document(given["id"])
    return DocumentAnswer(found.id, found.fields)


def put_document(library: "Library", given: Given) -> AddResponse:
    document = Document(given["id"], _fields(given.body))
    with library.changing(given["collection"]) as engine:
        report = engine.update([document])
    return _added(report, engine)


def _added(report: "AddReport", engine: "Engine", unreadable: int = 0) -> AddResponse:
    return AddResponse.of(report, unreadable=unreadable, documents=len(engine), no_number=engine.unreadable())


def patch_document(library: "Library", given: Given) -> AddResponse:
    """Change some fields of a document and keep the others; null removes one."""
    with library.changing(given["collection"]) as engine:
        report = engine.update(given["id"], _fields(given.body))
    return _added(report, engine)


def delete_document(library: "Library", given: Given) -> CountResponse:
    with library.changing(given["collection"]) as engine:
        return CountResponse(engine.delete([given["id"]]))


def add_documents(library: "Library", given: Given) -> BulkResponse:
    """JSON Lines: each line a document with its id. Lines that cannot be used are told, the others taken."""
    bad: list[BadRecord] = []
    unreadable = 0
    documents: list[Document] = []
    for number, line in enumerate(io.BytesIO(given.raw), start=1):
        if not line.strip():
            continue
        try:
            record = json_of(line)
            if not isinstance(record, dict) or not isinstance(record.get("id"), str | int):
                raise ValueError("not an object with an id")
            name = str(record.pop("id"))
            if not name.strip() or len(name) > 500:
                raise ValueError("an id has 1 to 500 characters")
            documents.append(Document(name, _fields(record)))
        except (ValueError, ProblemError) as error:
            unreadable += 1
            if len(bad) < 20:
                bad.append(BadRecord(number, str(error)))
    if not documents:
        said = f": line {bad[0].line}, {bad[0].reason}" if bad else ""
        raise InputError(f"there is no document in the body{said}")
    with library.changing(given["collection"]) as engine:
        report = engine.add(documents, on_duplicate=given["on_duplicate"])
    return BulkResponse(_added(report, engine, unreadable), tuple(bad))


def export_collection(library: "Library", given: Given) -> Attachment:
    return attachment(RepeatedDocuments(library.engine(given["collection"]).documents), given["format"])


def _fields(record: Any) -> dict[str, Any]:
    for name, value in record.items():
        items = value if isinstance(value, list) else [value]
        if not all(item is None or isinstance(item, str | int | float | bool) for item in items):
            raise ProblemError(422, f"the field '{name[:60]}' is a text, a number, true, false, or a list of such")
    return dict(record)


# -- saved searches, marks and refinement ------------------------------------------------------------------------------


def keep(library: "Library", given: Given) -> SavedSearch:
    name = given.body.get("collection") or library.first
    query = " ".join((given.body["query"], *given.body.get("filters", ())))
    wanted = None if "filter" not in given.body else Filter.of(given.body["filter"])
    request = SearchRequest(
        query, given.body.get("k", library.settings.depth), RankingRequest(given.body.get("model")), filter=wanted
    )
    answer = library.answer(name, request)
    results = [Result(hit.id, hit.fields, hit.score) for hit in answer.hits]
    if not results:
        raise ProblemError(422, f"the search finds nothing, so there is nothing to keep: {answer.reason or 'no match'}")
    narrowed = {} if wanted is None else {"filter": wanted.to_dict()}
    return _saved(library, library.saved_searches.save(query, results, name, model=answer.model, **narrowed))


def saved_searches(library: "Library", given: Given) -> SavedSearchList:
    latest = library.workspace.searches.all()[::-1][: given["k"]]
    return SavedSearchList(tuple(_saved(library, each) for each in latest))


def refined(library: "Library", given: Given) -> RefinedResponse:
    if given["explain"] and given["k"] > budget.MOST_TOLD:
        raise ParameterError(f"the words of at most {budget.MOST_TOLD} results are told at once: lower 'k'")
    found = library.saved_searches.refined(
        given["search"], method=given["method"], dropped=given["drop"], added=given["add"], page=slice(0)
    )  # fmt: skip
    titles = {name: title_of(Document(name, result.fields)) for name, result in found.results.items()}
    moved = min(given["k"], budget.MOST_TOLD)
    answer = RefinementResponse.of(found.refinement, titles, k=given["k"], explain=given["explain"], changes=moved)
    shown = {result.id: dict(found.results[result.id].fields) for result in answer.results} if given["fields"] else None
    interest = InterestResponse(
        tuple(WordAmount(word.word, word.amount) for word in found.interest.wanted),
        tuple(WordAmount(word.word, word.amount) for word in found.interest.unwanted),
        found.edits.dropped,
        found.edits.added,
    )
    steps = found.steps
    return RefinedResponse(
        found.search.id, found.search.query, steps.undo > 0, bool(steps.redo), interest, answer, shown
    )


def mark(library: "Library", given: Given) -> SavedSearch:
    library.saved_searches.mark(given["search"], given.body["document"], given.body["mark"])
    return _saved(library, library.saved_searches.search(given["search"]))


def undo(library: "Library", given: Given) -> SavedSearch:
    if not library.saved_searches.undo(given["search"]):
        raise ProblemError(409, "there is no mark left to undo")
    return _saved(library, library.saved_searches.search(given["search"]))


def redo(library: "Library", given: Given) -> SavedSearch:
    if not library.saved_searches.redo(given["search"]):
        raise ProblemError(409, "there is nothing to redo")
    return _saved(library, library.saved_searches.search(given["search"]))


def groups(library: "Library", given: Given) -> GroupsResponse:
    found = library.saved_searches.groups(given["search"])
    return GroupsResponse(tuple(Group(tuple(words), tuple(ids)) for words, ids in found))


def export_search(library: "Library", given: Given) -> Attachment:
    return attachment(search_documents(library, given["search"], given["which"], given["format"]), given["format"])


def search_documents(library: "Library", number: int, which: str, format: str = "") -> list[Document]:
    """The results of a saved search in their new order: all, the relevant ones, or the predicted set.

    With a format to write them in, marked ones have their marks with them.
    """
    found = library.saved_searches.refined(number)
    chosen = [
        result.id
        for result in found.refinement.results
        if which == "all" or (which == "relevant" and result.mark) or (which == "predicted" and result.predicted)
    ]
    documents = [Document(name, found.results[name].fields) for name in chosen]
    said = library.workspace.marks.verdicts(found.search) if format else {}
    return [with_verdict(each, said.get(each.id, NO_VERDICT), format) for each in documents]


def _saved(library: "Library", search: Search) -> SavedSearch:
    marks = library.workspace.marks.current(search)
    size = library.workspace.searches.size(search)
    return SavedSearch(search.id, search.query, search.source, search.at, size, marks.relevant, marks.not_relevant)


# -- imports, events -------------------------------------------------------------------------------------------


def sources(library: "Library", given: Given) -> SourcesResponse:
    return SourcesResponse(finding.source_names(library))


def preview(library: "Library", given: Given) -> PreviewResponse:
    return preview_response(library.uploads.keep(given["name"], given.raw))


def preview_response(found: "Preview") -> PreviewResponse:
    """What was understood of a file, as JSON has it."""
    return PreviewResponse(
        found.key, found.name, found.format, found.records, tuple(FieldCount(*each) for each in found.fields),
        tuple(DocumentAnswer(each.id, each.fields) for each in found.first), found.skipped, found.odd, found.repeated,
        found.decided, found.cut_short,
    )  # fmt: skip


def take_in(library: "Library", given: Given) -> BulkResponse:
    body = given.body
    return taken_in(
        library, given["key"], body.get("collection"), body.get("on_duplicate", "skip"), body.get("incomplete", False)
    )


def taken_in(library: "Library", key: str, name: str | None, on_duplicate: Any, incomplete: bool) -> BulkResponse:
    """Add the records of a file that was previewed to a collection, and forget the file."""
    with library.changing(name) as engine:
        report = engine.add(library.uploads.documents(key, incomplete=incomplete), on_duplicate=on_duplicate)
    library.uploads.drop(key)
    return BulkResponse(_added(report, engine), ())


def drop_upload(library: "Library", given: Given) -> CountResponse:
    library.uploads.drop(given["key"])
    return CountResponse(1)


def add_events(library: "Library", given: Given) -> CountResponse:
    if given.content_type == NDJSON:
        try:
            events = [json_of(line) for line in given.raw.splitlines() if line.strip()]
        except orjson.JSONDecodeError as error:
            raise ProblemError(400, f"a line is not JSON: {error}") from None
    else:
        events = given.body["events"]
    return CountResponse(library.events.add(events))


def read_events(library: "Library", given: Given) -> Attachment:
    return Attachment(in_pieces(library.events.read()), "jsonl")


def erase_events(library: "Library", given: Given) -> CountResponse:
    user = given["user"]
    remove_left(library.home)
    count = library.events.erase() if user is None else library.events.erase_user(user)
    library.audit.erased("all" if user is None else "one user", count)
    return CountResponse(count)


# -- topics, screening -------------------------------------------------------------------------------------------------


def all_topics(library: "Library", given: Given) -> TopicsResponse:
    return TopicsResponse(tuple(topic for topic, _ in topics.topics_of(library)))


def one_topic(library: "Library", given: Given) -> TopicAnswer:
    view = topics.topic_view(library, given["name"])
    return TopicAnswer(view.topic, view.timeline, view.words, tuple(map(HitResponse.of, view.hits)))


def topic_feed(library: "Library", given: Given) -> bytes:
    return topics.feed_of(library, given["name"])


def new_topic(library: "Library", given: Given) -> TopicAnswer:
    engine = library.engine(given.body.get("collection"))
    seeds = [engine.document(name) for name in given.body["documents"]]
    topics.follow(library, given.body["name"], seeds, engine)
    return one_topic(library, Given({"name": given.body["name"]}))


def feed_topics(library: "Library", given: Given) -> FeedResponse:
    engine = library.engine(given.body.get("collection"))
    if not topics.is_shown_at_once(engine):
        raise ParameterError(
            f"the collection has {len(engine):,} documents with {engine.stats().tokens:,} words, where "
            f"{topics.MOST_AT_ONCE:,} with {topics.MOST_WORDS_AT_ONCE:,} are shown to topics at once: "
            "the job 'feed' shows them all (POST to api/v1/jobs/feeds)"
        )
    return FeedResponse(*topics.feed(library, engine.documents()))


def judge_topic(library: "Library", given: Given) -> TopicAnswer:
    topics.judge(library, given["name"], given.body["document"], given.body["on_topic"])
    return one_topic(library, given)


def undo_topic(library: "Library", given: Given) -> TopicAnswer:
    if topics.undo_judgement(library, given["name"]) is None:
        raise ProblemError(409, "there is no judgement left to undo")
    return one_topic(library, given)


def projects(library: "Library", given: Given) -> ProjectsResponse:
    found = library.screens.projects()
    return ProjectsResponse(
        tuple(ProjectEntry(project.name, size, project.blind, dict(read)) for project, size, read in found)
    )


def new_project(library: "Library", given: Given) -> ProjectsResponse:
    reviewer = given.body.get("reviewer", "").strip()
    decided = {}
    if "search" in given.body:
        documents = search_documents(library, given.body["search"], "all")
    elif "key" in given.body:
        documents = list(library.uploads.documents(given.body["key"], incomplete=given.body.get("incomplete", False)))
        decided = library.uploads.verdicts(given.body["key"]) if reviewer else {}
        for name in {reviewer} | {verdict.by for said in decided.values() for verdict in said if verdict.by}:
            library.screens.check_act(name, given.bound)
    else:
        raise ParameterError("a project is made of a saved search ('search') or a file that waits ('key')")
    library.screens.create(
        given.body["name"], documents, blind=given.body.get("blind", True), decided=decided, reviewer=reviewer
    )
    return projects(library, given)


def join_project(library: "Library", given: Given) -> ScreenResponse:
    library.screens.check_act(given.body["reviewer"], given.bound)
    library.screens.join(given["name"], given.body["reviewer"])
    return _screen(library.screens.state(given["name"], given.body["reviewer"]))


def screen_state(library: "Library", given: Given) -> ScreenResponse:
    library.screens.check_sight(given["name"], given["reviewer"], given.bound)
    return _screen(library.screens.state(given["name"], given["reviewer"]))


def screen_decide(library: "Library", given: Given) -> ScreenResponse:
    body = given.body
    library.screens.check_act(body["reviewer"], given.bound)
    return _screen(
        library.screens.act(given["name"], body["reviewer"], body["action"], body.get("document", ""),
                            body.get("reason", ""), body.get("note", ""))
    )  # fmt: skip


def _screen(state: ScreenState) -> ScreenResponse:
    record = None if state.record is None else DocumentAnswer(state.record.id, state.record.fields)
    proposed = state.suggestion
    return ScreenResponse(
        state.project.name, state.reviewer, record, None if proposed is None else proposed.probability,
        () if proposed is None else tuple(word.word for word in proposed.words), state.read, state.total,
        state.found[-1] if state.found else 0, state.remaining.expected, state.remaining.high,
        state.recommendation.stop, state.recommendation.reason,
    )  # fmt: skip


NAME = Field("name", "the name", where="path", most=200)
KEY = Field("key", "the key of a file that waits", where="path", most=64)
REVIEWER = Field("reviewer", "who reads", required=True, least=1, most=100)
DECISION = members(
    ("reviewer", "action"), reviewer=text(100), action={"type": "string", "enum": list(DECISIONS)},
    document=text(500, 0), reason=text(500, 0), note=text(5_000, 0),
)  # fmt: skip
KEEP = members(
    ("query",), query=text(2_000), collection=text(200),
    filters={"type": "array", "items": text(500), "maxItems": budget.MOST_FILTERS},
    **{name: schema(BOUNDS[name]) for name in ("model", "k", "filter")},
)  # fmt: skip
MARK = members(("document", "mark"), document=text(500), mark={"type": "string", "enum": list(MARKS)})
TOPIC = members(
    ("name", "documents"), name=text(200), collection=text(200),
    documents={"type": "array", "items": text(500), "minItems": 1, "maxItems": budget.MOST_IDS},
)  # fmt: skip
PROJECT = members(
    ("name",), name=text(200), search={"type": "integer", "minimum": 1, "maximum": 10**11}, key=text(64),
    blind={"type": "boolean"}, reviewer=text(100), incomplete={"type": "boolean"},
)  # fmt: skip
EVENTS = members(
    ("events",), events={"type": "array", "items": {"type": "object", "maxProperties": 100}, "maxItems": 1_000}
)
TAKE_IN = members(
    (), collection=text(200), on_duplicate={"type": "string", "enum": list(ON_KNOWN)}, incomplete={"type": "boolean"},
)  # fmt: skip
FIELDS = {"type": "object", "maxProperties": 1_000}
IN = "/collections/{collection}"

OPERATIONS: tuple[Operation, ...] = (
    Operation("GET", "/health", "Whether the server can answer; until it is ready 503, and the status 'starting'",
        health, HealthResponse),
    Operation("GET", "/collections", "The collections", collections, CollectionsResponse),
    Operation("GET", IN, "Numbers about a collection", collection, CollectionResponse, (COLLECTION,)),
    Operation("GET", f"{IN}/search", "Search a collection", search, SearchResponse,
              (COLLECTION, *parameters_of(SearchRequest)), cost=lambda given: budget.cost_of(search_of(given))),
    Operation("GET", f"{IN}/explain", "Why a document has its score", explain, ExplainResponse,
              (COLLECTION, *parameters_of(ExplainRequest))),
    Operation("POST", f"{IN}/documents", "Add documents, one JSON object a line", add_documents, BulkResponse,
              (COLLECTION, ON_DUPLICATE), raw=(NDJSON,), errors=(404, 409, 422), role=Role.ADMIN),
    Operation("GET", f"{IN}/documents/{{id}}", "A document", document, DocumentAnswer, (COLLECTION, ID)),
    Operation("PUT", f"{IN}/documents/{{id}}", "Add a document, or replace it", put_document, AddResponse,
              (COLLECTION, ID), body=FIELDS, role=Role.ADMIN, most=None),
    Operation("PATCH", f"{IN}/documents/{{id}}", "Change some fields of a document, and keep the others",
              patch_document, AddResponse, (COLLECTION, ID), body=FIELDS, role=Role.ADMIN, most=None),
    Operation("DELETE", f"{IN}/documents/{{id}}", "Delete a document", delete_document, CountResponse,
              (COLLECTION, ID), role=Role.ADMIN),
    Operation("GET", f"{IN}/export", "All documents", export_collection, EXPORT,
              (COLLECTION, FORMAT), cost=budget.BUDGET),
    Operation("GET", "/searches", "The searches that are kept", saved_searches, SavedSearchList, (K,)),
    Operation("POST", "/searches", "Search, and keep the list so that it can be marked", keep, SavedSearch, body=KEEP,
              status=201, role=Role.MARKER),
    Operation("GET", "/searches/{search}", "A saved search in the order that its marks ask for", refined,
              RefinedResponse, (SEARCH, K, METHOD, DROP, ADD,
                                Field("explain", f"with the words of each result, {budget.MOST_TOLD} at most",
                                          "boolean", default=False),
                                Field("fields", "with the documents' fields", "boolean", default=False)),
              cost=lambda given: budget.cost_of_order(given["method"])),
    Operation("POST", "/searches/{search}/marks", "Mark a result", mark, SavedSearch, (SEARCH,), body=MARK,
              role=Role.MARKER),
    Operation("POST", "/searches/{search}/undo", "Take the latest mark back", undo, SavedSearch, (SEARCH,),
              errors=(404, 409, 422), role=Role.MARKER),
    Operation("POST", "/searches/{search}/redo", "Make the mark again that was taken back last", redo, SavedSearch,
              (SEARCH,), errors=(404, 409, 422), role=Role.MARKER),
    Operation("GET", "/searches/{search}/groups", "The groups in the rest", groups, GroupsResponse, (SEARCH,),
              cost=budget.BUDGET),
    Operation("GET", "/searches/{search}/export", "The results of a saved search", export_search,
              EXPORT, (SEARCH, FORMAT, Field(
                  "which", "which results", choices=("all", "relevant", "predicted"), default="all")),
              cost=budget.BUDGET),
    Operation("GET", "/sources", "The sources that meta-search may ask", sources, SourcesResponse),
    Operation("POST", "/imports", "Hand a file in, and see what it holds; nothing is stored yet", preview,
              PreviewResponse, (Field("name", "the file's name", required=True, least=1, most=300),),
              raw=("*/*",), status=201, role=Role.ADMIN),
    Operation("POST", "/imports/{key}", "Take the records of a file in", take_in, BulkResponse, (KEY,), body=TAKE_IN,
              errors=(404, 409, 422), role=Role.ADMIN),
    Operation("DELETE", "/imports/{key}", "Forget a file that was handed in", drop_upload, CountResponse, (KEY,),
              role=Role.ADMIN),
    Operation("GET", "/events", "Clicks and searches that were logged, as UBI has them", read_events, Media((NDJSON,)),
              role=Role.ADMIN),
    Operation("POST", "/events", "Log clicks, as UBI has them", add_events, CountResponse, body=EVENTS, raw=(NDJSON,),
              status=201, role=Role.MARKER, most=4 * MOST_JSON),
    Operation("DELETE", "/events", "Forget all that was logged, or all of one user", erase_events, CountResponse, (
        Field("user", "the user_id or client_id of whoever is to be forgotten", least=1, most=500),),
        role=Role.ADMIN),
    Operation("GET", "/topics", "The topics that are followed", all_topics, TopicsResponse),
    Operation("POST", "/topics", "Follow a topic that begins with these documents", new_topic, TopicAnswer, body=TOPIC,
              status=201, role=Role.MARKER),
    Operation("POST", "/topics/feed", "Show a collection's documents to all topics, and to each what came before it",
              feed_topics, FeedResponse, body=members((), collection=text(200)), role=Role.MARKER),
    Operation("GET", "/topics/{name}", "A topic", one_topic, TopicAnswer, (NAME,)),
    Operation("GET", "/topics/{name}/feed", "What a topic delivered last, as an Atom feed", topic_feed, Media((ATOM,)),
              (NAME, Field("key", "what opens this feed where the server asks for a token", most=64))),
    Operation("POST", "/topics/{name}/judgements", "Say whether a document is on the topic", judge_topic, TopicAnswer,
              (NAME,), body=members(("document", "on_topic"), document=text(500), on_topic={"type": "boolean"}),
              role=Role.MARKER),
    Operation("POST", "/topics/{name}/undo", "Take the latest judgement back", undo_topic, TopicAnswer, (NAME,),
              errors=(404, 409, 422), role=Role.MARKER),
    Operation("GET", "/projects", "The screening projects", projects, ProjectsResponse),
    Operation("POST", "/projects", "A screening project over a saved search or a file", new_project, ProjectsResponse,
              body=PROJECT, status=201, role=Role.MARKER),
    Operation("GET", "/projects/{name}", "Where a reviewer stands", screen_state, ScreenResponse, (NAME, REVIEWER)),
    Operation("POST", "/projects/{name}/reviewers", "Join a project as a reviewer", join_project, ScreenResponse,
              (NAME,), body=members(("reviewer",), reviewer=text(100)), role=Role.MARKER),
    Operation("POST", "/projects/{name}/decisions", "Decide on the record to read", screen_decide, ScreenResponse,
              (NAME,), body=DECISION, role=Role.MARKER),
)  # fmt: skip

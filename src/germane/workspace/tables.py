"""The schema: every table of a workspace. A change here needs a migration (`migrations/versions/`).

Rows are added and not changed, but for the state of a job, the end of a project's blindness, and what a stream knows by
now (`streams`, `stream_parts`, `trackers`, `polls`, `outbox`, and what is kept of a document in `arrivals`). A mark, a
decision or a judgement that is taken back stays: a later row names it in `undoes`. A row's number is never given twice.
"""

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, MetaData, Table, false
from sqlalchemy import UniqueConstraint as Unique

from germane.workspace.columns import Bytes, Json, Number, Plain, RowId, Truth, Whole

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


def _id() -> "Column[int]":
    return Column("id", RowId, primary_key=True, autoincrement=True)


def _to(table: str, *, needed: bool = True) -> "Column[int]":
    singular = {"searches": "search"}.get(table, table.removesuffix("s"))
    return Column(f"{singular}_id", RowId, ForeignKey(f"{table}.id"), nullable=not needed)


def _at() -> "Column[str]":
    return Column("at", Plain, nullable=False)


collections = Table(
    "collections", metadata, _id(), Column("name", Plain, nullable=False), Column("description", Plain, nullable=False),
    _at(), Unique("name"), sqlite_autoincrement=True,
)  # fmt: skip
records = Table(
    "records", metadata, _id(), _to("collections"), Column("document", Plain, nullable=False),
    Column("fields", Json, nullable=False), _at(), Unique("collection_id", "document"), sqlite_autoincrement=True,
)  # fmt: skip
searches = Table(
    "searches", metadata, _id(), Column("query", Plain, nullable=False), Column("source", Plain, nullable=False),
    Column("settings", Json, nullable=False), _at(), sqlite_autoincrement=True,
)  # fmt: skip
results = Table(
    "results", metadata, _id(), _to("searches"), Column("rank", Whole, nullable=False),
    Column("document", Plain, nullable=False), Column("score", Number), Column("fields", Json, nullable=False),
    Column("provenance", Json, nullable=False), Unique("search_id", "rank"), sqlite_autoincrement=True,
)  # fmt: skip
marks = Table(
    "marks", metadata, _id(), _to("searches", needed=False), _to("collections", needed=False),
    Column("document", Plain, nullable=False), Column("mark", Whole, nullable=False),
    Column("by", Plain, nullable=False), _at(), Column("undoes", RowId, ForeignKey("marks.id")),
    Unique("undoes"), CheckConstraint("(search_id IS NULL) <> (collection_id IS NULL)", name="one_list"),
    Index(None, "search_id", "id"), Index(None, "collection_id", "id"), sqlite_autoincrement=True,
)  # fmt: skip
interests = Table(
    "interests", metadata, _id(), Column("name", Plain, nullable=False), Column("version", Whole, nullable=False),
    Column("query", Plain, nullable=False), Column("method", Plain, nullable=False),
    Column("relevant", Json, nullable=False), Column("not_relevant", Json, nullable=False),
    Column("model", Json, nullable=False), _at(), Unique("name", "version"), sqlite_autoincrement=True,
)  # fmt: skip
projects = Table(
    "projects", metadata, _id(), Column("name", Plain, nullable=False), _to("collections", needed=False),
    Column("blind", Truth, nullable=False), _at(), Column("revealed", Plain), Unique("name"),
    sqlite_autoincrement=True,
)  # fmt: skip
reviewers = Table(
    "reviewers", metadata, _id(), _to("projects"), Column("name", Plain, nullable=False), _at(),
    Unique("project_id", "name"), sqlite_autoincrement=True,
)  # fmt: skip
decisions = Table(
    "decisions", metadata, _id(), _to("reviewers"), Column("document", Plain, nullable=False),
    Column("included", Truth), Column("reason", Plain, nullable=False), _at(),
    Column("undoes", RowId, ForeignKey("decisions.id")),
    Column("maybe", Truth, nullable=False, server_default=false()),
    Column("note", Plain, nullable=False, server_default=""), Unique("undoes"), Index(None, "reviewer_id", "id"),
    sqlite_autoincrement=True,
)  # fmt: skip
resolutions = Table(
    "resolutions", metadata, _id(), _to("projects"), Column("document", Plain, nullable=False),
    Column("included", Truth, nullable=False), Column("by", Plain, nullable=False),
    Column("reason", Plain, nullable=False), _at(), Index(None, "project_id", "id"), sqlite_autoincrement=True,
)  # fmt: skip
notes = Table(
    "notes", metadata, _id(), Column("document", Plain, nullable=False), Column("text", Plain, nullable=False),
    Column("by", Plain, nullable=False), _at(), Index(None, "document"), sqlite_autoincrement=True,
)  # fmt: skip
topics = Table(
    "topics", metadata, _id(), Column("name", Plain, nullable=False), Column("version", Whole, nullable=False),
    Column("model", Json, nullable=False), Column("settings", Json, nullable=False), _at(), Unique("name", "version"),
    sqlite_autoincrement=True,
)  # fmt: skip
models = Table(
    "models", metadata, _id(), Column("name", Plain, nullable=False), Column("version", Whole, nullable=False),
    Column("kind", Plain, nullable=False), Column("settings", Json, nullable=False),
    Column("content", Bytes, nullable=False), Column("sha256", Plain, nullable=False), _at(),
    Unique("name", "version"), sqlite_autoincrement=True,
)  # fmt: skip
clicks = Table(
    "clicks", metadata, _id(), _to("searches"), Column("document", Plain, nullable=False),
    Column("rank", Whole, nullable=False), Column("kind", Plain, nullable=False), Column("by", Plain, nullable=False),
    _at(), Index(None, "search_id", "id"), sqlite_autoincrement=True,
)  # fmt: skip
jobs = Table(
    "jobs", metadata, _id(), Column("kind", Plain, nullable=False), Column("settings", Json, nullable=False),
    Column("state", Plain, nullable=False), Column("outcome", Json, nullable=False), _at(), Column("started", Plain),
    Column("ended", Plain), Index(None, "state", "id"), sqlite_autoincrement=True,
)  # fmt: skip
streams = Table(
    "streams", metadata, _id(), Column("name", Plain, nullable=False), Column("settings", Json, nullable=False),
    Column("revision", RowId, nullable=False), Column("told", RowId, nullable=False), _at(), Unique("name"),
    sqlite_autoincrement=True,
)  # fmt: skip
stream_parts = Table(
    "stream_parts", metadata, _id(), _to("streams"), Column("name", Plain, nullable=False),
    Column("content", Bytes, nullable=False), Unique("stream_id", "name"), sqlite_autoincrement=True,
)  # fmt: skip
words = Table(
    "words", metadata, _id(), _to("streams"), Column("content", Json, nullable=False), Index(None, "stream_id", "id"),
    sqlite_autoincrement=True,
)  # fmt: skip
trackers = Table(
    "trackers", metadata, _id(), _to("streams"), _to("topics"), Column("status", Plain, nullable=False),
    Column("since", RowId, nullable=False), Column("state", Bytes, nullable=False), _at(), Unique("topic_id"),
    Index(None, "stream_id", "id"), sqlite_autoincrement=True,
)  # fmt: skip
arrivals = Table(
    "arrivals", metadata, _id(), _to("streams"), Column("document", Plain, nullable=False),
    Column("digest", Plain, nullable=False), Column("source", Plain, nullable=False), Column("date", Plain),
    Column("fields", Json, nullable=False), Column("bag", Bytes, nullable=False), _at(),
    Unique("stream_id", "document"), sqlite_autoincrement=True,
)  # fmt: skip
sightings = Table(
    "sightings", metadata, _id(), _to("trackers"), _to("arrivals"), Column("score", Number, nullable=False),
    Column("delivered", Truth, nullable=False), Column("learnt", Truth, nullable=False),
    Column("sampled", Truth, nullable=False), Unique("tracker_id", "arrival_id"), sqlite_autoincrement=True,
)  # fmt: skip
judgements = Table(
    "judgements", metadata, _id(), _to("trackers"), _to("arrivals"), Column("on_topic", Truth),
    Column("seen", RowId, nullable=False), Column("by", Plain, nullable=False), _at(),
    Column("undoes", RowId, ForeignKey("judgements.id")), Unique("undoes"), Index(None, "tracker_id", "id"),
    sqlite_autoincrement=True,
)  # fmt: skip
polls = Table(
    "polls", metadata, _id(), _to("streams"), Column("source", Plain, nullable=False),
    Column("validators", Json, nullable=False), Column("failures", Whole, nullable=False),
    Column("not_before", Number, nullable=False), Column("trouble", Plain, nullable=False), _at(),
    Unique("stream_id", "source"), sqlite_autoincrement=True,
)  # fmt: skip
outbox = Table(
    "outbox", metadata, _id(), _to("streams"), Column("url", Plain, nullable=False),
    Column("secret", Plain, nullable=False), Column("message", Json, nullable=False),
    Column("attempts", Whole, nullable=False), Column("not_before", Number, nullable=False),
    Column("trouble", Plain, nullable=False), _at(), Column("delivered", Plain), Index(None, "stream_id", "id"),
    sqlite_autoincrement=True,
)  # fmt: skip

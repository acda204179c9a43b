"""Topics followed through streams: what came in, what became of it, and all that is known by now. Frozen as it was."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the tables of streams."""
    op.create_table(
        "streams",
        _id(),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("revision", ROW_ID, nullable=False),
        sa.Column("told", ROW_ID, nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_streams")),
        sa.UniqueConstraint("name", name=op.f("uq_streams_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "stream_parts",
        _id(),
        sa.Column("stream_id", ROW_ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name=op.f("fk_stream_parts_stream_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_stream_parts")),
        sa.UniqueConstraint("stream_id", "name", name=op.f("uq_stream_parts_stream_id_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "words",
        _id(),
        sa.Column("stream_id", ROW_ID, nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name=op.f("fk_words_stream_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_words")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_words_stream_id_id"), "words", ["stream_id", "id"])
    op.create_table(
        "trackers",
        _id(),
        sa.Column("stream_id", ROW_ID, nullable=False),
        sa.Column("topic_id", ROW_ID, nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("since", ROW_ID, nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name=op.f("fk_trackers_stream_id")),
        sa.ForeignKeyConstraint(["topic_id"], ["topics.id"], name=op.f("fk_trackers_topic_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trackers")),
        sa.UniqueConstraint("topic_id", name=op.f("uq_trackers_topic_id")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_trackers_stream_id_id"), "trackers", ["stream_id", "id"])
    op.create_table(
        "arrivals",
        _id(),
        sa.Column("stream_id", ROW_ID, nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("date", sa.Text(), nullable=True),
        sa.Column("fields", sa.Text(), nullable=False),
        sa.Column("bag", sa.LargeBinary(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name=op.f("fk_arrivals_stream_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_arrivals")),
        sa.UniqueConstraint("stream_id", "document", name=op.f("uq_arrivals_stream_id_document")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "sightings",
        _id(),
        sa.Column("tracker_id", ROW_ID, nullable=False),
        sa.Column("arrival_id", ROW_ID, nullable=False),
        sa.Column("score", sa.Float(precision=53), nullable=False),
        sa.Column("delivered", sa.Boolean(), nullable=False),
        sa.Column("learnt", sa.Boolean(), nullable=False),
        sa.Column("sampled", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["tracker_id"], ["trackers.id"], name=op.f("fk_sightings_tracker_id")),
        sa.ForeignKeyConstraint(["arrival_id"], ["arrivals.id"], name=op.f("fk_sightings_arrival_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sightings")),
        sa.UniqueConstraint("tracker_id", "arrival_id", name=op.f("uq_sightings_tracker_id_arrival_id")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "judgements",
        _id(),
        sa.Column("tracker_id", ROW_ID, nullable=False),
        sa.Column("arrival_id", ROW_ID, nullable=False),
        sa.Column("on_topic", sa.Boolean(), nullable=True),
        sa.Column("seen", ROW_ID, nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("undoes", ROW_ID, nullable=True),
        sa.ForeignKeyConstraint(["tracker_id"], ["trackers.id"], name=op.f("fk_judgements_tracker_id")),
        sa.ForeignKeyConstraint(["arrival_id"], ["arrivals.id"], name=op.f("fk_judgements_arrival_id")),
        sa.ForeignKeyConstraint(["undoes"], ["judgements.id"], name=op.f("fk_judgements_undoes")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judgements")),
        sa.UniqueConstraint("undoes", name=op.f("uq_judgements_undoes")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_judgements_tracker_id_id"), "judgements", ["tracker_id", "id"])
    op.create_table(
        "polls",
        _id(),
        sa.Column("stream_id", ROW_ID, nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("validators", sa.Text(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("not_before", sa.Float(precision=53), nullable=False),
        sa.Column("trouble", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name=op.f("fk_polls_stream_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_polls")),
        sa.UniqueConstraint("stream_id", "source", name=op.f("uq_polls_stream_id_source")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "outbox",
        _id(),
        sa.Column("stream_id", ROW_ID, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("not_before", sa.Float(precision=53), nullable=False),
        sa.Column("trouble", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("delivered", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name=op.f("fk_outbox_stream_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_outbox_stream_id_id"), "outbox", ["stream_id", "id"])


def _id() -> "sa.Column[int]":
    return sa.Column("id", ROW_ID, autoincrement=True, nullable=False)

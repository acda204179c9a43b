"""The first schema. Frozen as it was: the tables of today are in `tables.py`."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make every table."""
    op.create_table(
        "collections",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_collections")),
        sa.UniqueConstraint("name", name=op.f("uq_collections_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "interests",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("relevant", sa.Text(), nullable=False),
        sa.Column("not_relevant", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_interests")),
        sa.UniqueConstraint("name", "version", name=op.f("uq_interests_name_version")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "jobs",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("started", sa.Text(), nullable=True),
        sa.Column("ended", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_jobs_state_id"), "jobs", ["state", "id"])
    op.create_table(
        "models",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_models")),
        sa.UniqueConstraint("name", "version", name=op.f("uq_models_name_version")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "notes",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notes")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_notes_document"), "notes", ["document"])
    op.create_table(
        "searches",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_searches")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "topics",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_topics")),
        sa.UniqueConstraint("name", "version", name=op.f("uq_topics_name_version")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "clicks",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("search_id", ROW_ID, nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["search_id"], ["searches.id"], name=op.f("fk_clicks_search_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_clicks")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_clicks_search_id_id"), "clicks", ["search_id", "id"])
    op.create_table(
        "marks",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("search_id", ROW_ID, nullable=True),
        sa.Column("collection_id", ROW_ID, nullable=True),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("mark", sa.Integer(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("undoes", ROW_ID, nullable=True),
        sa.CheckConstraint("(search_id IS NULL) <> (collection_id IS NULL)", name=op.f("ck_marks_one_list")),
        sa.ForeignKeyConstraint(["collection_id"], ["collections.id"], name=op.f("fk_marks_collection_id")),
        sa.ForeignKeyConstraint(["search_id"], ["searches.id"], name=op.f("fk_marks_search_id")),
        sa.ForeignKeyConstraint(["undoes"], ["marks.id"], name=op.f("fk_marks_undoes")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_marks")),
        sa.UniqueConstraint("undoes", name=op.f("uq_marks_undoes")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_marks_collection_id_id"), "marks", ["collection_id", "id"])
    op.create_index(op.f("ix_marks_search_id_id"), "marks", ["search_id", "id"])
    op.create_table(
        "projects",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("collection_id", ROW_ID, nullable=True),
        sa.Column("blind", sa.Boolean(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("revealed", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["collection_id"], ["collections.id"], name=op.f("fk_projects_collection_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_projects")),
        sa.UniqueConstraint("name", name=op.f("uq_projects_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "records",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("collection_id", ROW_ID, nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("fields", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["collection_id"], ["collections.id"], name=op.f("fk_records_collection_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_records")),
        sa.UniqueConstraint("collection_id", "document", name=op.f("uq_records_collection_id_document")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "results",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("search_id", ROW_ID, nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("score", sa.Float(precision=53), nullable=True),
        sa.Column("fields", sa.Text(), nullable=False),
        sa.Column("provenance", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["search_id"], ["searches.id"], name=op.f("fk_results_search_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_results")),
        sa.UniqueConstraint("search_id", "rank", name=op.f("uq_results_search_id_rank")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "resolutions",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("project_id", ROW_ID, nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("included", sa.Boolean(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_resolutions_project_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_resolutions")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_resolutions_project_id_id"), "resolutions", ["project_id", "id"])
    op.create_table(
        "reviewers",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("project_id", ROW_ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_reviewers_project_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reviewers")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_reviewers_project_id_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "decisions",
        sa.Column("id", ROW_ID, autoincrement=True, nullable=False),
        sa.Column("reviewer_id", ROW_ID, nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("included", sa.Boolean(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("undoes", ROW_ID, nullable=True),
        sa.ForeignKeyConstraint(["reviewer_id"], ["reviewers.id"], name=op.f("fk_decisions_reviewer_id")),
        sa.ForeignKeyConstraint(["undoes"], ["decisions.id"], name=op.f("fk_decisions_undoes")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_decisions")),
        sa.UniqueConstraint("undoes", name=op.f("uq_decisions_undoes")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_decisions_reviewer_id_id"), "decisions", ["reviewer_id", "id"])

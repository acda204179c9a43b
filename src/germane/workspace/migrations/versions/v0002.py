"""A decision says all that a reviewer said of a record: that it waits (maybe), and a note, beside yes or no and why."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Two columns; decisions from before wait for nothing and have no note."""
    op.add_column("decisions", sa.Column("maybe", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("decisions", sa.Column("note", sa.Text(), nullable=False, server_default=""))

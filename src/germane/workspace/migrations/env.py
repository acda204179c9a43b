"""What Alembic runs: the migrations over the connection that it was handed, in its transaction."""

from alembic import context

from germane.workspace.migrations import VERSION_TABLE
from germane.workspace.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    transactional_ddl=False,  # the caller's transaction holds all of it
)
context.run_migrations()

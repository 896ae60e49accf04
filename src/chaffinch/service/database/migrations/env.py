"""Runs migrations on the connection that `Database.upgrade` opened."""

from alembic import context

from chaffinch.service.database.tables import Table

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Table.metadata,
    render_as_batch=True,
    transactional_ddl=True,
)
context.run_migrations()

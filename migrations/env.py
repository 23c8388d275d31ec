"""Alembic's environment: runs on a connection that `migrations.migrate` hands over, or on DATABASE_URL."""

import os

from alembic import context
from sqlalchemy import Connection, create_engine

from memory.tables import METADATA


def include_name(name: str | None, kind: str, _: object) -> bool:
    """Leaves the engine's and the search index's own tables alone."""
    return kind != "table" or name in METADATA.tables


def include_object(thing: object, name: str | None, kind: str, reflected: bool, _: object) -> bool:
    """Leaves the generated search column and its index alone."""
    return not (reflected and name and (name == "ts" or name.endswith("_ts")))


def run(connection: Connection) -> None:
    """Runs the migrations of this call in the caller's transaction."""
    context.configure(
        connection=connection,
        target_metadata=METADATA,
        render_as_batch=True,
        include_name=include_name,
        include_object=include_object,
        compare_type=True,
        transactional_ddl=False,
    )
    context.run_migrations()


given = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    with create_engine(os.environ["DATABASE_URL"]).begin() as own:
        run(own)

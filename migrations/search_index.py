"""The keyword index of memories and entries: made here, and made again whenever a table is rebuilt.

SQLite: one FTS5 table each with external content and triggers (a batch migration that rebuilds the table
silently drops the triggers: call `drop` before it and `create` after it). PostgreSQL: a generated tsvector.
"""

from alembic import op

TABLES = ("memories", "entries")
COLUMNS = ("text", "head", "ctx", "folds")
TOKENIZER = "porter unicode61 remove_diacritics 2"
LONGEST = 200_000
"""Characters of one row that PostgreSQL indexes: a tsvector holds at most a megabyte."""


def create(table: str) -> None:
    """The index of one table, filled from its rows."""
    if op.get_bind().dialect.name == "sqlite":
        _create_fts(table)
    else:
        _create_tsvector(table)


def drop(table: str) -> None:
    """Removes the index of one table."""
    if op.get_bind().dialect.name == "sqlite":
        for event in ("insert", "update", "delete"):
            op.execute(f"DROP TRIGGER IF EXISTS {table}_fts_{event}")
        op.execute(f"DROP TABLE IF EXISTS {table}_fts")
    else:
        op.execute(f"DROP INDEX IF EXISTS ix_{table}_ts")
        op.execute(f"ALTER TABLE {table} DROP COLUMN IF EXISTS ts")


def _create_fts(table: str) -> None:
    columns = ", ".join(COLUMNS)
    old = ", ".join(f"old.{column}" for column in COLUMNS)
    new = ", ".join(f"new.{column}" for column in COLUMNS)
    fts = f"{table}_fts"
    remove = f"INSERT INTO {fts}({fts}, rowid, {columns}) VALUES ('delete', old.seq, {old});"
    add = f"INSERT INTO {fts}(rowid, {columns}) VALUES (new.seq, {new});"
    op.execute(
        f"CREATE VIRTUAL TABLE {fts} USING fts5({columns}, content='{table}', content_rowid='seq', "
        f"tokenize='{TOKENIZER}')"
    )
    op.execute(f"CREATE TRIGGER {fts}_insert AFTER INSERT ON {table} BEGIN {add} END")
    op.execute(f"CREATE TRIGGER {fts}_delete AFTER DELETE ON {table} BEGIN {remove} END")
    op.execute(f"CREATE TRIGGER {fts}_update AFTER UPDATE OF {columns} ON {table} BEGIN {remove} {add} END")
    op.execute(f"INSERT INTO {fts}({fts}) VALUES ('rebuild')")


def _create_tsvector(table: str) -> None:
    def part(column: str, config: str, weight: str) -> str:
        return f"setweight(to_tsvector('{config}', left({column}, {LONGEST})), '{weight}')"

    parts = [part("text", "english", "A"), part("head", "english", "A"), part("ctx", "english", "C")]
    parts.append(part("folds", "simple", "A"))
    op.execute(
        f"ALTER TABLE {table} ADD COLUMN ts tsvector GENERATED ALWAYS AS ({' || '.join(parts)}) STORED"
    )
    op.execute(f"CREATE INDEX ix_{table}_ts ON {table} USING gin (ts)")

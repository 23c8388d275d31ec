"""The keyword index of memories and entries, and the log of what changed for search.

Made here, and made again whenever a table is rebuilt (a batch migration that rebuilds a SQLite table silently
drops its triggers: call `drop` before it and `create` after it). SQLite: one FTS5 table each with external
content, and a view of its terms. PostgreSQL: a generated tsvector.
"""

from alembic import op

from memory.text import PUNCTUATION

TABLES = ("memories", "entries")
KINDS = {"memories": "memory", "entries": "entry"}
COLUMNS = ("text", "head", "ctx", "folds")
GATES = {
    "memories": ("team_id", "audience", "bot_id", "layer", "subject", "status"),
    "entries": ("team_id", "audience", "drawn_from", "bot_id", "conversation_id", "kind", "redacted_at"),
}
"""What decides who finds a row: a change of it is told to the index of meanings."""
CHANGED = "old.text <> new.text OR old.head <> new.head OR old.ctx <> new.ctx"
"""When what was learnt of a row's meaning is no longer true of it."""
TOKENIZER = "porter unicode61 remove_diacritics 2"
VECTOR_EVENTS = (("insert", "new"), ("update", "new"), ("delete", "old"))
WORDS = "teambot_words"
LONGEST = 50_000
"""Characters of one column that PostgreSQL indexes: a tsvector holds at most a megabyte."""
TOKENS = "asciiword, word, numword, hword_asciipart, hword_part, hword_numpart, asciihword, hword, numhword"


def prepare() -> None:
    """What both indexes share: the log of changes and, on PostgreSQL, English stemming without stop words."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE TABLE search_changes (seq INTEGER PRIMARY KEY AUTOINCREMENT, kind VARCHAR NOT NULL, "
            "row_seq INTEGER NOT NULL)"
        )
        for event, row in VECTOR_EVENTS:
            op.execute(
                f"CREATE TRIGGER vectors_log_{event} AFTER {event} ON vectors BEGIN "
                f"INSERT INTO search_changes (kind, row_seq) VALUES ({row}.kind, {row}.row_seq); END"
            )
        return
    op.execute(
        "CREATE TABLE search_changes (seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
        "kind VARCHAR NOT NULL, row_seq BIGINT NOT NULL)"
    )
    op.execute(f"CREATE TEXT SEARCH DICTIONARY {WORDS} (TEMPLATE = snowball, Language = english)")
    op.execute(f"CREATE TEXT SEARCH CONFIGURATION {WORDS} (COPY = simple)")
    op.execute(f"ALTER TEXT SEARCH CONFIGURATION {WORDS} ALTER MAPPING FOR {TOKENS} WITH {WORDS}")
    _function(
        "vectors_log",
        "INSERT INTO search_changes (kind, row_seq) "
        "VALUES (coalesce(new.kind, old.kind), coalesce(new.row_seq, old.row_seq));",
    )
    for event, _ in VECTOR_EVENTS:
        op.execute(
            f"CREATE TRIGGER vectors_log_{event} AFTER {event} ON vectors FOR EACH ROW "
            "EXECUTE FUNCTION vectors_log()"
        )


def unprepare() -> None:
    """Removes what `prepare` made."""
    on_sqlite = op.get_bind().dialect.name == "sqlite"
    for event, _ in VECTOR_EVENTS:
        op.execute(f"DROP TRIGGER vectors_log_{event}" + ("" if on_sqlite else " ON vectors"))
    op.execute("DROP TABLE search_changes")
    if not on_sqlite:
        op.execute("DROP FUNCTION vectors_log()")
        op.execute(f"DROP TEXT SEARCH CONFIGURATION {WORDS}")
        op.execute(f"DROP TEXT SEARCH DICTIONARY {WORDS}")


def create(table: str) -> None:
    """The index of one table, filled from its rows."""
    if op.get_bind().dialect.name == "sqlite":
        _create_fts(table)
        _create_sqlite_log(table)
    else:
        _create_tsvector(table)
        _create_postgres_log(table)


def drop(table: str) -> None:
    """Removes the index of one table."""
    if op.get_bind().dialect.name == "sqlite":
        for event in ("insert", "update", "delete"):
            op.execute(f"DROP TRIGGER IF EXISTS {table}_fts_{event}")
            op.execute(f"DROP TRIGGER IF EXISTS {table}_log_{event}")
        op.execute(f"DROP TRIGGER IF EXISTS {table}_log_text")
        op.execute(f"DROP TABLE IF EXISTS {table}_terms")
        op.execute(f"DROP TABLE IF EXISTS {table}_fts")
    else:
        for event in ("insert", "update", "delete", "text"):
            op.execute(f"DROP TRIGGER IF EXISTS {table}_log_{event} ON {table}")
        for function in ("log", "unlearn"):
            op.execute(f"DROP FUNCTION IF EXISTS {table}_{function}()")
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
    op.execute(f"CREATE VIRTUAL TABLE {table}_terms USING fts5vocab({fts}, instance)")
    op.execute(f"CREATE TRIGGER {fts}_insert AFTER INSERT ON {table} BEGIN {add} END")
    op.execute(f"CREATE TRIGGER {fts}_delete AFTER DELETE ON {table} BEGIN {remove} END")
    op.execute(f"CREATE TRIGGER {fts}_update AFTER UPDATE OF {columns} ON {table} BEGIN {remove} {add} END")
    op.execute(f"INSERT INTO {fts}({fts}) VALUES ('rebuild')")


def _create_sqlite_log(table: str) -> None:
    kind = KINDS[table]
    unlearn = f"DELETE FROM vectors WHERE kind = '{kind}' AND row_seq = old.seq;"

    def log(row: str) -> str:
        return f"INSERT INTO search_changes (kind, row_seq) VALUES ('{kind}', {row}.seq);"

    gate = ", ".join(GATES[table])
    op.execute(f"CREATE TRIGGER {table}_log_insert AFTER INSERT ON {table} BEGIN {log('new')} END")
    op.execute(f"CREATE TRIGGER {table}_log_update AFTER UPDATE OF {gate} ON {table} BEGIN {log('new')} END")
    op.execute(f"CREATE TRIGGER {table}_log_delete AFTER DELETE ON {table} BEGIN {unlearn} {log('old')} END")
    op.execute(
        f"CREATE TRIGGER {table}_log_text AFTER UPDATE OF text, head, ctx ON {table} "
        f"WHEN {CHANGED} BEGIN {unlearn} {log('new')} END"
    )


def _create_tsvector(table: str) -> None:
    marks = PUNCTUATION.replace("'", "''").replace(":", "\\:")

    def part(column: str, weight: str) -> str:
        words = f"translate(left({column}, {LONGEST}), '{marks}', '{' ' * len(PUNCTUATION)}')"
        return f"setweight(to_tsvector('{WORDS}', {words}), '{weight}')"

    parts = [part("text", "A"), part("head", "A"), part("ctx", "C"), part("folds", "A")]
    op.execute(
        f"ALTER TABLE {table} ADD COLUMN ts tsvector GENERATED ALWAYS AS ({' || '.join(parts)}) STORED"
    )
    op.execute(f"CREATE INDEX ix_{table}_ts ON {table} USING gin (ts)")


def _create_postgres_log(table: str) -> None:
    kind = KINDS[table]
    log = f"INSERT INTO search_changes (kind, row_seq) VALUES ('{kind}', coalesce(new.seq, old.seq));"
    _function(f"{table}_log", log)
    _function(f"{table}_unlearn", f"DELETE FROM vectors WHERE kind = '{kind}' AND row_seq = old.seq; {log}")
    gate = ", ".join(GATES[table])
    each = f"ON {table} FOR EACH ROW"
    op.execute(f"CREATE TRIGGER {table}_log_insert AFTER INSERT {each} EXECUTE FUNCTION {table}_log()")
    op.execute(
        f"CREATE TRIGGER {table}_log_update AFTER UPDATE OF {gate} {each} EXECUTE FUNCTION {table}_log()"
    )
    op.execute(f"CREATE TRIGGER {table}_log_delete AFTER DELETE {each} EXECUTE FUNCTION {table}_unlearn()")
    op.execute(
        f"CREATE TRIGGER {table}_log_text AFTER UPDATE OF text, head, ctx {each} "
        f"WHEN ({CHANGED}) EXECUTE FUNCTION {table}_unlearn()"
    )


def _function(name: str, body: str) -> None:
    op.execute(
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} RETURN NULL; END $$"
    )

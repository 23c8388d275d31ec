"""Search answers plain questions in every script, on both databases, within what the viewer may read."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy.orm import Session

from memory.audience import Viewer
from memory.conversations import Entry
from memory.database import Database
from memory.search import search_entries, search_memories
from tests.memory.talk import ADA, BEN, NOW, remember, say, settle, texts


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A team's database."""
    opened = Database(database_url)
    opened.run_now(settle)
    yield opened
    opened.close()


def ask(database: Database, query: str, viewer: Viewer = ADA, **more: object) -> list[str]:
    """The texts of memories that a question finds."""
    return texts(database.read_now(search_memories, viewer, query, at=NOW, **more))  # type: ignore[arg-type]


def test_a_plain_question_finds_the_fact_that_answers_it(database: Database) -> None:
    database.run_now(remember, "We deploy on Tuesdays.", "The office cat is called Miso.", "Ben likes tea.")
    assert ask(database, "When do we deploy?")[0] == "We deploy on Tuesdays."
    assert ask(database, "what's the name of the cat in the office")[0].startswith("The office cat")


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("来週の定例会議は火曜に変更になりました", "定例会議"),
        ("来週の定例会議は火曜に変更になりました", "会議"),
        ("来週の定例会議は火曜に変更になりました", "会"),
        ("来週の定例会議は火曜に変更になりました", "た"),
        ("경비 정산은 매월 십일에 마감합니다", "정산"),
        ("می‌خواهم چای سبز", "چای"),
        ("می‌خواهم چای سبز", "میخواهم"),
        ("İzmir office", "IZMIR"),
        ("IZMIR office", "ızmir"),
        ("ızmir office", "İzmir"),
        ("Café au lait", "Cafe\u0301"),
        ("Cafe\u0301 au lait", "café"),
        ("Cafe\u0301 au lait", "cafe"),
        ("Ship it \U0001f680 today", "\U0001f680"),
        ("done✅", "done"),
        ("हिन्दी में बैठक", "बैठक"),
        ("พรุ่งนี้ประชุม", "ประชุม"),
        ("Встреча в четверг", "ВСТРЕЧА"),
        ("The IT desk is on floor 3", "IT"),
        ("Use C for the driver", "C"),
        ("see https://x.example.test/deploy/guide?a=1", "guide"),
        ("mail ada@example.test", "example"),
        ("snake_case names", "snake"),
        ("“don’t” ship", "don't ship"),
        ("we use v2 and 12ab", "12ab"),
        ("Łódź straße", "lodz strasse"),
        ("日本語API仕様", "api"),
        ("日本語API仕様", "仕様"),
    ],
)
def test_every_script_and_the_shortest_words_are_found(database: Database, text: str, query: str) -> None:
    database.run_now(remember, "Something else entirely.", text)
    assert ask(database, query)[:1] == [text]


@pytest.mark.parametrize(
    "query",
    [
        "don't ship",
        "time:zone",
        "pre-release",
        "24/7 on-call",
        "c++ (core",
        "what?",
        "AND",
        '"half',
        "NEAR(",
        "a* OR NOT",
        "{text head}: x",
        "",
        "???",
        "\x00",
        "\ud83d",
        "' & | ! <-> :*",
        r"^(\w+\s?)+$ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
        "`" * 100_000,
        "<" * 50_000,
        "*" * 20_000,
        "[" * 5_000,
        "word " * 200_000,
        "会" * 300_000,
    ],
)
def test_no_text_makes_a_search_fail(database: Database, query: str) -> None:
    database.run_now(remember, "Don't ship the pre-release; time zone is UTC, what about half?")
    database.run_now(say, "Don't ship the pre-release; time zone is UTC, what about half?")
    assert len(ask(database, query)) <= 1
    assert len(database.read_now(search_entries, ADA, query)) <= 1


def test_only_what_the_viewer_may_recall_is_found(database: Database) -> None:
    database.run_now(remember, "The canary is for all.")
    database.run_now(remember, "Ada's canary is private.", audience="person:ada", subject="ada")
    database.run_now(remember, "The canary of the other bot.", bot_id="b2")
    assert len(ask(database, "canary", ADA)) == 2
    assert ask(database, "canary", BEN) == ["The canary is for all."]


def test_archived_memories_are_found_when_asked_for_and_expired_ones_never(database: Database) -> None:
    database.run_now(remember, "The old canary.", status="archived")
    database.run_now(remember, "The replaced canary.", status="superseded")
    database.run_now(remember, "The brief canary.", layer="note", expires_at=NOW - timedelta(minutes=1))
    assert ask(database, "canary") == []
    assert ask(database, "canary", statuses=("active", "archived")) == ["The old canary."]


def test_conversation_search_stays_with_this_bot_and_what_was_said(database: Database) -> None:
    database.run_now(say, "The canary sings.")
    database.run_now(say, "Another bot's canary.", conversation_id="c-b2", bot_id="b2")
    database.run_now(say, "A tool's canary.", kind="results")
    database.run_now(say, "A redacted canary.", redacted_at=NOW)
    assert texts(database.read_now(search_entries, ADA, "canary")) == ["The canary sings."]
    assert database.read_now(search_entries, ADA, "canary", conversation_ids=["c-b2"]) == []


def test_a_reply_is_found_by_the_question_before_it(database: Database) -> None:
    database.run_now(say, "Which database do we run in Frankfurt?", "PostgreSQL, I think.")
    found = texts(database.read_now(search_entries, ADA, "Frankfurt"))
    assert found == ["Which database do we run in Frankfurt?", "PostgreSQL, I think."]


def test_words_that_are_redacted_leave_the_context_of_what_was_said_next(database: Database) -> None:
    database.run_now(say, "The canary sings.", "Right.", "Then we go on.")

    def redact(session: Session) -> None:
        entry = session.query(Entry).filter_by(text="The canary sings.").one()
        entry.text, entry.redacted_at = "", NOW

    database.run_now(redact)
    assert database.read_now(search_entries, ADA, "canary") == []
    assert "canary" not in str(database.read_now(lambda s: [(e.ctx, e.head) for e in s.query(Entry)]))


def test_rows_of_others_never_change_the_order_of_results(database: Database) -> None:
    database.run_now(
        remember, "deploy deploy plan", "deploy plan for the release", "a plan", "release notes of the deploy"
    )
    before = database.read_now(search_memories, ADA, "deploy plan release", at=NOW)
    for number in range(40):
        database.run_now(
            remember, f"plan plan {number}", audience="person:ben", subject="ben", author_id="ben"
        )
    after = database.read_now(search_memories, ADA, "deploy plan release", at=NOW)
    assert [(item.id, item.score) for item in before] == [(item.id, item.score) for item in after]

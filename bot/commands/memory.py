"""`/memory show`, `search` and `source`: what is kept, and why."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from bot.commands.command import Argument, Caller, Command
from bot.commands.reach import reach
from bot.commands.wording import audience_words, listed, quoted
from bot.messages import CommandResult
from memory.audience import Viewer
from memory.database import now
from memory.history import changes_of
from memory.learning import is_paused, paused_marks
from memory.listing import as_row, as_rows, my_memory
from memory.memories import Memory, MemoryChange
from memory.people import Person
from memory.search import search_memories
from memory.writing import find, mark_used

SEARCHED = 20
ID = Argument("id", "Which memory: the id in its line")

_ORIGINS = {
    "explicit": "you or a teammate asked me to remember it",
    "manual": "it was written with a command",
    "pass": "I learnt it from what was said to me",
    "extraction": "I learnt it from an earlier conversation",
    "import": "it was imported",
}
_ACTIONS = {
    "added": "added",
    "replaced": "replaced an older memory",
    "superseded": "replaced by a newer memory",
    "corrected": "corrected",
    "archived": "archived",
    "confirmed": "said again",
    "restored": "restored",
    "removed": "taken back",
}


def show(session: Session, caller: Caller, arguments: dict[str, str]) -> CommandResult:
    """My memory: what is kept by and about the caller, or for the team."""
    viewer = reach(session, caller)
    scope = "team" if arguments.get("scope") == "team" else "mine"
    found = my_memory(session, viewer, caller.speaker, scope="team" if scope == "team" else "mine")
    rows = as_rows(session, found, viewer)
    what = "about you and from you" if scope == "mine" else "for the team"
    if not rows:
        return CommandResult(f"I remember nothing {what}.{_paused(session, caller)}")
    heading = f"What I remember {what} ({len(rows)}):"
    foot = "Why: `/memory source ID`. Put right: `edit`, `archive`, `forget`."
    text = "\n".join([heading, listed(rows, "`/memory search WORDS` finds them."), foot])
    return CommandResult(text + _paused(session, caller), rows=tuple(rows))


def search(session: Session, caller: Caller, arguments: dict[str, str]) -> CommandResult:
    """Looks for memories, archived ones too (they are marked)."""
    viewer = reach(session, caller)
    query = arguments["query"]
    at = now()
    results = search_memories(
        session,
        viewer,
        query,
        at=at,
        limit=SEARCHED,
        statuses=("active", "archived"),
        meaning=caller.meaning,
    )
    rows = as_rows(session, [one.row for one in results if isinstance(one.row, Memory)], viewer)
    if not rows:
        return CommandResult(
            f"I found nothing on {quoted(query[:80])}. That does not mean it was never said."
        )
    mark_used(session, [row["id"] for row in rows], at)
    more = "More words narrow it down."
    return CommandResult(f"On {quoted(query[:80])} I found:\n{listed(rows, more)}", rows=tuple(rows))


def source(session: Session, caller: Caller, arguments: dict[str, str]) -> CommandResult:
    """Where a memory comes from: words, person, day, link, and what became of it."""
    viewer = reach(session, caller)
    memory = find(session, viewer, arguments["id"])
    row = as_row(session, memory, viewer)
    steps = [*_older(session, memory, viewer), *_history(session, memory)]
    whom = audience_words(session, memory.audience, viewer)
    lines = [
        f"{quoted(memory.text)} `{memory.id}`",
        f"From {row['author']}, {memory.confirmed_at:%Y-%m-%d}; read by {whom}.",
        f"Why I know it: {_why(row)}",
        *([f"Link: {row['link']}"] if row["link"] else []),
        *(["Another memory disagrees; ask me which holds."] if row["conflict"] else []),
        *[_step_line(step) for step in steps],
    ]
    return CommandResult("\n".join(lines), rows=({**row, "history": steps},))


def _paused(session: Session, caller: Caller) -> str:
    person = caller.speaker.person_id
    if is_paused(session, person):
        return "\nLearning from you is paused; `/memory resume` turns it on."
    places = len(paused_marks(session, person))
    return f"\nLearning from you is paused in {places} of your conversations." if places else ""


def _why(row: dict[str, Any]) -> str:
    reason = _ORIGINS.get(row["origin"], row["origin"])
    if row["quote"]:
        return f"{reason}: {quoted(row['quote'])}"
    return f"{reason}. The words themselves are not readable here."


def _history(session: Session, memory: Memory) -> list[dict[str, Any]]:
    changes = changes_of(session, memory.id)
    names = _names(session, changes)
    return [
        {
            "at": change.created_at.isoformat(),
            "action": change.action,
            "by": names.get(change.actor_id or "", "teambot"),
            "was": (change.before or {}).get("text"),
            "undone": change.undone_at is not None,
        }
        for change in changes
    ]


def _older(session: Session, memory: Memory, viewer: Viewer) -> list[dict[str, Any]]:
    """The memories that this one replaced, oldest first, as far as they may be read."""
    steps: list[dict[str, Any]] = []
    ids, seen = [memory.id], {memory.id}
    while ids:
        rows = session.scalars(
            select(Memory)
            .where(viewer.may_recall(), Memory.superseded_by.in_(ids))
            .order_by(Memory.seq.desc())
        ).all()
        for row in rows:
            ended = (row.valid_until or row.confirmed_at).isoformat()
            steps.insert(0, {"at": ended, "action": "superseded", "by": "", "was": row.text, "undone": False})
        ids = [row.id for row in rows if row.id not in seen]
        seen.update(ids)
    return steps


def _names(session: Session, changes: Sequence[MemoryChange]) -> dict[str, str]:
    wanted = {change.actor_id for change in changes if change.actor_id}
    rows = session.execute(select(Person.id, Person.name).where(Person.id.in_(wanted)))
    return {row.id: row.name for row in rows}


def _step_line(step: dict[str, Any]) -> str:
    by = f" by {step['by']}" if step["by"] else ""
    was = f" (was {quoted(step['was'])})" if step["was"] else ""
    undone = ", undone" if step["undone"] else ""
    return f"• {step['at'][:10]} {_ACTIONS.get(step['action'], step['action'])}{by}{was}{undone}"


COMMANDS = (
    Command(
        "memory show",
        "Open My memory",
        show,
        (Argument("scope", "Yours or the team's", required=False, choices=("mine", "team")),),
    ),
    Command(
        "memory search",
        "Find something the bot remembers",
        search,
        (Argument("query", "Words to look for", rest=True),),
    ),
    Command("memory source", "Show where a fact came from", source, (ID,)),
)

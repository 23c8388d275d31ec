"""`/memory add`, `edit`, `archive` and `undo`: a person's own hand on what is kept."""

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from bot.commands.asking import asked, how, view
from bot.commands.command import Argument, Caller, Command
from bot.commands.memory import ID
from bot.commands.reach import reach
from bot.commands.sharing import ask_to_share_words
from bot.commands.team_writes import TeamWrite, Waiting, waits, write
from bot.commands.wording import audience_words, left_out, quoted
from bot.errors import NotAllowed, Unknown
from bot.messages import CommandResult
from memory.audience import TEAM, Audience, Viewer, of_person
from memory.history import change_key
from memory.ids import derive
from memory.listing import as_row
from memory.memories import TEAM_SUBJECT, Memory, MemoryChange
from memory.rights import may_change, may_supersede
from memory.undoing import PARTS, undo
from memory.writing import Draft, Written, add, archive, correct, find

UNDO = "Undo: `/memory undo`"


def add_fact(session: Session, caller: Caller, arguments: dict[str, str]) -> CommandResult:
    """Keeps what was typed: for the readers of the place, or for the caller alone."""
    who, text = caller.speaker, arguments["text"]
    audience = _audience(caller, arguments.get("share"))
    if audience == TEAM and caller.here.writes != TEAM:
        card = ask_to_share_words(session, caller, text)
        return CommandResult(f"This would be read by {card.readers}. {how(card)}", cards=(view(card),))
    key = fresh_key(session, "manual", caller.bot.id, who.person_id, audience, text)
    if audience == TEAM:
        done = write(session, asked(session, caller), TeamWrite(text), key=key)
        return CommandResult(waits(done)) if isinstance(done, Waiting) else saved(session, caller, done)
    own = audience == of_person(who.person_id)
    draft = Draft(
        team_id=who.team_id,
        bot_id=caller.bot.id,
        author=who,
        audience=audience,
        subject=who.person_id if own else TEAM_SUBJECT,
        layer="fact",
        kind="fact",
        text=text,
        origin="manual",
    )
    return saved(session, caller, add(session, draft, key=key))


def edit(session: Session, caller: Caller, arguments: dict[str, str]) -> CommandResult:
    """Corrects a memory; a teammate's fact is replaced instead, and kept as history."""
    viewer, who, text = reach(session, caller), caller.speaker, arguments["text"]
    memory = find(session, viewer, arguments["id"])
    replaces = not may_change(memory, who)
    if replaces and not (memory.audience != of_person(who.person_id) and may_supersede(memory, who)):
        raise NotAllowed("Only its author and the person it is about may correct it; nothing was changed.")
    key = fresh_key(session, "edit", memory.id, who.person_id, text)
    if memory.audience == TEAM:
        what = TeamWrite(
            text,
            memory.subject,
            memory.layer,
            memory.kind,
            memory.topic,
            memory.importance,
            memory_id=memory.id,
            replaces=replaces,
        )
        done = write(session, asked(session, caller), what, key=key)
        return CommandResult(waits(done)) if isinstance(done, Waiting) else saved(session, caller, done)
    if replaces:
        raise NotAllowed("Only its author and the person it is about may correct it; nothing was changed.")
    return saved(session, caller, correct(session, viewer, who, memory.id, text))


def put_away(session: Session, caller: Caller, arguments: dict[str, str]) -> CommandResult:
    """Takes a memory out of automatic recall."""
    viewer = reach(session, caller)
    memory = find(session, viewer, arguments["id"])
    done = archive(session, viewer, caller.speaker, memory.id)
    text = f"Archived: {quoted(memory.text)} I no longer bring it up; `/memory search` finds it. {UNDO}"
    return CommandResult(text, rows=(as_row(session, done.memory, viewer),), undo=done.change_id)


def take_back(session: Session, caller: Caller, arguments: dict[str, str]) -> CommandResult:
    """Undoes a change: the one named (by its own id or its memory's), or the caller's last."""
    viewer, who = reach(session, caller), caller.speaker
    wanted = arguments.get("id")
    if wanted is None:
        change_id = _newest(session, viewer, MemoryChange.actor_id == who.person_id)
    elif _newest(session, viewer, MemoryChange.id == wanted.casefold()) is not None:
        change_id = wanted
    else:
        change_id = _newest(session, viewer, MemoryChange.memory_id == find(session, viewer, wanted).id)
    if change_id is None:
        raise Unknown("There is nothing of yours to undo here.")
    done = undo(session, viewer, who, change_id)
    words = "Taken back, and no longer kept" if done.action == "removed" else "It is as it was before"
    return CommandResult(f"{words}: {quoted(done.memory.text)}")


def _newest(session: Session, viewer: Viewer, condition: ColumnElement[bool]) -> str | None:
    """The newest change under that condition that still stands, of what these readers may read."""
    return session.scalar(
        select(MemoryChange.id)
        .join(Memory, Memory.id == MemoryChange.memory_id)
        .where(
            viewer.may_read(MemoryChange),
            viewer.may_recall(),
            MemoryChange.undone_at.is_(None),
            MemoryChange.action.not_in(PARTS),
            condition,
        )
        .order_by(MemoryChange.seq.desc())
        .limit(1)
    )


def saved(session: Session, caller: Caller, done: Written) -> CommandResult:
    """What a write did, in words made from its result."""
    viewer = reach(session, caller)
    row = as_row(session, done.memory, viewer)
    whom = audience_words(session, done.memory.audience, viewer)
    verb = {"confirmed": "I knew that, and noted that it still holds", "corrected": "Corrected"}.get(
        done.action, "Replaced" if done.action == "replaced" else "Saved"
    )
    text = (
        f"{verb}, for {whom}: {quoted(done.memory.text)} `{done.memory.id}`{left_out(done.withheld)} {UNDO}"
    )
    return CommandResult(text, rows=(row,), undo=done.change_id)


def fresh_key(session: Session, *parts: str) -> tuple[str | int, ...]:
    """A key for something a person does by hand, and may do again after undoing it."""
    number = 0
    while _is_used(session, (*parts, number)):
        number += 1
    return (*parts, number)


def _is_used(session: Session, key: tuple[str | int, ...]) -> bool:
    change = select(MemoryChange.seq).where(MemoryChange.id == change_key(*key))
    memory = select(Memory.seq).where(Memory.id == derive(*key))
    return session.scalar(change) is not None or session.scalar(memory) is not None


def _audience(caller: Caller, share: str | None) -> Audience:
    own = of_person(caller.speaker.person_id)
    if share == "team":
        if caller.speaker.is_guest:
            raise NotAllowed("What guests say does not enter the team's memory; nothing was saved.")
        return TEAM
    if share == "me" or caller.speaker.is_guest or caller.place.kind == "dm":
        return own
    return caller.here.writes


COMMANDS = (
    Command(
        "memory add",
        "Teach the bot a fact",
        add_fact,
        (
            Argument("text", "The fact", rest=True),
            Argument(
                "share",
                "Who may use it (default: you in a direct message, else the readers of the channel)",
                required=False,
                choices=("me", "team"),
            ),
        ),
    ),
    Command(
        "memory edit",
        "Correct a fact you added or that is about you",
        edit,
        (ID, Argument("text", "The right words", rest=True)),
    ),
    Command("memory archive", "Put a fact out of recall, findable by search", put_away, (ID,)),
    Command(
        "memory undo",
        "Take back the last change, or the one named",
        take_back,
        (Argument("id", "A change's or a memory's id", required=False),),
    ),
)

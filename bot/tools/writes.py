"""What `memory_write` does, one function for each action."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from bot.commands.asking import Asked, how
from bot.commands.profile import offer
from bot.commands.sharing import ask_to_share
from bot.commands.team_writes import TeamWrite, Waiting, draft_of, waits, write
from bot.commands.wording import audience_words
from bot.tools.asking_message import Asking
from bot.tools.tool import ToolCall
from memory.audience import TEAM, Viewer, of_person
from memory.conversations import Conversation
from memory.database import now
from memory.drafts import kept_text
from memory.drawing import drawn_from
from memory.errors import NotFound, Refused
from memory.learning import pause, resume
from memory.memories import TEAM_SUBJECT, Memory
from memory.people import Speaker
from memory.ranking import alive
from memory.rights import may_change
from memory.text import fold, tokens
from memory.writing import Source, Written, add, archive, correct, find, supersede

if TYPE_CHECKING:
    from bot.tools.memory_write import Arguments


class NotWritten(Refused):
    """Nothing was saved, for a reason that has a code."""

    def __init__(self, code: str, say: str) -> None:
        super().__init__(say)
        self.code = code


@dataclass(frozen=True)
class Writing:
    """One authorised call: who asks, who reads, and the words it rests on."""

    session: Session
    call: ToolCall
    viewer: Viewer
    asker: Speaker
    said: Asking
    source: Source

    @property
    def key(self) -> tuple[str | int, ...]:
        """The same call writes once, also when it runs again after a crash."""
        return ("memory_write", self.call.turn_id, self.call.call_id)

    @property
    def alone(self) -> bool:
        """Whether the asker alone reads this conversation."""
        return self.viewer.writes == of_person(self.asker.person_id)

    def asked(self) -> Asked:
        """The asker, shown a card with the reply."""
        call = self.call
        return Asked(self.asker, self.viewer, call.bot_id, call.place_id, call.turn_id)


def create(writing: Writing, arguments: "Arguments") -> dict[str, Any]:
    """Keeps something new; what settled the same topic before becomes history."""
    _check_words(writing, arguments, "")
    if arguments.private and not writing.alone:
        raise NotWritten(
            "not_private_here",
            "Nothing was saved: others read this place. In a direct message it stays with the asker, or with "
            "`/memory add TEXT share me`.",
        )
    if arguments.kind == "rule" and not writing.alone:
        return _rule_for_everybody(writing, arguments.text)
    older = _same_topic(writing, arguments)
    what = TeamWrite(
        arguments.text,
        subject=_subject(writing, arguments),
        layer="note" if arguments.note_minutes else "fact",
        kind=arguments.kind,
        topic=arguments.topic,
        importance=arguments.importance,
        origin="explicit",
        memory_id=older.id if older else None,
        replaces=older is not None,
        minutes=arguments.note_minutes,
    )
    return _told(writing, _write(writing, what), older)


def append(writing: Writing, arguments: "Arguments") -> dict[str, Any]:
    """Adds words to a memory."""
    memory = _named(writing, arguments)
    added = arguments.text.strip()
    if fold(added) in fold(memory.text):
        return _told(writing, Written(memory, "", "confirmed"), None)
    joint = "" if memory.text.rstrip().endswith((".", "!", "?", "。", "…")) else "."
    return _renew(writing, arguments, memory, f"{memory.text.rstrip()}{joint} {added}")


def correct_memory(writing: Writing, arguments: "Arguments") -> dict[str, Any]:
    """Gives a memory new words."""
    return _renew(writing, arguments, _named(writing, arguments), arguments.text)


def put_away(writing: Writing, arguments: "Arguments") -> dict[str, Any]:
    """Takes a memory out of automatic recall."""
    memory = find(writing.session, writing.viewer, _id(arguments))
    done = archive(writing.session, writing.viewer, writing.asker, memory.id, turn_id=writing.call.turn_id)
    return {"archived": {"id": memory.id, "text": memory.text}, "undo": done.change_id}


def propose_sharing(writing: Writing, arguments: "Arguments") -> dict[str, Any]:
    """Shows the asker a card; only their press shares anything."""
    memory = find(writing.session, writing.viewer, _id(arguments))
    card = ask_to_share(writing.session, writing.asked(), memory)
    return {
        "card": card.id,
        "text": card.text,
        "readers": card.readers,
        "say": f"Nothing is shared yet. {how(card)}",
    }


def pause_learning(writing: Writing, arguments: "Arguments") -> dict[str, Any]:
    """Keeps this message, this conversation or everything from now on out of what is learnt."""
    if arguments.extent == "message":
        for entry in writing.said.entries:
            entry.learnable = False
        return {"paused": "this message", "say": "I learn nothing from this message."}
    thread = arguments.extent == "thread"
    pause(writing.session, writing.asker.person_id, _conversation_key(writing) if thread else None)
    where = "in this conversation" if thread else "anywhere"
    say = f"I learn nothing from you {where} any more; `/memory resume` turns it on."
    return {"paused": where, "say": say}


def resume_learning(writing: Writing, arguments: "Arguments") -> dict[str, Any]:
    """Learns from the asker again."""
    thread = arguments.extent == "thread"
    resume(writing.session, writing.asker.person_id, _conversation_key(writing) if thread else None)
    return {"resumed": True, "say": "I learn from you again; `/memory pause` stops it."}


ACTIONS: dict[str, Callable[[Writing, "Arguments"], dict[str, Any]]] = {
    "create": create,
    "append": append,
    "correct": correct_memory,
    "archive": put_away,
    "share": propose_sharing,
    "pause": pause_learning,
    "resume": resume_learning,
}


def _renew(writing: Writing, arguments: "Arguments", memory: Memory, text: str) -> dict[str, Any]:
    """New words for a memory: a successor that rests on this message, or a correction of another bot's."""
    _check_words(writing, arguments, memory.text)
    session, asker = writing.session, writing.asker
    if memory.bot_id != writing.call.bot_id or memory.kind == "private":
        done = correct(session, writing.viewer, asker, memory.id, text, turn_id=writing.call.turn_id)
        return _told(writing, done, None)
    what = TeamWrite(
        text,
        memory.subject,
        memory.layer,
        memory.kind,
        memory.topic,
        memory.importance,
        origin="explicit",
        memory_id=memory.id,
        replaces=True,
    )
    return _told(writing, _write(writing, what), memory)


def _write(writing: Writing, what: TeamWrite) -> Written | Waiting:
    """Into the audience of this conversation, never a wider one."""
    session, who, viewer = writing.session, writing.asker, writing.viewer
    if viewer.writes == TEAM:
        return write(session, writing.asked(), what, key=writing.key, source=writing.source)
    draft = replace(
        draft_of(what, who, writing.call.bot_id, viewer.writes, writing.source),
        drawn_from=_drawn_from(writing, what),
    )
    if what.memory_id is None:
        return add(session, draft, key=writing.key)
    return supersede(session, viewer, who, what.memory_id, draft, key=writing.key)


def _drawn_from(writing: Writing, what: TeamWrite) -> str | None:
    """The audience of what the model may have put in besides the asker's words."""
    said = "\n".join(entry.text for entry in writing.said.entries)
    allowed = writing.asker.name
    if what.memory_id is not None:
        before = find(writing.session, writing.viewer, what.memory_id)
        if before.drawn_from is not None:
            return before.drawn_from
        allowed = f"{allowed} {before.text} {before.topic}"
    words = f"{what.text} {what.topic}"
    return drawn_from(writing.viewer.writes, writing.viewer.audiences, words, said, allowed)


def _told(writing: Writing, done: Written | Waiting, older: Memory | None) -> dict[str, Any]:
    if isinstance(done, Waiting):
        return {"waits_for_an_admin": list(done.admins), "say": waits(done)}
    memory = done.memory
    whom = audience_words(writing.session, memory.audience, writing.viewer)
    value: dict[str, Any] = {
        "saved": {"id": memory.id, "text": memory.text, "audience_words": whom},
        "undo": done.change_id or None,
        "withheld": list(done.withheld),
    }
    if done.action == "confirmed":
        value["already_known"] = True
    if older is not None and older.id != memory.id:
        value["replaced"] = {"id": older.id, "text": older.text}
    if memory.audience == of_person(writing.asker.person_id) and memory.subject == TEAM_SUBJECT:
        value["hint"] = f"Only the asker reads this. `/memory share {memory.id}` gives it to the team."
    return value


def _check_words(writing: Writing, arguments: "Arguments", known: str) -> None:
    """Refuses words that the asker did not say; those of the memory itself (`known`) may stay."""
    if not tokens(arguments.text):
        raise NotWritten("no_text", "Nothing was saved: there are no words to keep.")
    kept_text(arguments.text)
    if not writing.said.supports(arguments.text, f"{writing.asker.name} {known}"):
        raise NotWritten(
            "not_supported",
            "Nothing was saved: the text says what the asker did not say in this message. Use their own "
            "words; what comes from files, results or earlier talk they must say themselves.",
        )


def _rule_for_everybody(writing: Writing, rule: str) -> dict[str, Any]:
    """No memory: what is left is an offer to the admins."""
    cards = offer(writing.session, writing.asked(), rule, writing.source.entry_id, writing.key)
    if not cards:
        say = "Only admins can make one, in my profile. In a direct message a rule holds for its author."
    elif writing.asker.is_admin:
        say = f"It belongs in my profile. {how(cards[0])}"
    else:
        say = "It belongs in my profile; the admins find it with `/confirm`."
    return {
        "refused": "rule_for_everybody",
        "say": f"Nothing was saved as memory: this would be a rule for everybody. {say}",
        "cards": [card.id for card in cards if card.person_id == writing.asker.person_id],
    }


def _same_topic(writing: Writing, arguments: "Arguments") -> Memory | None:
    """The memory of this bot and these readers that settled the same topic until now."""
    topic = " ".join(fold(arguments.topic).split())
    if not topic or arguments.note_minutes:
        return None
    return writing.session.scalar(
        select(Memory)
        .where(
            writing.viewer.may_recall(),
            alive(now()),
            Memory.audience == writing.viewer.writes,
            Memory.bot_id == writing.call.bot_id,
            Memory.subject == _subject(writing, arguments),
            Memory.layer == "fact",
            Memory.kind.not_in(("rule", "private")),
            Memory.topic == topic,
        )
        .order_by(Memory.confirmed_at.desc(), Memory.id)
        .limit(1)
    )


def _subject(writing: Writing, arguments: "Arguments") -> str:
    return writing.asker.person_id if arguments.about == "me" else TEAM_SUBJECT


def _named(writing: Writing, arguments: "Arguments") -> Memory:
    """The memory that is to be changed: of this conversation's readers, so that no words get more of them."""
    memory = find(writing.session, writing.viewer, _id(arguments))
    if memory.audience != writing.viewer.writes:
        whom = audience_words(writing.session, memory.audience, writing.viewer)
        raise NotWritten(
            "other_readers",
            f"Nothing was changed: that memory is read by {whom}, and other people read this conversation. "
            f"`/memory edit {memory.id} TEXT` changes it for them.",
        )
    if memory.kind == "rule" and not may_change(memory, writing.asker):
        raise NotFound("There is no memory with that id.")
    return memory


def _id(arguments: "Arguments") -> str:
    if not arguments.id:
        raise NotWritten("no_id", "Nothing was changed: `id` is missing. Search memory for it first.")
    return arguments.id


def _conversation_key(writing: Writing) -> str:
    return writing.session.get_one(Conversation, writing.call.conversation_id).key

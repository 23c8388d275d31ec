"""`/memory pause`, `resume` and `policy`: whether and from whom is learnt at all."""

from sqlalchemy.orm import Session

from bot.commands.command import Argument, Caller, Command
from bot.commands.rights import require_admin
from bot.errors import BadInput
from bot.messages import CommandResult
from memory.learning import is_paused, pause, resume
from memory.people import Team

POLICIES = {
    "who_writes": ("anyone", "approve", "admins"),
    "guests_read_team": ("no", "yes"),
}
"""What admins may set, and the values; the first is the default."""

_KEYS = {"who_writes": "who_writes_team_memory", "guests_read_team": "guests_read_team"}
_SAID = {
    ("who_writes", "anyone"): "Every member writes the team's memory.",
    ("who_writes", "approve"): "What members want the team's memory to hold, an admin approves on a card.",
    ("who_writes", "admins"): "Only admins write the team's memory.",
    ("guests_read_team", "no"): "Where guests read along, I know only what was said in that place.",
    ("guests_read_team", "yes"): "Guests in channels count as readers of the team's memory.",
}
_RULES = "Rules for everybody stand in my profile, which admins edit."


def stop_learning(session: Session, caller: Caller, arguments: dict[str, str]) -> CommandResult:
    """Stops learning from the caller's messages."""
    extent = arguments.get("where", "everywhere")
    pause(session, caller.speaker.person_id, _mark(caller, extent))
    kept = "What I know already stays; `/memory show` lists it. `/note` and `/memory add` still work."
    back = "/memory resume" + ("" if extent == "everywhere" else f" {extent}")
    return CommandResult(f"I learn nothing from you {_where(caller, extent)} any more. {kept} Undo: `{back}`")


def learn_again(session: Session, caller: Caller, arguments: dict[str, str]) -> CommandResult:
    """Learns from the caller's messages again."""
    extent = arguments.get("where", "everywhere")
    changed = resume(session, caller.speaker.person_id, _mark(caller, extent))
    if is_paused(session, caller.speaker.person_id):
        return CommandResult("Learning from you is paused everywhere; `/memory resume` turns it on.")
    where = "everywhere" if extent == "everywhere" else _where(caller, extent)
    if not changed:
        return CommandResult(f"Learning from you was not paused; I learn from you {where}.")
    return CommandResult(f"I learn from you again {where}. Undo: `/memory pause {extent}`")


def policy(session: Session, caller: Caller, arguments: dict[str, str]) -> CommandResult:
    """Shows the team's memory policy; admins set it."""
    team = session.get_one(Team, caller.speaker.team_id)
    name, value = arguments.get("setting"), arguments.get("value", "").casefold() or None
    if name is not None and value is not None:
        require_admin(caller, "set the memory policy")
        if value not in POLICIES[name]:
            raise BadInput(f"{name} is one of: {', '.join(POLICIES[name])}. Nothing was changed.")
        stored: object = value == "yes" if name == "guests_read_team" else value
        team.settings = {**team.settings, _KEYS[name]: stored}
    names = [name] if name is not None else list(POLICIES)
    values = {one: _value(team, one) for one in names}
    rows = tuple({"setting": one, "value": values[one], "choices": list(POLICIES[one])} for one in names)
    lines = [f"{_SAID[one, now]} (`{one} {now}`)" for one, now in values.items()]
    how = "Set: `/memory policy SETTING VALUE`." if caller.speaker.is_admin else "Admins set it."
    return CommandResult("\n".join([*lines, _RULES, how]), rows=rows)


def _value(team: Team, name: str) -> str:
    stored = team.settings.get(_KEYS[name], POLICIES[name][0])
    if isinstance(stored, bool):
        return "yes" if stored else "no"
    return stored if stored in POLICIES[name] else POLICIES[name][0]


def _mark(caller: Caller, extent: str) -> str | None:
    if extent == "everywhere":
        return None
    if caller.place.kind == "dm":
        return f"dm:{caller.speaker.person_id}"
    if extent == "here":
        return caller.place.id
    if caller.thread is None:
        raise BadInput("This is not a thread. Use `here` for the whole channel, or `everywhere`.")
    return f"place:{caller.place.id}:{caller.thread}"


def _where(caller: Caller, extent: str) -> str:
    if extent == "everywhere":
        return "anywhere"
    if caller.place.kind == "dm":
        return "in our direct messages"
    name = caller.place.name.removeprefix("#")
    return "in this thread" if extent == "thread" else f"in #{name}"


_EXTENT = Argument(
    "where",
    "Here, in this thread, or everywhere (the default)",
    required=False,
    choices=("here", "thread", "everywhere"),
)

COMMANDS = (
    Command("memory pause", "Stop learning from my messages", stop_learning, (_EXTENT,)),
    Command("memory resume", "Learn from my messages again", learn_again, (_EXTENT,)),
    Command(
        "memory policy",
        "Show the team's memory policy (admins set it)",
        policy,
        (
            Argument("setting", "Which setting", required=False, choices=tuple(POLICIES)),
            Argument("value", "Its new value", required=False),
        ),
    ),
)

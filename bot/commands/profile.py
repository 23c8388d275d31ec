"""Standing rules for everybody: offered to admins as an edit of the bot's profile, never kept as memory."""

from sqlalchemy.orm import Session

from bot.commands.actions import on_press
from bot.commands.asking import Asked, ask
from bot.commands.command import Caller
from bot.commands.rights import require_admin
from bot.commands.team_writes import admins
from bot.commands.wording import quoted
from bot.messages import CommandResult
from memory.audience import TEAM, person_viewer
from memory.bots import Bot
from memory.cards import Card
from memory.errors import Refused
from memory.secrets import withhold

ACTION = "profile"
READERS = "everybody who talks with this bot (it becomes part of its profile)"
MOST_INSTRUCTIONS = 20_000


def offer(
    session: Session, asked: Asked, rule: str, entry_id: str | None, key: tuple[str | int, ...]
) -> list[Card]:
    """Cards that add a rule to the bot's profile: for the asker if an admin, else for the team's admins.

    What fewer than the team have read is shown to no other admin. `entry_id` is the message it was said in.
    """
    if asked.who.is_admin:
        people = [asked]
    elif asked.viewer.writes == TEAM:
        people = [
            Asked(admin, person_viewer(session, asked.bot_id, admin), asked.bot_id, asked.place_id)
            for admin in admins(session, asked.who.team_id)
        ]
    else:
        people = []
    words = withhold(rule).text
    payload = {"text": words, "account_id": asked.who.account_id, "entry_id": entry_id}
    return [
        ask(
            session,
            one,
            ACTION,
            payload,
            text=f"{asked.who.name} wants this bot to follow, with everybody: {words}",
            readers=READERS,
            key=(ACTION, *key, one.who.person_id),
        )
        for one in people
    ]


@on_press(ACTION)
def added(session: Session, caller: Caller, card: Card) -> CommandResult:
    """An admin puts a rule into the bot's profile."""
    require_admin(caller, "edit a bot's profile")
    bot = session.get_one(Bot, card.bot_id or caller.bot.id, with_for_update={"key_share": True})
    instructions = f"{bot.instructions.rstrip()}\n{card.payload['text']}".strip()
    if len(instructions) > MOST_INSTRUCTIONS:
        raise Refused("The bot's profile has no room for more instructions; nothing was changed.")
    bot.instructions = instructions
    bot.version += 1
    return CommandResult(f"From now on {bot.name} follows, with everybody: {quoted(card.payload['text'])}")

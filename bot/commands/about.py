"""`/about`: what the bot does, what it keeps, and how to see, pause and erase it."""

from sqlalchemy.orm import Session

from bot.commands.command import Argument, Caller, Command
from bot.messages import CommandResult

START = """\
I am {bot}, a teammate who remembers.
Ask me something, tell me to remember something, or ask what I know about you and why.
What is said in public channels I know for the whole team; what you tell me in a direct message stays with \
you."""

MEMORY = """\
What I learn: stable facts, decisions and preferences from messages that are meant for me, in their author's \
own words; nothing from talk that I only overhear, from quotes or from files.
Who reads it: what was said in a public channel, the team; in a private channel, its members; in a direct \
message, that person. It gets more readers only when the person whose words it is confirms the exact words.
See it: `/memory show`, `/memory search WORDS`; why I know it: `/memory source ID`.
Put it right: `/memory edit ID TEXT`, `/memory archive ID`, `/memory undo`."""

PRIVACY = """\
Stop me from learning from you: `/memory pause` (everywhere, `here` or in this `thread`); go on: \
`/memory resume`.
Make me forget one thing for good: `/memory forget ID`; everything of yours: `/memory erase`; a copy first: \
`/memory export`.
Private notes (`/note add TEXT`) are yours alone: admins cannot read them.
I do not keep passwords and keys: the value is left out, and you are told.
Delete a message, and I forget what I learnt only from it."""

ADMIN = """\
Admins decide who writes for the whole team: `/memory policy`.
They manage team memory, and can never read anybody's private memory or notes."""

TOPICS = {"start": START, "memory": MEMORY, "privacy": PRIVACY, "admin": ADMIN}


def run(session: Session, caller: Caller, arguments: dict[str, str]) -> CommandResult:
    """Answers in words that need no reading beforehand."""
    topic = arguments.get("topic")
    texts = (TOPICS[topic],) if topic else (START, MEMORY, PRIVACY)
    text = "\n\n".join(texts).format(bot=caller.bot.name)
    return CommandResult(text if topic else f"{text}\n\n`/help` lists the commands.")


ABOUT = Command(
    "about",
    "What I do, what I keep, and how to see, pause and erase it",
    run,
    (Argument("topic", "What about", required=False, choices=tuple(TOPICS)),),
)

COMMANDS = (ABOUT,)

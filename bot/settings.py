"""Settings: the only reader of the environment. `.env` is read, never written."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dotenv import dotenv_values

from bot.errors import BadInput

TALK_MODEL = "claude-sonnet-5-5"
MEMORY_MODEL = "claude-haiku-5-5"
OFFLINE = "offline"


@dataclass(frozen=True)
class Settings:
    """Everything that can be set; each field is an environment variable, explained in `.env.example`."""

    home: Path
    database_url: str
    anthropic_api_key: str = ""
    anthropic_base_url: str = ""
    model: str = TALK_MODEL
    memory_model: str = MEMORY_MODEL
    daily_cap: float = 20.0
    journal: str = "database"
    slack_bot_token: str = ""
    slack_app_token: str = ""
    slack_signing_secret: str = ""
    slack_client_id: str = ""
    slack_client_secret: str = ""
    slack_workspaces: tuple[str, ...] = ()
    slack_port: int = 8585
    slack_other_bots: bool = False
    secret: str = field(default="", repr=False)
    discord_token: str = ""
    web_fetch: bool = False
    log_level: str = "WARNING"

    @property
    def has_model(self) -> bool:
        """Whether a real model is configured."""
        return bool(self.anthropic_api_key or self.anthropic_base_url)

    @property
    def has_platform(self) -> bool:
        """Whether Slack or Discord is configured."""
        return bool(
            self.slack_bot_token or self.slack_app_token or self.slack_client_id or self.discord_token
        )


def load(environment: Mapping[str, str] | None = None, env_file: Path | None = None) -> Settings:
    """Settings from the environment, completed by `.env` in this folder; empty values count as unset."""
    given = dict(os.environ if environment is None else environment)
    file = dotenv_values(env_file or Path(".env"), interpolate=False)
    values = {key: value for key, value in file.items() if value}
    values.update({key: value for key, value in given.items() if value})

    def text(name: str, default: str = "") -> str:
        return str(values.get(name) or default).strip()

    home = Path(text("TEAMBOT_HOME", ".teambot")).expanduser().absolute()
    return Settings(
        home=home,
        database_url=_database_url(text("DATABASE_URL"), home),
        anthropic_api_key=text("ANTHROPIC_API_KEY"),
        anthropic_base_url=text("ANTHROPIC_BASE_URL"),
        model=text("TEAMBOT_MODEL", TALK_MODEL),
        memory_model=text("TEAMBOT_MEMORY_MODEL", MEMORY_MODEL),
        daily_cap=_money(text("TEAMBOT_DAILY_CAP", "20")),
        journal=text("TEAMBOT_JOURNAL", "database"),
        slack_bot_token=text("SLACK_BOT_TOKEN"),
        slack_app_token=text("SLACK_APP_TOKEN"),
        slack_signing_secret=text("SLACK_SIGNING_SECRET"),
        slack_client_id=text("SLACK_CLIENT_ID"),
        slack_client_secret=text("SLACK_CLIENT_SECRET"),
        slack_workspaces=tuple(text("SLACK_WORKSPACES").replace(",", " ").split()),
        slack_port=_port(text("SLACK_PORT", "8585")),
        slack_other_bots=text("SLACK_OTHER_BOTS") in ("1", "true", "yes", "on"),
        secret=text("TEAMBOT_SECRET"),
        discord_token=text("DISCORD_TOKEN"),
        web_fetch=text("TEAMBOT_WEB_FETCH") in ("1", "true", "yes", "on"),
        log_level=text("TEAMBOT_LOG_LEVEL", "WARNING").upper(),
    )


def _database_url(url: str, home: Path) -> str:
    if not url:
        return f"sqlite:///{home / 'teambot.db'}"
    for short in ("postgres://", "postgresql://"):
        if url.startswith(short):
            return "postgresql+psycopg://" + url.removeprefix(short)
    if not url.startswith(("sqlite:///", "postgresql+psycopg://")):
        raise BadInput("DATABASE_URL must start with postgresql:// or sqlite:///.")
    return url


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 <= int(text) < 65_536:
        raise BadInput("SLACK_PORT must be a port number.")
    return int(text)


def _money(text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        raise BadInput("TEAMBOT_DAILY_CAP must be a number of US dollars.") from None
    if not 0 < amount < 1_000_000:
        raise BadInput("TEAMBOT_DAILY_CAP must be more than 0 US dollars.")
    return amount

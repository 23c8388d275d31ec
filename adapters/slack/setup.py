"""How Slack is set up here: tokens, and where it is reached."""

from dataclasses import dataclass, field

from adapters.slack.socket import Patience
from bot.errors import BadInput
from bot.settings import Settings


@dataclass(frozen=True)
class Setup:
    """Socket Mode with an app token, else HTTP with a signing secret; `base_url` is a Slack of tests."""

    bot_token: str = field(default="", repr=False)
    app_token: str = field(default="", repr=False)
    signing_secret: str = field(default="", repr=False)
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    admitted: tuple[str, ...] = ()
    secret: str = field(default="", repr=False)
    port: int = 8585
    other_bots: bool = False
    base_url: str | None = None
    patience: Patience = field(default_factory=Patience)
    ping: float = 10.0

    def __post_init__(self) -> None:
        if not self.app_token and not self.signing_secret:
            raise BadInput(
                "Slack needs SLACK_APP_TOKEN (Socket Mode) or SLACK_SIGNING_SECRET (HTTP); see docs/slack.md."
            )


def setup_of(settings: Settings) -> Setup:
    """What the environment says."""
    return Setup(
        bot_token=settings.slack_bot_token,
        app_token=settings.slack_app_token,
        signing_secret=settings.slack_signing_secret,
        client_id=settings.slack_client_id,
        client_secret=settings.slack_client_secret,
        admitted=settings.slack_workspaces,
        secret=settings.secret,
        port=settings.slack_port,
        other_bots=settings.slack_other_bots,
    )

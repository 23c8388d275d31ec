"""What is said to people when something fails: each docstring is the sentence."""


class BotError(Exception):
    """Something went wrong; nothing was saved."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or " ".join((type(self).__doc__ or "").partition("\n\n")[0].split()))

    @property
    def code(self) -> str:
        """A word for logs and records, without anybody's words."""
        return type(self).__name__


class BadInput(BotError):
    """That could not be understood; nothing was saved."""


class Unknown(BotError):
    """There is no such thing here."""


class NotAllowed(BotError):
    """You may not do that; nothing was changed."""


class NotAdmitted(BotError):
    """This workspace is not admitted by the person who runs teambot."""


class ModelError(BotError):
    """The model did not answer. Your message is kept; nothing else was saved. Please try again."""

    retryable = False
    detail = ""
    """Codes for the log, without anybody's words: status, error type, request id."""


class ModelOverloaded(ModelError):
    """The model is overloaded at the moment. Your message is kept; please try again in a minute."""

    retryable = True


class ModelTimeout(ModelError):
    """The model did not answer in time. Your message is kept; please try again."""


class ModelBroken(ModelError):
    """The model's answer broke off. Your message is kept; please try again."""

    retryable = True


class ModelUnreachable(ModelError):
    """The model's server cannot be reached. Your message is kept;
    whoever runs teambot must check ANTHROPIC_BASE_URL."""


class ModelUnknown(ModelError):
    """The model's server does not know this model. Your message is kept;
    whoever runs teambot must check TEAMBOT_MODEL."""


class ModelKeyRefused(ModelError):
    """The model's server refused the API key. Your message is kept;
    whoever runs teambot must check ANTHROPIC_API_KEY."""


class ModelSpendLimit(ModelError):
    """The account at the model's provider has reached its spending limit. Your message is kept;
    its owner must raise it."""


class ModelRejected(ModelError):
    """The model's server did not accept the request. Your message is kept;
    whoever runs teambot finds the reason in the log."""


class ModelContextFull(ModelError):
    """This conversation has become too long for the model. Your message is kept."""


class CapReached(ModelError):
    """The spending cap for today is reached. Your message is kept; an admin can raise the cap."""

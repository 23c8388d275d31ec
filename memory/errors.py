"""What can go wrong with the store, in sentences that people can be shown."""


class StoreError(Exception):
    """The database did not do what was asked; nothing of it was saved."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").split("\n")[0])


class StoreBusy(StoreError):
    """The database stayed locked by another program for too long; nothing was saved, please try again."""


class StoreContended(StoreBusy):
    """Too many changes met each other in the database; nothing was saved, please try again."""


class StoreReadOnly(StoreError):
    """The database can only be read (check its file permissions or disk); nothing was saved."""


class StoreFull(StoreError):
    """The disk of the database is full; nothing was saved. Free some space and try again."""


class StoreUnreachable(StoreError):
    """The database cannot be reached or opened; nothing was saved. Check DATABASE_URL and its server."""


class StoreNewer(StoreError):
    """The database is of a newer teambot; nothing was changed. Update teambot, or use another database."""


class StoreOutdated(StoreError):
    """The database is older than this teambot: run `teambot migrate` first. Nothing was changed."""


class NotFound(StoreError):
    """There is no such thing here."""


class Refused(StoreError):
    """That is not allowed; nothing was changed."""


class Stale(Refused):
    """Somebody changed this meanwhile; nothing was changed. Please look at it again."""

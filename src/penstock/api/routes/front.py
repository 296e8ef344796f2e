"""What is said at `/`, until there are pages."""

from __future__ import annotations

from msgspec import Struct

from penstock import __version__
from penstock.api.ask import Ask
from penstock.api.call import Calls

calls = Calls("operations")


class Front(Struct):
    """Where things are."""

    penstock: str
    description: str = "/openapi.json"
    pages: str = "/app/ is where the pages will be; use the command line or the API meanwhile"


@calls.get("/", "public", gives=Front)
async def front(ask: Ask[None, None]) -> Front:
    """Where things are."""
    return Front(__version__)

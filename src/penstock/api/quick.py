"""What every request pays for, made cheap: looking up headers, and writing an answer."""

from __future__ import annotations

from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Receive, Scope, Send


class Heads(Headers):
    """Headers of a request, found by name without looking through all of them; of several the first counts."""

    def __init__(self, raw: list[tuple[bytes, bytes]]) -> None:
        super().__init__(raw=raw)
        self._first = {name: value.decode("latin-1") for name, value in reversed(raw)}

    def __getitem__(self, key: str) -> str:
        return self._first[key.lower().encode("latin-1")]

    def get(self, key: str, default: Any = None) -> Any:
        return self._first.get(key.lower().encode("latin-1"), default)


class Asked(Request):
    """A request whose headers are found quickly."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        super().__init__(scope, receive)
        self._headers = Heads(scope["headers"])


class Ready:
    """An answer that is written in one go."""

    __slots__ = ("_body", "_heads", "status_code")

    def __init__(self, body: bytes, status: int, heads: list[tuple[bytes, bytes]]) -> None:
        self._body, self.status_code, self._heads = body, status, heads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self._heads})
        await send({"type": "http.response.body", "body": self._body})

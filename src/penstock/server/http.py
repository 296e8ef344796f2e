"""An application on a socket, in the running loop: bound before it is announced, drained at the end."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import uvicorn

from penstock.api.app import App
from penstock.flow.errors import PenstockError
from penstock.server.protocol import LimitedHttpProtocol

DRAIN = 10
"""Seconds that requests under way have when the server stops."""
IDLE = 75
"""Seconds after which a connection on which nothing is asked is closed."""


class PortTaken(PenstockError):
    """The address cannot be bound."""

    code = "port_taken"

    def __init__(self, host: str, port: int, why: str) -> None:
        super().__init__(
            f"{host}:{port} cannot be used ({why}): choose another --port, or stop what is there"
        )


class _Server(uvicorn.Server):
    """Signals are the command's business, not uvicorn's."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serving(app: Any, host: str, port: int) -> AsyncIterator[str]:
    """Serve while the block runs; the base address, with the port that was found where `port` is 0."""
    async with serving_on(app, bind(host, port)) as base:
        yield base


@asynccontextmanager
async def serving_on(app: Any, listener: socket.socket, proxies: Sequence[str] = ()) -> AsyncIterator[str]:
    """Serve on a socket that is bound while the block runs; the base address.

    `proxies` are addresses and networks whose X-Forwarded-For and -Proto count; of anybody else they do not.
    """
    config = uvicorn.Config(
        app,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        http=LimitedHttpProtocol,
        ws="none",
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        timeout_keep_alive=IDLE,
        timeout_graceful_shutdown=DRAIN,
    )
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started and not task.done():
            await asyncio.sleep(0.005)
        yield address(listener)
    finally:
        if isinstance(app, App):
            app.stop()
        server.should_exit = True
        await task


def bind(host: str, port: int) -> socket.socket:
    """A listening socket. Raises PortTaken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Else every answer on a kept connection waits forty milliseconds for the other side to confirm its head.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise PortTaken(host, port, error.strerror or str(error)) from None
    listener.listen(1024)
    listener.setblocking(False)
    return listener


def address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

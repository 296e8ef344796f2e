"""A worker of its own kind on the token interface: Pinball's master, as `/api/tokens` has it, and a client of it.

    python token_worker.py --put RUN amounts.json        # a token for each record in the file
    python token_worker.py --prefix /custom/pinball/     # claims them, and hands each to its run

A token under `/custom/` has a name, a version, an owner, a time until which it is owned, a priority and data. A worker
claims tokens that nobody owns, does its work, and deletes them. A worker that dies loses its claim when the time is
over, and another one does the work: here an event is fired with the token's name as its id, so that it counts once.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import uuid
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

PREFIX = "/custom/pinball/"
LEASE = 10
"""Seconds that a claim lasts: more than a record takes."""


class Master:
    """Insert, update, delete, claim and get, as Pinball's workers know them."""

    def __init__(self, server: str, token: str | None = None) -> None:
        self._server, self._token = server.rstrip("/"), token

    def insert(self, *tokens: dict[str, Any]) -> list[dict[str, Any]]:
        """Put tokens that are not there yet: `{name, data, priority}`, all or none."""
        return self._change(insert=tokens)

    def update(self, *tokens: dict[str, Any]) -> list[dict[str, Any]]:
        """Change tokens that have the versions they were read with, all or none. To disable one, own it for long."""
        return self._change(update=tokens)

    def delete(self, *tokens: dict[str, Any]) -> None:
        """Remove tokens that have the versions they were read with, all or none."""
        self._change(delete=[{"name": each["name"], "version": each["version"]} for each in tokens])

    def claim(self, owner: str, prefix: str, limit: int = 1) -> list[dict[str, Any]]:
        """Own tokens that nobody owns, those of the highest priority first."""
        return self._change(claim={"owner": owner, "prefix": prefix, "lease": LEASE, "limit": limit})

    def get(self, prefix: str) -> list[dict[str, Any]]:
        """The first hundred tokens whose names begin so."""
        found: list[dict[str, Any]] = self.call("GET", f"/api/tokens?prefix={prefix}&limit=100")["items"]
        return found

    def fire(self, run: str, event: str, data: Any, id: str) -> bool:
        """Fire an event into a run, once however often it is asked; False: the run has ended, or is not there."""
        try:
            told = self.call("POST", f"/api/runs/{run}/events", {"event": event, "data": data, "id": id})
        except HTTPError as error:
            if error.code == 404:
                return False
            raise
        return bool(told["status"] != "recorded")

    def call(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(f"{self._server}{path}", data, headers, method=method), timeout=20) as answer:
            return json.load(answer)

    def _change(self, **changes: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.call("POST", "/api/tokens", changes)["items"]
        return found


def put(master: Master, run: str, records: list[Any]) -> int:
    """A token for each record; those with a larger amount are claimed first."""
    tokens = [
        {
            "name": f"{PREFIX}{run}/{number:06}",
            "priority": record["amount"],
            "data": {"run": run, "record": record},
        }
        for number, record in enumerate(records)
    ]
    master.insert(*tokens)
    return len(tokens)


def work(master: Master, owner: str, prefix: str) -> int:
    """Claim a token, hand its record to its run, and delete it; how many were done."""
    claimed = master.claim(owner, prefix)
    for token in claimed:
        said = token["data"]
        taken = master.fire(said["run"], "record", said["record"], id=token["name"])
        print(f"{owner}: {token['name']}{'' if taken else ': its run has ended'}", flush=True)
        try:
            master.delete(token)
        except HTTPError as error:
            # Whoever has it now fires the event once more, with the same id: it counts once.
            if error.code not in (404, 409):
                raise
            print(f"{owner}: {token['name']}: the claim ran out, somebody else has it", flush=True)
    return len(claimed)


def main() -> None:
    options = argparse.ArgumentParser(description="A worker on the token interface.")
    options.add_argument("--server", default=os.environ.get("PENSTOCK_SERVER", "http://127.0.0.1:7777"))
    options.add_argument("--prefix", default=PREFIX)
    options.add_argument("--name", default=f"worker-{uuid.uuid4().hex[:6]}")
    options.add_argument(
        "--put", nargs=2, metavar=("RUN", "FILE"), help="put a token for each record, and end"
    )
    options.add_argument("--once", action="store_true", help="end when there is nothing left to claim")
    given = options.parse_args()
    master = Master(given.server, os.environ.get("PENSTOCK_TOKEN"))
    if given.put:
        run, file = given.put
        print(put(master, run, json.loads(Path(file).read_text(encoding="utf-8"))), "tokens", flush=True)
        return
    while True:
        if work(master, given.name, given.prefix):
            continue
        if given.once:
            return
        time.sleep(0.5)


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        said = error.read(1000).decode(errors="replace") if isinstance(error, HTTPError) else ""
        sys.exit(f"error: {error} {said}".rstrip())
    except KeyboardInterrupt:
        pass

"""A reader of the stream over a restart of the server: it is told to load again, and then sees what it missed."""

from __future__ import annotations

import http.client
import json
from pathlib import Path
from urllib.parse import urlsplit

from tests.cli.command import penstock, write
from tests.cli.serving import GREETER, HELLO, serving
from tests.cli.test_front import ask, base_of


class Reader:
    """Reads `/api/stream`; `last` is the id of what it read last."""

    def __init__(self, base: str, last: str | None = None) -> None:
        parts = urlsplit(base)
        self._line = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
        self._line.request("GET", "/api/stream", headers={"Last-Event-ID": last} if last else {})
        self._answer = self._line.getresponse()
        self.last = last

    def next(self) -> str:
        """The next event that has a name."""
        name = ""
        while True:
            word, _, value = self._answer.readline().decode().rstrip("\n").partition(": ")
            if word == "id":
                self.last = value
            elif word == "event":
                name = value
            elif not word and name:
                return name

    def close(self) -> None:
        self._line.close()


def test_who_reads_on_after_a_restart_is_told_to_load_again(tmp_path: Path) -> None:
    (tmp_path / "flows").mkdir()
    write(tmp_path, "flows/hello.yaml", HELLO)
    write(tmp_path, "flows/hello.py", GREETER)
    with serving("up", "--workflows", "flows", cwd=tmp_path) as up:
        base = base_of(up)
        reader = Reader(base)
        first = penstock("start", "hello", "--wait", "--json", "--server", base).json["id"]
        seen = reader.next()
        reader.close()
        missed = penstock("start", "hello", "--wait", "--json", "--server", base).json["id"]
        up.stop()

    with serving("up", "--workflows", "flows", cwd=tmp_path) as up:
        base = base_of(up)
        again = Reader(base, reader.last)
        told = again.next()
        _, loaded = ask(f"{base}/api/runs")
        penstock("start", "hello", "--wait", "--server", base)
        then = again.next()
        again.close()
        up.stop()

    assert (seen, told, then) == ("change", "reset", "change")
    assert {run["id"] for run in loaded["items"]} == {first, missed}, json.dumps(loaded)

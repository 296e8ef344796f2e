"""The functions of this folder on one port, without any library: `/notify`, `/file_type` and `/exif_extract`.

python serve.py --port 8020
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from functions import exif_extract, file_type, notify

FUNCTIONS = {
    "/notify": notify.tell,
    "/file_type": file_type.describe,
    "/exif_extract": exif_extract.describe,
}


class Handler(BaseHTTPRequestHandler):
    """`POST /NAME` with the context of a run."""

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        function = FUNCTIONS.get(self.path)
        if function is None:
            self._answer(404, {"error": f"there is no function {self.path}"})
            return
        try:
            self._answer(200, function(json.loads(raw)))
        except Exception as error:  # a function that breaks is an answer too
            self._answer(500, {"error": f"{type(error).__name__}: {error}"})

    def _answer(self, status: int, value: dict[str, Any]) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


def listening(port: int = 0) -> ThreadingHTTPServer:
    """The functions on this machine; they answer once `serve_forever` is called."""
    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


def main() -> None:
    options = argparse.ArgumentParser(description="The functions of this folder on one port.")
    options.add_argument("--port", type=int, default=8020)
    server = listening(options.parse_args().port)
    with suppress(KeyboardInterrupt):
        print(f"the functions listen on http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()

"""An S3 that has every object that is asked for, and a listing of as many keys as are wanted: it answers at once."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

PAGE = 1000
_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
)
_EACH = (
    "<Contents><Key>{}</Key><LastModified>2026-01-31T12:00:00.000Z</LastModified>"
    "<ETag>&quot;49f68a5c8493ec2c0bf489821c21fc3b&quot;</ETag><Size>1</Size><StorageClass>STANDARD</StorageClass></Contents>"
)


class Listing(BaseHTTPRequestHandler):
    """Pages of keys, each the number that it is."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one piece: the second would wait until the first is acknowledged
    keys = 0

    def do_GET(self) -> None:
        asked = parse_qs(urlsplit(self.path).query)
        said = asked.get("continuation-token") or asked.get("start-after") or ["-1"]
        first = int(said[0].removeprefix("k/")) + 1
        last = min(first + PAGE, self.keys)
        each = "".join(_EACH.format(key_of(number)) for number in range(first, last))
        more = last < self.keys
        after = f"<NextContinuationToken>{last - 1}</NextContinuationToken>" if more else ""
        body = (
            f"{_HEAD}<IsTruncated>{str(more).lower()}</IsTruncated>{after}{each}</ListBucketResult>".encode()
        )
        self.send_response(200)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "image/png")
        self.send_header("Content-Length", "1")
        self.send_header("ETag", '"49f68a5c8493ec2c0bf489821c21fc3b"')
        self.send_header("Last-Modified", "Sat, 31 Jan 2026 12:00:00 GMT")
        self.send_header("x-amz-meta-origin", "camera")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """One that takes whoever knocks: the usual five places would have callers knock again seconds later."""

    request_queue_size = 1024


def key_of(number: int) -> str:
    return f"k/{number:012}"


def address_at(port: str) -> str:
    """The bucket `bench` there."""
    return f"s3://bench?endpoint=http://127.0.0.1:{port}&access_key=bench&secret_key=bench"


async def process(module: str, argument: str) -> asyncio.subprocess.Process:
    """A module in a process of its own."""
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, argument, stdout=asyncio.subprocess.PIPE
    )


@asynccontextmanager
async def listing(keys: int) -> AsyncIterator[str]:
    """Such an S3, in a process of its own; its port."""
    serving = await process("bench.sources.listing", str(keys))
    assert serving.stdout is not None
    try:
        yield (await serving.stdout.readline()).decode().strip()
    finally:
        serving.kill()
        await serving.wait()


def main(keys: int) -> None:
    Listing.keys = keys
    server = Server(("127.0.0.1", 0), Listing)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]))

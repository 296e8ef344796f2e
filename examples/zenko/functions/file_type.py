"""A function that guesses the type of an object from its first bytes and tags it with `mime`.

It runs under functions-framework (Knative, Google Cloud Functions), and as `handler` on AWS Lambda:

    functions-framework --source file_type.py --target file_type

Penstock calls it with the context of a run. With `presign: read` that has `object_url`, where the object can be read.
"""

from __future__ import annotations

from typing import Any
from urllib.request import Request, urlopen

SIGNS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"ID3", "audio/mpeg"),
    (b"OggS", "application/ogg"),
)
PREAMBLE = 512


def guess(preamble: bytes) -> str:
    """The type of a file that begins so."""
    for sign, mime in SIGNS:
        if preamble.startswith(sign):
            return mime
    if preamble[4:8] == b"ftyp":
        return "video/mp4"
    if preamble[:4] == b"RIFF" and preamble[8:12] == b"WEBP":
        return "image/webp"
    try:
        preamble.decode()
    except UnicodeDecodeError as error:
        if error.start < len(preamble) - 3:  # not a character that was cut in two
            return "application/octet-stream"
    return "text/plain"


def describe(context: dict[str, Any]) -> dict[str, Any]:
    """What Penstock takes back: the tags, and the output of the step."""
    with urlopen(
        Request(context["object_url"], headers={"Range": f"bytes=0-{PREAMBLE - 1}"}), timeout=20
    ) as object:
        mime = guess(object.read(PREAMBLE))
    return {"tags": {"mime": mime}, "output": {"mime": mime}}


def file_type(request: Any) -> dict[str, Any]:
    """As functions-framework calls it."""
    return describe(request.get_json())


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """As AWS Lambda calls it."""
    return describe(event)

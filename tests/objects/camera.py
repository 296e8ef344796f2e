"""Pictures for tests."""

from __future__ import annotations

import struct


def picture(make: str = "Acme Optical", model: str = "Mark IV") -> bytes:
    """A JPEG with nothing to see and a camera that took it."""
    texts = [(0x010F, make.encode() + b"\0"), (0x0110, model.encode() + b"\0")]
    entries, data, at = b"", b"", 8 + 2 + 12 * len(texts) + 4
    for tag, value in texts:
        entries += struct.pack("<HHII", tag, 2, len(value), at + len(data))
        data += value
    tiff = b"II*\0" + struct.pack("<IH", 8, len(texts)) + entries + struct.pack("<I", 0) + data
    body = b"Exif\0\0" + tiff
    return b"\xff\xd8\xff\xe1" + struct.pack(">H", len(body) + 2) + body + b"\xff\xd9"

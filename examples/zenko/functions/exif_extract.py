"""A function that reads the EXIF data of a JPEG picture and makes tags of it.

    functions-framework --source exif_extract.py --target exif_extract

Penstock calls it with the context of a run. With `presign: read` that has `object_url`, where the object can be read.
"""

from __future__ import annotations

import re
import struct
from typing import Any
from urllib.request import Request, urlopen

NAMES = {0x010F: "make", 0x0110: "model", 0x0112: "orientation", 0x0131: "software", 0x0132: "taken"}
GPS = 0x8825
"""Where the directory of the place is."""
HEAD = 128 * 1024
"""EXIF data is at the beginning of a picture."""
NO_TAG = re.compile(r"[^A-Za-z0-9 +=._:/@-]+")
"""What stores do not take in tags: cameras write `<&>`, programs `(Windows)`."""


def exif(picture: bytes) -> dict[str, str]:
    """Camera, time and place (`gps`: latitude and longitude); empty where there is no EXIF data, or it is broken."""
    at = picture.find(b"Exif\0\0")
    if not picture.startswith(b"\xff\xd8") or at < 0:
        return {}
    tiff = picture[at + 6 :]
    order = "<" if tiff[:2] == b"II" else ">"
    try:
        first = _directory(tiff, order, struct.unpack_from(f"{order}I", tiff, 4)[0])
        found = {NAMES[tag]: str(value) for tag, value in first.items() if tag in NAMES}
        if isinstance(first.get(GPS), int):
            found |= _place(_directory(tiff, order, first[GPS]))
    except (struct.error, ZeroDivisionError):
        return {}
    return found


def _directory(tiff: bytes, order: str, at: int) -> dict[int, Any]:
    """The entries of a directory by their tags: texts, numbers and lists of fractions."""
    (count,) = struct.unpack_from(f"{order}H", tiff, at)
    found: dict[int, Any] = {}
    for place in range(at + 2, at + 2 + 12 * count, 12):
        tag, kind, length = struct.unpack_from(f"{order}HHI", tiff, place)
        (far,) = struct.unpack_from(f"{order}I", tiff, place + 8)
        if kind == 2:
            start = place + 8 if length <= 4 else far
            found[tag] = tiff[start : start + length].rstrip(b"\0").decode("ascii", "ignore")
        elif kind == 3:
            (found[tag],) = struct.unpack_from(f"{order}H", tiff, place + 8)
        elif kind == 4:
            found[tag] = far
        elif kind == 5 and length <= 3:  # a place is degrees, minutes and seconds
            parts = struct.unpack_from(f"{order}{2 * length}I", tiff, far)
            found[tag] = [over / under for over, under in zip(parts[::2], parts[1::2], strict=True)]
    return found


def _place(gps: dict[int, Any]) -> dict[str, str]:
    """Latitude and longitude in degrees; south and west are negative."""
    if not all(isinstance(gps.get(tag), list) and len(gps[tag]) == 3 for tag in (2, 4)):
        return {}
    north, east = (sum(part / 60**power for power, part in enumerate(gps[tag])) for tag in (2, 4))
    signs = (-1 if gps.get(1) == "S" else 1), (-1 if gps.get(3) == "W" else 1)
    return {"gps": f"{signs[0] * north:.4f} {signs[1] * east:.4f}"}


def tag_text(value: str) -> str:
    """A value as it may stand in a tag."""
    return " ".join(NO_TAG.sub(" ", value).split())[:256]


def describe(context: dict[str, Any]) -> dict[str, Any]:
    """What Penstock takes back: the tags, and the output of the step."""
    with urlopen(
        Request(context["object_url"], headers={"Range": f"bytes=0-{HEAD - 1}"}), timeout=20
    ) as object:
        found = exif(object.read(HEAD))
    return {"tags": {f"exif_{name}": tag_text(value) for name, value in found.items()}, "output": found}


def exif_extract(request: Any) -> dict[str, Any]:
    """As functions-framework calls it."""
    return describe(request.get_json())


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """As AWS Lambda calls it."""
    return describe(event)

"""Tasks of auto_tag.yaml and untagged.yaml.

With the variable `PICTURES`, the folder of the store `pictures`, they read the pictures themselves; `describe` looks at
the colours with Pillow where it is installed. Without it they are stand-ins: they guess from the key what the bytes
would say.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from functions.exif_extract import HEAD, exif, tag_text
from functions.file_type import PREAMBLE, guess

from penstock import Context, Fatal, Out, task

TYPES = {"jpg": "image/jpeg", "png": "image/png", "mp4": "video/mp4", "txt": "text/plain"}
SKIN = 0.15
"""The share of a picture that has the colour of skin, from which on it shows people."""


@task("pictures.file_type", task_list="pictures")
def file_type(ctx: Context) -> Out:
    """Guess the type of an object from its first bytes."""
    start = _start(ctx, PREAMBLE)
    if start is None:
        mime = TYPES.get(str(ctx.data["key"]).rpartition(".")[2].lower())
        ctx.log("would read %s bytes of %s: %s", PREAMBLE, ctx.data["key"], mime or "unknown")
    else:
        mime = guess(start)
    return Out({"mime": mime}, tags={"mime": mime} if mime else None)


@task("pictures.exif_extract", task_list="pictures")
def exif_extract(ctx: Context) -> Out:
    """Read camera, date and place from a picture."""
    start = _start(ctx, HEAD)
    if start is None:
        ctx.log("would read EXIF of %s", ctx.data["key"])
        return Out(tags={"camera": "X-T5", "taken": "2026-07-14", "gps": "40.7 -73.9"})
    found = exif(start)
    taken = found.get("taken", "")[:10].replace(":", "-")
    wanted = {"camera": found.get("model"), "taken": taken, "gps": found.get("gps")}
    return Out(found, tags={name: tag for name, value in wanted.items() if (tag := tag_text(value or ""))})


@task("pictures.describe", task_list="pictures")
def describe(ctx: Context) -> Out:
    """Say what a picture shows; a model would know more."""
    colours = _colours(_file(ctx))
    if colours is None:
        ctx.log("would ask a model about %s", ctx.data["key"])
        shown = "people" if "people" in ctx.data["key"] else "landscape"
    else:
        shown = shown_by(colours)
    return Out({"content": shown}, tags={"content": shown})


def shown_by(colours: Iterable[tuple[int, int, int]]) -> str:
    """What a picture with pixels of these colours (red, green, blue) most likely shows."""
    every = list(colours)
    skin = sum(
        red > 95 and green > 40 and blue > 20 and red - blue > 50 and red - green > 25
        for red, green, blue in every
    )
    return "people" if every and skin / len(every) >= SKIN else "landscape"


def _update(ctx: Context) -> dict[str, Any]:
    """Say which tags would be written."""
    ctx.log("would write %s tags to %s/%s", len(ctx.tags), ctx.data["bucket"], ctx.data["key"])
    return {"written": ctx.tags}


# With a store the built-in task writes the tags; without one this takes its place.
update = None if os.environ.get("PICTURES") else task("update")(_update)


def _file(ctx: Context) -> Path | None:
    """The file of the object; None where there is no folder. Raises Fatal where it is not there any more."""
    folder = os.environ.get("PICTURES")
    if not folder:
        return None
    path = (Path(folder) / str(ctx.data["key"])).resolve()
    if not path.is_relative_to(Path(folder).resolve()) or not path.is_file():
        raise Fatal(f"there is no '{ctx.data['key']}' in {folder}")
    return path


def _start(ctx: Context, length: int) -> bytes | None:
    path = _file(ctx)
    if path is None:
        return None
    with path.open("rb") as file:
        return file.read(length)


def _colours(path: Path | None) -> list[tuple[int, int, int]] | None:
    """The pixels of a small copy of the picture; None without a file, or without Pillow."""
    try:
        from PIL import Image
    except ImportError:
        return None
    if path is None:
        return None
    with Image.open(path) as picture:
        pixels = picture.convert("RGB").resize((40, 40)).tobytes()
    return list(zip(pixels[::3], pixels[1::3], pixels[2::3], strict=True))

"""Stub tasks of auto_tag.yaml: they guess from the object's key what real functions would see in its bytes."""

from __future__ import annotations

from typing import Any

from penstock import Context, Out, task

TYPES = {"jpg": "image/jpeg", "png": "image/png", "mp4": "video/mp4", "txt": "text/plain"}


@task("pictures.file_type")
def file_type(ctx: Context) -> Out:
    """Guess the type of an object from its first bytes."""
    mime = TYPES.get(str(ctx.data["key"]).rpartition(".")[2].lower())
    ctx.log("would read 4 KiB of %s: %s", ctx.data["key"], mime or "unknown")
    return Out({"mime": mime}, tags={"mime": mime} if mime else None)


@task("pictures.exif_extract")
def exif_extract(ctx: Context) -> Out:
    """Read camera, date and place from a picture."""
    ctx.log("would read EXIF of %s", ctx.data["key"])
    return Out(tags={"camera": "X-T5", "taken": "2026-07-14", "gps": "40.7,-73.9"})


@task("pictures.describe")
def describe(ctx: Context) -> Out:
    """Ask a model what a picture shows."""
    shown = "people" if "people" in ctx.data["key"] else "landscape"
    ctx.log("would ask the model about %s", ctx.data["key"])
    return Out({"content": shown, "confidence": 0.93}, tags={"content": shown})


@task("update")
def update(ctx: Context) -> dict[str, Any]:
    """Write the tags back to the object. This stub takes the place of the built-in task."""
    ctx.log("would write %s tags to %s/%s", len(ctx.tags), ctx.data["bucket"], ctx.data["key"])
    return {"written": ctx.tags}

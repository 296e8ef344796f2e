"""Stub tasks of youtube.yaml: two of its own, the others are those of the Mediathread workflow beside it."""

from __future__ import annotations

from typing import Any
from zlib import crc32

from mediathread import create_et_job, mail, pull_thumbnails

from penstock import Context, task

__all__ = ["create_et_job", "mail", "plain_poster", "pull_thumbnails", "upload"]


@task("youtube.upload", task_list="video")
def upload(ctx: Context, title: str) -> dict[str, Any]:
    """Upload the video as it is; YouTube encodes it itself."""
    ctx.log("would upload %s as %r", ctx.data["s3_key"], title)
    return {"url": f"https://youtu.be/{crc32(title.encode()):08x}"}


@task("youtube.plain_poster", task_list="video")
def plain_poster(ctx: Context) -> dict[str, Any]:
    """Use the poster for videos that have none of their own."""
    ctx.log("no poster for %s, would use the plain one", ctx.data["s3_key"])
    return {"poster": "static/poster.png"}

"""Tasks of youtube.yaml: two of its own, the others are those of the Mediathread workflow beside it.

Nothing is sent to YouTube: with a folder (see media.py) the upload is a copy in `youtube/`."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import media
from mediathread import create_et_job, mail, pull_thumbnails

from penstock import Context, task

__all__ = ["create_et_job", "mail", "plain_poster", "pull_thumbnails", "upload"]


@task("youtube.upload", task_list="video")
def upload(ctx: Context, title: str) -> dict[str, Any]:
    """Upload the video as it is; YouTube encodes it itself."""
    id = f"{crc32(ctx.data['s3_key'].encode()):08x}"  # of the file: two videos may have one title
    ctx.log("%s %s as %r", "uploads" if media.root() else "would upload", ctx.data["s3_key"], title)
    media.copy(ctx.data["s3_key"], f"youtube/{id}.mp4")
    return {"url": f"https://youtu.be/{id}"}


@task("youtube.plain_poster", task_list="video")
def plain_poster(ctx: Context) -> dict[str, Any]:
    """Use the poster for videos that have none of their own."""
    ctx.log("no poster for %s, would use the plain one", ctx.data["s3_key"])
    return {"poster": "static/poster.png"}

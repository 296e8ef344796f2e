"""The task of viblio_faces.yaml. It needs a model, so it says what it would do."""

from __future__ import annotations

from typing import Any

from penstock import Context, task


@task("viblio.face_recognize")
def face_recognize(ctx: Context) -> dict[str, Any]:
    """Look for the faces among those that people named before."""
    tracks = ctx.data["tracks"]
    for number, track in enumerate(tracks, 1):
        ctx.log("would look for face %s among those of %s", track["face"], ctx.data["user_uuid"])
        ctx.heartbeat({"looked": number, "of": len(tracks)})
    return {"media_uuid": ctx.data["media_uuid"], "user_uuid": ctx.data["user_uuid"], "people": len(tracks)}

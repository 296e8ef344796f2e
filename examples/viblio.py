"""Stub tasks of viblio.yaml. Each returns the ids of the video and its user first, as all stages of Viblio do."""

from __future__ import annotations

from typing import Any

from penstock import Context, Fatal, Out, task

VIDEOS = (".avi", ".m4v", ".mov", ".mp4", ".mts", ".wmv")


@task("viblio.transcode")
def transcode(ctx: Context) -> Out:
    """Encode the video, its posters and its thumbnails."""
    name = str(ctx.data.get("filename", "video.mp4"))
    if not name.lower().endswith(VIDEOS):
        raise Fatal(f"'{name}' is not a video: trying again would not help")
    ctx.log("would encode %s", name)
    ctx.heartbeat({"percent": 100})
    return Out(stage(ctx, key=f"{ctx.data['media_uuid']}.mp4", seconds=63), set={"status": "visible"})


@task("viblio.activity_detect")
def activity_detect(ctx: Context) -> dict[str, Any]:
    """Find out what people do in the video."""
    ctx.log("would look for activity in %s", ctx.input["Transcode"]["key"])
    return stage(ctx, activities=["birthday"])


@task("viblio.face_detect")
def face_detect(ctx: Context) -> dict[str, Any]:
    """Find the faces in the video."""
    ctx.log("would look for faces in %s", ctx.input["Transcode"]["key"])
    return stage(ctx, tracks=[{"face": 1, "at": 4.2}, {"face": 2, "at": 17.8}])


@task("viblio.face_recognize")
def face_recognize(ctx: Context) -> dict[str, Any]:
    """Ask people to tell whose faces they are."""
    tracks = ctx.input["FaceDetect"]["tracks"]
    for number, track in enumerate(tracks, 1):
        ctx.log("would ask about face %s", track["face"])
        ctx.heartbeat({"asked": number, "of": len(tracks)})
    return stage(ctx, people=len(tracks))


@task("viblio.notify_complete")
def notify_complete(ctx: Context) -> Out:
    """Tell the owner by mail and in the browser."""
    people, found = ctx.input["FaceRecognize"]["people"], ctx.input["ActivityDetect"]["activities"]
    ctx.log("would tell %s: %s people, %s", ctx.data["user_uuid"], people, ", ".join(found))
    return Out(stage(ctx, people=people, activities=found), set={"status": "complete"})


@task("viblio.notify_failure")
def notify_failure(ctx: Context) -> Out:
    """Mail the team; a video that can be watched already stays visible."""
    status = "visible" if ctx.data.get("status") == "visible" else "failed"
    ctx.log("would mail the team: the video is %s", status)
    return Out(stage(ctx, status=status), set={"status": status})


def stage(ctx: Context, **found: Any) -> dict[str, Any]:
    """The output of a stage: the two ids that every message has, and what it found."""
    return {"media_uuid": ctx.data["media_uuid"], "user_uuid": ctx.data["user_uuid"], **found}

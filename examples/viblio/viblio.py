"""Tasks of viblio.yaml. Each returns the ids of the video and its user first, as all stages of Viblio do.

With the variable `MEDIA`, a folder with the uploaded files in `uploads/`, a video is encoded: by ffmpeg where it and
ffprobe are installed, with its length and a poster; else it is copied. Without `MEDIA`, and for what needs a model, the
tasks say what they would do.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from penstock import Context, Fatal, Out, task

VIDEOS = (".avi", ".m4v", ".mov", ".mp4", ".mts", ".wmv")
LONGEST = 10 * 3600
"""Seconds that a tool may take: the time-out of the stage."""


@task("viblio.transcode")
def transcode(ctx: Context) -> Out:
    """Encode the video, and take a poster from it."""
    name = str(ctx.data.get("filename", "video.mp4"))
    if not name.lower().endswith(VIDEOS):
        raise Fatal(f"'{name}' is not a video: trying again would not help")
    found: dict[str, Any] = {"key": f"{ctx.data['media_uuid']}.mp4", "seconds": 63}
    media = os.environ.get("MEDIA")
    ctx.log("%s %s", "encodes" if media else "would encode", name)
    if media:
        target = place(Path(media), found["key"])
        found["seconds"], poster = encode(place(Path(media), f"uploads/{name}"), target)
        found["poster"] = poster and poster.name
    ctx.heartbeat({"percent": 100})
    return Out(stage(ctx, **found), set={"status": "visible"})


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


@task("viblio.notify_complete")
def notify_complete(ctx: Context) -> Out:
    """Tell the owner by mail and in the browser."""
    # A stub of the other workflow has no result.
    faces = (ctx.input["FaceRecognize"] or {}).get("result") or {}
    people, names = faces.get("people", 0), faces.get("names", [])
    found = ctx.input["ActivityDetect"]["activities"]
    ctx.log("would tell %s: %s people, %s", ctx.data["user_uuid"], people, ", ".join(found))
    return Out(stage(ctx, people=people, names=names, activities=found), set={"status": "complete"})


@task("viblio.notify_failure")
def notify_failure(ctx: Context) -> Out:
    """Mail the team; a video that can be watched already stays visible."""
    status = "visible" if ctx.data.get("status") == "visible" else "failed"
    ctx.log("would mail the team: the video is %s", status)
    return Out(stage(ctx, status=status), set={"status": status})


def place(folder: Path, key: str) -> Path:
    """Where a key is in a folder. Raises Fatal where it leads out of it."""
    found = (folder / key).resolve()
    if not found.is_relative_to(folder.resolve()):
        raise Fatal(f"the key '{key}' leads out of {folder}")
    return found


def encode(source: Path, target: Path) -> tuple[float | None, Path | None]:
    """Make an MP4 of a file, whole or not at all; its seconds and its poster, None without ffmpeg. Raises Fatal."""
    if not source.is_file():
        raise Fatal(f"there is no file {source.name} in {source.parent}")
    target.parent.mkdir(parents=True, exist_ok=True)
    # In a folder of its own: two runs may encode one video at once.
    with TemporaryDirectory(prefix=".", dir=target.parent) as folder:
        part, made = Path(folder) / "video.mp4", Path(folder) / "poster.jpg"
        if not (shutil.which("ffmpeg") and shutil.which("ffprobe")):
            shutil.copyfile(source, part)
            part.replace(target)
            return None, None
        tool("ffmpeg", "-v", "error", "-y", "-i", source, "-pix_fmt", "yuv420p", part)
        tool("ffmpeg", "-v", "error", "-y", "-i", part, "-frames:v", "1", "-update", "1", made)
        length = tool("ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", part)
        poster = made.replace(target.with_suffix(".jpg"))
        part.replace(target)
    return round(float(length), 2), poster


def tool(*command: str | Path) -> str:
    """What a tool says. Raises Fatal with its words where it fails: the same file fails again."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
    if done.returncode:
        raise Fatal(f"{command[0]} says: {done.stderr.strip()[:300] or done.returncode}")
    return done.stdout


def stage(ctx: Context, **found: Any) -> dict[str, Any]:
    """The output of a stage: the two ids that every message has, and what it found."""
    return {"media_uuid": ctx.data["media_uuid"], "user_uuid": ctx.data["user_uuid"], **found}

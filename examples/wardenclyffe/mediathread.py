"""Tasks of mediathread.yaml. What they touch, and where they only say what they would do, is told in media.py."""

from __future__ import annotations

import json
import os
from typing import Any

import media

from penstock import Context, Fatal, Out, task


@task("video.extract_metadata", task_list="video")
def extract_metadata(ctx: Context) -> dict[str, Any]:
    """Read type, size and length of the uploaded video."""
    file = media.stored(ctx.data["s3_key"])
    if file is not None:
        return media.probe(file)
    ctx.log("would run ffprobe on s3://uploads/%s", ctx.data["s3_key"])
    return {"type": "video/quicktime", "width": 1920, "height": 1080, "seconds": 754}


@task("video.create_et_job", task_list="video")
def create_et_job(ctx: Context) -> Out:
    """Ask Elastic Transcoder to encode the video; it calls back when it is done."""
    # The key is the same in every attempt: asked twice, the service answers with the same job.
    job, transcoder = f"et-{ctx.idempotency_key}", os.environ.get("TRANSCODER")
    key = wanted(ctx)
    if transcoder:
        asked = {
            "PipelineId": ctx.run["workflow"],
            "Input": {"Key": ctx.data["s3_key"]},
            "Outputs": [{"Key": key, "PresetId": "1351620000001-000010"}],
            "UserMetadata": {"token": ctx.idempotency_key},
        }
        job = str(media.ask(f"{transcoder}/2012-09-25/jobs", asked)["Job"]["Id"])
    ctx.log("%s transcoder job %s for %s", "made" if transcoder else "would make", job, ctx.data["s3_key"])
    return Out({"job": job}, correlate={"et_job": job}, set={"et_job": job})


@task("video.pull_thumbnails", task_list="video")
def pull_thumbnails(ctx: Context) -> dict[str, Any]:
    """Fetch the thumbnails that the transcoder made and set one of them as the poster."""
    poster = f"{encoded(ctx)}-00001.png"
    ctx.log("%s %s as the poster", "takes" if media.root() else "would take", poster)
    media.copy(poster, f"posters/{ctx.run['id']}.png")
    return {"poster": poster, "thumbnails": 1}


@task("video.copy_to_cunix", task_list="video")
def copy_to_cunix(ctx: Context) -> dict[str, Any]:
    """Copy the encoded video to the secure directory on the Cunix servers."""
    path = f"cunix/{encoded(ctx)}"
    ctx.log("%s %s to %s", "copies" if media.root() else "would copy", encoded(ctx), path)
    media.copy(encoded(ctx), path)
    return {"path": path}


@task("video.mediathread_submit", task_list="video")
def mediathread_submit(ctx: Context) -> dict[str, Any]:
    """Tell Mediathread about the new video; with a folder it is a file in `mediathread/`."""
    # `input` has the output of each step that this one follows, under the step's name.
    found, poster, copy = (
        ctx.input[step] for step in ("extract_metadata", "pull_thumbnails", "copy_to_cunix")
    )
    told = {"path": copy["path"], "poster": poster["poster"], "seconds": found["seconds"]}
    ctx.log(
        "%s %s to course %s", "adds" if media.root() else "would add", copy["path"], ctx.data["course_id"]
    )
    if (entry := media.place(f"mediathread/{ctx.data['course_id']}-{ctx.run['id']}.json")) is not None:
        entry.parent.mkdir(parents=True, exist_ok=True)
        entry.write_text(json.dumps({**told, "user": ctx.data["user"]}), encoding="utf-8")
    return told


def _mail(ctx: Context, to: str, subject: str, text: str = "") -> dict[str, Any]:
    """Say which mail would be sent."""
    ctx.log("would mail %s: %s", to, subject)
    return {"to": to, "subject": subject}


# With a mail server the built-in task sends the mails; without one this takes its place.
mail = None if os.environ.get("PENSTOCK_SMTP_URL") else task("mail")(_mail)


def encoded(ctx: Context) -> str:
    """The key of the encoded video, as the transcoder told it. Raises Fatal where it could not encode."""
    told = ctx.events.get("et_job_finished") or {}
    if told.get("state") == "ERROR":
        raise Fatal(f"the transcoder could not encode it: {told.get('messageDetails', 'it did not say why')}")
    # The hook sets `s3_output` on the run; an event that somebody fires by hand may have no data at all.
    return str(told.get("s3_key") or ctx.data.get("s3_output") or wanted(ctx))


def wanted(ctx: Context) -> str:
    """The key that the transcoder is asked to encode to; known before the job is made."""
    return f"encoded/{ctx.run['id']}.mp4" if os.environ.get("TRANSCODER") else f"encoded/{ctx.data['s3_key']}"

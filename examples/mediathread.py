"""Stub tasks of mediathread.yaml: they log what they would do and return plausible data."""

from __future__ import annotations

from typing import Any

from penstock import Context, Out, task


@task("video.extract_metadata", task_list="video")
def extract_metadata(ctx: Context) -> dict[str, Any]:
    """Read type, size and aspect ratio of the uploaded video."""
    ctx.log("would run ffprobe on s3://uploads/%s", ctx.data["s3_key"])
    return {"type": "video/quicktime", "width": 1920, "height": 1080, "seconds": 754}


@task("video.create_et_job", task_list="video")
def create_et_job(ctx: Context) -> Out:
    """Ask Elastic Transcoder to encode the video; it calls back when it is done."""
    # The key is the same in every attempt: asked twice, the service would answer with the same job.
    job = f"et-{ctx.idempotency_key}"
    ctx.log("would create transcoder job %s for %s", job, ctx.data["s3_key"])
    return Out({"job": job}, correlate={"et_job": job}, set={"et_job": job})


@task("video.pull_thumbnails", task_list="video")
def pull_thumbnails(ctx: Context) -> dict[str, Any]:
    """Fetch the thumbnails that the transcoder made and set one of them as the poster."""
    ctx.log("would pull thumbnails of %s", encoded(ctx))
    return {"poster": f"{encoded(ctx)}.00003.png", "thumbnails": 12}


@task("video.copy_to_cunix", task_list="video")
def copy_to_cunix(ctx: Context) -> dict[str, Any]:
    """Copy the encoded video to the secure directory on the Cunix servers."""
    ctx.log("would copy %s to Cunix", encoded(ctx))
    return {"path": f"/www/data/h264/{encoded(ctx)}"}


@task("video.mediathread_submit", task_list="video")
def mediathread_submit(ctx: Context) -> dict[str, Any]:
    """Tell Mediathread about the new video."""
    # `input` has the output of each step that this one follows, under the step's name.
    found, poster, copy = (
        ctx.input[step] for step in ("extract_metadata", "pull_thumbnails", "copy_to_cunix")
    )
    ctx.log("would add %s to course %s", copy["path"], ctx.data["course_id"])
    return {"path": copy["path"], "poster": poster["poster"], "seconds": found["seconds"]}


@task("mail")
def mail(ctx: Context, to: str, subject: str, text: str = "") -> dict[str, Any]:
    """Send a mail. This stub takes the place of the built-in task and sends nothing."""
    ctx.log("would mail %s: %s", to, subject)
    return {"to": to, "subject": subject}


def encoded(ctx: Context) -> str:
    """The key of the encoded video: from the notification, or where its hook set it on the run."""
    told = ctx.events.get("et_job_finished") or {}
    return str(told.get("s3_key") or ctx.data.get("s3_output") or f"encoded/{ctx.data['s3_key']}")

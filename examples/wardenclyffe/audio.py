"""Tasks of audio.yaml: one of its own, the others are those of the video workflow beside it."""

from __future__ import annotations

import media
from mediathread import (
    copy_to_cunix,
    create_et_job,
    extract_metadata,
    mail,
    mediathread_submit,
    pull_thumbnails,
)

from penstock import Context, Out, task

__all__ = [
    "copy_to_cunix",
    "create_et_job",
    "extract_metadata",
    "mail",
    "mediathread_submit",
    "pull_thumbnails",
    "to_video",
]


@task("audio.to_video", task_list="video")
def to_video(ctx: Context) -> Out:
    """Make a video of an audio file: its sound, and a still picture."""
    source = str(ctx.data["s3_key"])
    made = f"{source.rpartition('.')[0] or source}.mp4"
    sound, video = media.stored(source), media.place(made)
    ctx.log("%s %s as %s", "encodes" if sound else "would encode", source, made)
    if sound is not None and video is not None:
        media.encode(sound, video, "-f", "lavfi", "-i", "color=c=black:s=640x360:r=5")
    return Out({"video": made}, set={"s3_key": made, "audio_key": source})

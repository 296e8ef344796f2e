"""Where the files of the tasks here are, and the tools that look at them.

Two variables decide what the tasks do:

- `MEDIA` names a folder in the place of the buckets, with `uploads/`, `encoded/` and so on in it. Without it nothing is
  touched: the tasks log what they would do and return plausible data.
- `TRANSCODER` is the address of an Elastic Transcoder, such as `transcoder.py` here. Without it no job is made.

`ffprobe` and `ffmpeg` are used where they are installed. Without them a file is known by its name and its size, and an
encoded file is a copy.
"""

from __future__ import annotations

import base64
import json
import mimetypes
import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import Request, urlopen

from penstock import Fatal

LONGEST = 3600
"""Seconds that a tool may take."""
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


def root() -> Path | None:
    """The folder in the place of the buckets; None: nothing is to be touched."""
    named = os.environ.get("MEDIA")
    return Path(named) if named else None


def place(key: str) -> Path | None:
    """Where a key is in the folder, whether it is there or not. Raises Fatal where it leads out of it."""
    folder = root()
    if folder is None:
        return None
    found = (folder / key).resolve()
    if not found.is_relative_to(folder.resolve()):
        raise Fatal(f"the key '{key}' leads out of {folder}")
    return found


def stored(key: str) -> Path | None:
    """The file of a key; None without a folder. Raises Fatal where there is no such file."""
    found = place(key)
    if found is not None and not found.is_file():
        raise Fatal(f"there is no '{key}' in {root()}: trying again would not help")
    return found


def copy(key: str, to: str) -> None:
    """Copy a file, whole or not at all."""
    source, target = stored(key), place(to)
    if source is not None and target is not None:
        _written(target, lambda part: shutil.copyfile(source, part))


def probe(file: Path) -> dict[str, Any]:
    """Type, size and length of a video; without ffprobe its type by its name, and its bytes. Raises Fatal."""
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    found: dict[str, Any] = {"type": kind, "bytes": file.stat().st_size, "seconds": None}
    if shutil.which("ffprobe") is None:
        return {**found, "by": "name"}
    told = json.loads(
        _run("ffprobe", "-v", "error", "-show_format", "-show_streams", "-of", "json", str(file))
    )
    pictures = [stream for stream in told["streams"] if "width" in stream]
    size = {name: pictures[0][name] for name in ("width", "height")} if pictures else {}
    seconds = told["format"].get("duration")
    return {
        **found,
        **size,
        "seconds": None if seconds is None else round(float(seconds), 2),
        "by": "ffprobe",
    }


def encode(source: Path, target: Path, *more: str) -> None:
    """Make an MP4 of a file; `more` goes before its name, as ffmpeg wants inputs. Without ffmpeg it is a copy."""
    if shutil.which("ffmpeg") is None:
        _written(target, lambda part: shutil.copyfile(source, part))
        return
    how = ("-f", "mp4", "-pix_fmt", "yuv420p", "-shortest", "-fflags", "+shortest")
    _written(
        target, lambda part: _run("ffmpeg", "-v", "error", "-y", *more, "-i", str(source), *how, str(part))
    )


def still(video: Path, target: Path) -> None:
    """The first picture of a video; without ffmpeg, a picture that says nothing."""
    if shutil.which("ffmpeg") is None:
        _written(target, lambda part: part.write_bytes(PIXEL))
        return
    how = ("-frames:v", "1", "-c:v", "png", "-f", "image2")
    _written(target, lambda part: _run("ffmpeg", "-v", "error", "-y", "-i", str(video), *how, str(part)))


def ask(url: str, body: dict[str, Any]) -> dict[str, Any]:
    """Post JSON, and the JSON that is answered. Raises OSError."""
    request = Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urlopen(request, timeout=20) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def _written(target: Path, write: Any) -> None:
    """Written in a folder of its own first: who reads meanwhile must not see half of it, or who writes the same."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".", dir=target.parent) as folder:
        part = Path(folder) / target.name
        write(part)
        part.replace(target)


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
    if done.returncode:
        raise Fatal(f"{command[0]} says: {done.stderr.strip()[:300] or done.returncode}")
    return done.stdout

"""The tools that the examples use where they are installed: ffmpeg, ffprobe and Pillow, with files of their own."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.examples.shelf import FOLDER, functions, played

from penstock import Fatal
from penstock.testing import Play

IDS = {"media_uuid": "5f2b7c1e", "user_uuid": "a1d0c9e4"}


@pytest.fixture
def media(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the uploads of two systems."""
    folder = tmp_path / "media"
    for system in ("wardenclyffe", "viblio"):
        shutil.copytree(FOLDER / system / "data", folder, dirs_exist_ok=True)
    monkeypatch.setenv("MEDIA", str(folder))
    return folder


def streams(file: Path) -> dict[str, str]:
    """What a video holds: kind of a stream → its codec."""
    command = ["ffprobe", "-v", "error", "-show_streams", "-of", "json", str(file)]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)
    return {each["codec_type"]: each["codec_name"] for each in told["streams"]}


def transcoded(**more: Any) -> Play:
    return played("viblio", {**IDS, "filename": "birthday.mov", **more})


def test_a_video_of_viblio_is_encoded_measured_and_gets_a_poster(media: Path) -> None:
    run = transcoded()

    found = run.steps["Transcode"].output
    assert (found["key"], found["seconds"], found["poster"]) == ("5f2b7c1e.mp4", 1.0, "5f2b7c1e.jpg")
    assert streams(media / "5f2b7c1e.mp4")["video"] == "h264"
    with Image.open(media / "5f2b7c1e.jpg") as poster:
        assert poster.format == "JPEG"


def test_a_broken_video_fails_with_the_words_of_ffmpeg_and_is_not_tried_again(media: Path) -> None:
    (media / "uploads" / "broken.mov").write_bytes(b"no video at all")

    run = transcoded(filename="broken.mov")

    run.expect("failed")
    [tried] = run.attempts("Transcode")
    assert "Invalid data found" in str(tried.error)
    assert sorted(path.name for path in media.iterdir()) == ["uploads"]


@pytest.mark.parametrize("wrong", [{"media_uuid": "../../x"}, {"filename": "../../x.mov"}])
def test_nothing_of_viblio_leads_out_of_its_folder(media: Path, wrong: dict[str, str]) -> None:
    (media.parents[1] / "x.mov").write_bytes((media / "uploads" / "birthday.mov").read_bytes())

    run = transcoded(**wrong)

    run.expect("failed")
    assert "leads out of" in str(run.attempts("Transcode")[0].error)
    assert [path.name for path in media.parents[1].glob("x*")] == ["x.mov"]


def test_without_the_tools_a_video_is_copied(media: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(media))

    found = transcoded().steps["Transcode"].output
    video = functions("mediathread", "media").probe(media / "uploads" / "42.mov")

    assert (found["seconds"], found["poster"], video["by"]) == (None, None, "name")
    assert (media / "5f2b7c1e.mp4").read_bytes() == (media / "uploads" / "birthday.mov").read_bytes()


def test_two_runs_of_viblio_may_encode_one_video_at_once(
    media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    viblio = functions("viblio")
    source, target, tool = media / "uploads" / "birthday.mov", media / "5f2b7c1e.mp4", viblio.tool

    def overtaken(*command: str | Path) -> str:
        """Another run encodes the same video from its beginning to its end before this one goes on."""
        monkeypatch.setattr(viblio, "tool", tool)
        said = str(tool(*command))
        viblio.encode(source, target)
        return said

    monkeypatch.setattr(viblio, "tool", overtaken)
    found = viblio.encode(source, target)

    assert found == (1.0, media / "5f2b7c1e.jpg")
    assert sorted(path.name for path in media.iterdir()) == ["5f2b7c1e.jpg", "5f2b7c1e.mp4", "uploads"]


def test_two_runs_of_wardenclyffe_may_write_one_file_at_once(
    media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools, copyfile = functions("mediathread", "media"), shutil.copyfile

    def overtaken(source: Path, part: Path) -> None:
        """Another run copies the same video from its beginning to its end before this one goes on."""
        monkeypatch.setattr(shutil, "copyfile", copyfile)
        copyfile(source, part)
        tools.copy("uploads/42.mov", "youtube/42.mp4")

    monkeypatch.setattr(shutil, "copyfile", overtaken)
    tools.copy("uploads/42.mov", "youtube/42.mp4")

    assert [path.name for path in (media / "youtube").iterdir()] == ["42.mp4"]
    assert (media / "youtube" / "42.mp4").read_bytes() == (media / "uploads" / "42.mov").read_bytes()


def test_a_recording_of_wardenclyffe_becomes_a_video_that_can_be_encoded_and_shown(media: Path) -> None:
    tools = functions("mediathread", "media")

    run = played("audio", {"s3_key": "uploads/lecture.mp3", "course_id": 17, "user": "ada"})
    tools.encode(media / "uploads" / "lecture.mp4", media / "encoded.mp4")
    tools.still(media / "encoded.mp4", media / "poster.png")

    measured = run.steps["extract_metadata"].output
    assert (measured["width"], measured["height"], measured["by"]) == (640, 360, "ffprobe")
    assert streams(media / "encoded.mp4") == {"video": "h264", "audio": "aac"}
    with Image.open(media / "poster.png") as poster:
        assert (poster.format, poster.size) == ("PNG", (640, 360))


def test_a_file_that_ffprobe_cannot_read_is_told_in_its_words(media: Path) -> None:
    (media / "uploads" / "42.mov").write_bytes(b"no video at all")

    with pytest.raises(Fatal, match=r"(?s)ffprobe says: .*Invalid data"):
        functions("mediathread", "media").probe(media / "uploads" / "42.mov")


def picture(
    folder: Path, colour: tuple[int, int, int], place: tuple[str, str] | None, camera: str = "Mark IV"
) -> None:
    """A picture as a camera makes it."""
    exif = Image.Exif()
    exif[0x0110], exif[0x0132] = camera, "2026:07:14 10:00:00"
    if place is not None:
        where = exif.get_ifd(0x8825)
        where[1], where[2], where[3], where[4] = place[0], (40.0, 42.0, 36.0), place[1], (73.0, 59.0, 24.0)
    Image.new("RGB", (64, 48), colour).save(folder / "new.jpg", exif=exif)


@pytest.mark.parametrize(
    ("colour", "place", "tags"),
    [
        (
            (120, 170, 220),
            ("N", "W"),
            {"content": "landscape", "visibility": "public", "gps": "40.7100 -73.9900"},
        ),
        (
            (120, 170, 220),
            ("S", "E"),
            {"content": "landscape", "visibility": "public", "gps": "-40.7100 73.9900"},
        ),
        ((120, 170, 220), None, {"content": "landscape", "visibility": "public"}),
        ((220, 170, 135), ("N", "W"), {"content": "people", "visibility": "private"}),
    ],
)
def test_a_real_picture_gets_camera_time_and_place_unless_it_shows_people(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    colour: tuple[int, int, int],
    place: tuple[str, str] | None,
    tags: dict[str, str],
) -> None:
    functions("auto_tag")  # while it is a stand-in for `update`, as the other tests need it
    monkeypatch.setenv("PICTURES", str(tmp_path))
    picture(tmp_path, colour, place)

    run = played("auto_tag", {"bucket": "pictures", "key": "new.jpg"}, stubs={"write_back": {}})

    run.expect("succeeded")
    assert run.tags == {"mime": "image/jpeg", "camera": "Mark IV", "taken": "2026-07-14", **tags}


def test_what_a_camera_is_called_becomes_a_tag_that_stores_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    functions("auto_tag")  # while it is a stand-in for `update`, as the other tests need it
    monkeypatch.setenv("PICTURES", str(tmp_path))
    picture(tmp_path, (120, 170, 220), None, camera="<Digimax S500, Kenox S500>   ")

    run = played("auto_tag", {"bucket": "pictures", "key": "new.jpg"}, stubs={"write_back": {}})

    assert run.tags["camera"] == "Digimax S500 Kenox S500"

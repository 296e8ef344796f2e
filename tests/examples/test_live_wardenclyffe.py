"""Wardenclyffe on a server: files, a transcoder that is a process of its own, and its calls to the hook."""

from __future__ import annotations

import hashlib
import hmac
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.examples.live import Live, script, until, upped
from tests.examples.shelf import FOLDER, functions, proposed
from tests.postgres_server import free_port

SYSTEM = FOLDER / "wardenclyffe"
SECRET = "a-secret-of-both-sides"
NOTE = {"state": "COMPLETED", "outputs": [{"id": "1", "key": "encoded/forged.mp4"}]}


class Place:
    """The server, the folder of its files, and the address of its transcoder."""

    def __init__(self, live: Live, media: Path, transcoder: str) -> None:
        self.live, self.media, self.transcoder = live, media, transcoder

    def notify(self, note: object, secret: str, id: str) -> int:
        """What the hook answers to a notification."""
        body = json.dumps(note).encode()
        signed = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        headers = {"X-Signature": signed, "X-Amz-Sns-Message-Id": id}
        return self.live.ask("POST", "/hooks/mediathread/et_job_finished", body, **headers)[0]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Every notification of this transcoder comes twice, as those of SNS may."""
    folder = tmp_path_factory.mktemp("wardenclyffe")
    media, port = folder / "media", free_port()
    shutil.copytree(SYSTEM / "data", media)
    shutil.copyfile(media / "uploads" / "42.mov", media / "uploads" / "slow.mov")
    variables = {"MEDIA": str(media), "TRANSCODER": f"http://127.0.0.1:{port}"}
    with upped(SYSTEM, folder, **variables) as live:
        live.good("PUT", "/api/secrets/TRANSCODER", {"value": SECRET})
        args = ("--port", port, "--secret", SECRET, "--notify", live.base, "--seconds", 0.1, "--times", 2)
        with script(SYSTEM / "transcoder.py", *args, cwd=folder, MEDIA=str(media)) as transcoder:
            yield Place(live, media, transcoder)


def test_a_video_is_encoded_called_back_for_copied_and_submitted(place: Place) -> None:
    run = place.live.start("mediathread", proposed("mediathread"))

    ended = place.live.until(run, "succeeded", "failed")

    [entry] = (place.media / "mediathread").glob(f"17-{run}.json")
    assert ended["status"] == "succeeded"
    assert ended["data"]["s3_output"] == f"encoded/{run}.mp4"
    assert json.loads(entry.read_text())["path"] == f"cunix/encoded/{run}.mp4"
    assert (place.media / "cunix" / "encoded" / f"{run}.mp4").stat().st_size > 0
    assert (place.media / "posters" / f"{run}.png").read_bytes().startswith(b"\x89PNG")
    assert ended["steps"]["extract_metadata"]["output"]["type"] == "video/quicktime"


@pytest.mark.parametrize("name", ["audio", "youtube"])
def test_the_other_two_get_their_calls_at_their_own_hooks(place: Place, name: str) -> None:
    run = place.live.start(name, proposed(name))

    ended = place.live.until(run, "succeeded", "failed")

    assert (ended["status"], ended["data"]["s3_output"]) == ("succeeded", f"encoded/{run}.mp4")


def test_a_notification_that_comes_twice_counts_once(place: Place) -> None:
    run = place.live.start("mediathread", {**proposed("mediathread"), "s3_key": "uploads/slow.mov"})
    job = place.live.until(run, "waiting")["data"]["et_job"]
    note = {**NOTE, "jobId": job, "outputs": [{"id": "1", "key": f"encoded/{run}.mp4"}]}
    until(lambda: (place.media / "encoded" / f"{run}.mp4-00001.png").exists(), bool)

    answers = [place.notify(note, SECRET, f"twice-{run}") for _ in range(2)]

    place.live.until(run, "succeeded")
    came = [
        each
        for each in place.live.history(run)
        if each["event"] == "et_job_finished" and each["kind"] == "event"
    ]
    assert (answers, len(came)) == ([202, 200], 1)


def test_a_call_that_the_transcoder_has_not_signed_is_refused(place: Place) -> None:
    run = place.live.start("mediathread", {**proposed("mediathread"), "s3_key": "uploads/slow.mov"})
    job = place.live.until(run, "waiting")["data"]["et_job"]

    answer = place.notify({**NOTE, "jobId": job}, "another-secret-than-theirs", f"forged-{run}")

    assert (answer, place.live.good("GET", f"/api/runs/{run}")["status"]) == (401, "waiting")


def test_a_job_that_failed_fails_the_run_with_one_mail(place: Place) -> None:
    run = place.live.start("mediathread", {**proposed("mediathread"), "s3_key": "uploads/slow.mov"})
    job = place.live.until(run, "waiting")["data"]["et_job"]

    place.notify({**NOTE, "jobId": job, "state": "ERROR", "messageDetails": "no sound"}, SECRET, f"bad-{run}")

    ended = place.live.until(run, "succeeded", "failed")
    assert (ended["status"], ended["steps"]["email_failure"]["firings"]) == ("failed", 1)
    assert ended["steps"]["email_failure"]["output"]["subject"].endswith("could not encode it: no sound")


def test_a_video_that_was_never_uploaded_fails_without_another_try(place: Place) -> None:
    run = place.live.start("mediathread", {**proposed("mediathread"), "s3_key": "uploads/nothing.mov"})

    ended = place.live.until(run, "failed")

    assert ended["steps"]["extract_metadata"]["attempts"] == 1


def test_a_key_that_leads_out_of_the_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEDIA", str(tmp_path))
    media = functions("mediathread", "media")

    with pytest.raises(media.Fatal, match="leads out of"):
        media.place("../../etc/passwd")

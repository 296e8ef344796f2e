"""A simulated Elastic Transcoder: it takes jobs, and tells through a hook, as Amazon SNS would, when one is done.

    MEDIA=media python transcoder.py --secret SECRET --notify http://127.0.0.1:7777

`POST /2012-09-25/jobs` is Amazon's own call, as far as the tasks here use it. A job is told to
`NOTIFY/hooks/PIPELINE/et_job_finished`: the pipeline is named like the workflow. Of a job whose input has `slow` in its
name nobody is told until somebody asks for it with `POST /jobs/ID/finish`.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import json
import threading
import time
import uuid
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import media

PAUSES = (0.2, 0.5, 1, 2, 5, 10, 30)
"""Seconds between the tries of a notification."""


class Transcoder:
    """The jobs, and who is told of them."""

    def __init__(self, notify: str, secret: str, seconds: float = 0.5, times: int = 1) -> None:
        self.notify, self.times = notify.rstrip("/"), times
        self.told: list[int] = []  # what the hook answered
        self._secret, self._seconds = secret, seconds
        self._jobs: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()

    def create(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """A new job, or the one that was asked for with the same token before."""
        token = str(wanted.get("UserMetadata", {}).get("token") or uuid.uuid4())
        with self._lock:
            known = self._jobs.get(token)
            if known is not None:
                return known
            job = {"Id": f"et-{uuid.uuid5(uuid.NAMESPACE_OID, token)}", "Status": "Submitted", **wanted}
            self._jobs[token] = job
        threading.Thread(target=self._work, args=(job,), daemon=True).start()
        return job

    def finish(self, id: str) -> bool:
        """Tell that a job is done; False: there is none."""
        job = next((job for job in self._jobs.values() if job["Id"] == id), None)
        if job is not None:
            self._tell(self._encode(job))
        return job is not None

    def _work(self, job: dict[str, Any]) -> None:
        time.sleep(self._seconds)
        note = self._encode(job)
        if "slow" not in job["Input"]["Key"]:
            self._tell(note)

    def _encode(self, job: dict[str, Any]) -> dict[str, Any]:
        """Do a job; what is to be told of it."""
        output = job["Outputs"][0]
        note = {
            "state": "COMPLETED",
            "version": "2012-09-25",
            "jobId": job["Id"],
            "pipelineId": job["PipelineId"],
        }
        try:
            source, made = media.stored(job["Input"]["Key"]), media.place(output["Key"])
            if source is not None and made is not None:
                media.encode(source, made)
                media.still(made, made.with_name(f"{made.name}-00001.png"))
        except Exception as error:  # whatever goes wrong is the answer
            note |= {"state": "ERROR", "messageDetails": str(error)}
        job["Status"] = "Complete" if note["state"] == "COMPLETED" else "Error"
        return {**note, "input": {"key": job["Input"]["Key"]}, "outputs": [{"id": "1", "key": output["Key"]}]}

    def _tell(self, note: dict[str, Any]) -> None:
        """Post a notification, signed, until it is taken. SNS may send one twice: so does this, with `times`."""
        body = json.dumps(note).encode()
        headers = {
            "Content-Type": "application/json",
            "X-Amz-Sns-Message-Type": "Notification",
            "X-Amz-Sns-Message-Id": str(uuid.uuid4()),
            "X-Signature": hmac.new(self._secret.encode(), body, hashlib.sha256).hexdigest(),
        }
        url = f"{self.notify}/hooks/{note['pipelineId']}/et_job_finished"
        for _ in range(self.times):
            for pause in PAUSES:
                try:
                    with urlopen(Request(url, body, headers), timeout=20) as answer:
                        self.told.append(answer.status)
                    break
                except HTTPError as error:
                    self.told.append(error.code)
                    if error.code < 500 and error.code != 429:
                        break
                except OSError:
                    pass
                time.sleep(pause)


class Handler(BaseHTTPRequestHandler):
    """`POST /2012-09-25/jobs` and `POST /jobs/ID/finish`."""

    transcoder: Transcoder

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        match self.path.strip("/").split("/"):
            case ["2012-09-25", "jobs"]:
                self._answer(201, {"Job": self.transcoder.create(json.loads(raw))})
            case ["jobs", id, "finish"] if self.transcoder.finish(id):
                self._answer(200, {"Id": id})
            case _:
                self._answer(404, {"message": "nothing is here"})

    def _answer(self, status: int, value: dict[str, Any]) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


def listening(transcoder: Transcoder, port: int = 0) -> ThreadingHTTPServer:
    """The transcoder on this machine; it answers once `serve_forever` is called."""
    return ThreadingHTTPServer(("127.0.0.1", port), type("Own", (Handler,), {"transcoder": transcoder}))


def main() -> None:
    options = argparse.ArgumentParser(description="A simulated Elastic Transcoder.")
    options.add_argument("--port", type=int, default=8010)
    options.add_argument(
        "--notify", metavar="URL", default="http://127.0.0.1:7777", help="the Penstock to tell"
    )
    options.add_argument("--secret", required=True, help="what notifications are signed with")
    options.add_argument("--seconds", type=float, default=0.5, help="how long a job takes at least")
    options.add_argument("--times", type=int, default=1, help="how often each notification is sent")
    given = options.parse_args()
    server = listening(Transcoder(given.notify, given.secret, given.seconds, given.times), given.port)
    with suppress(KeyboardInterrupt):
        print(f"the transcoder listens on http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()

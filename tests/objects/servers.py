"""Real S3 servers on loopback: SeaweedFS, with versions, and JuiceFS' gateway, which notifies as MinIO does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from tests.postgres_server import free_port
from tests.waiting import until_sync

USER, PASSWORD = "penstock-tests", "a-password-of-the-tests"
BIN = Path(sys.executable).parent
PATIENCE = 40.0


class S3Server:
    """A server process and a client of it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.endpoint = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None
        self.client: Any = boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id=USER,
            aws_secret_access_key=PASSWORD,
            config=Config(
                s3={"addressing_style": "path"},
                retries={"max_attempts": 2},
                max_pool_connections=32,
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
            ),
        )

    def address(self, bucket: str, **more: str) -> str:
        """The address of a bucket here, as a setting."""
        said = {
            "endpoint": self.endpoint,
            "region": "us-east-1",
            "access_key": USER,
            "secret_key": PASSWORD,
            **more,
        }
        return f"s3://{bucket}?" + "&".join(f"{name}={quote(value, safe='')}" for name, value in said.items())

    def bucket(self, name: str, versions: bool = False) -> str:
        """A new bucket."""
        self.client.create_bucket(Bucket=name)
        if versions:
            self.client.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
        return name

    def put(self, bucket: str, key: str, body: bytes = b"x", **more: Any) -> Any:
        return self.client.put_object(Bucket=bucket, Key=key, Body=body, **more)

    def begin(self, command: Sequence[str], variables: Mapping[str, str] | None = None) -> None:
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                command,
                cwd=self.folder,
                env={**os.environ, **(variables or {})},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        until_sync(self._takes_objects, f"{command[0]} to take objects", PATIENCE)

    def _takes_objects(self) -> bool:
        try:
            self.client.create_bucket(Bucket="is-it-there")
            self.put("is-it-there", "yes")
        except (BotoCoreError, ClientError):
            if self._process is None or self._process.poll() is not None:
                raise
            return False
        return True

    def end(self) -> None:
        self.client.close()
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)  # it takes seconds to stop in good order
            self._process.wait()


class SeaweedFS(S3Server):
    """Has versions; tells nobody about its buckets in the way of S3."""

    def start(self) -> SeaweedFS:
        identity = {
            "name": "tests",
            "credentials": [{"accessKey": USER, "secretKey": PASSWORD}],
            "actions": ["Admin", "Read", "Write", "List", "Tagging"],
        }
        (self.folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
        ports = [
            f"-{part}.port{kind}={free_port()}"
            for part in ("master", "volume", "filer")
            for kind in ("", ".grpc")
        ]
        self.begin(
            [
                str(BIN / "weed"),
                "-logdir=.",
                "server",
                "-dir=.",
                "-ip=127.0.0.1",
                "-ip.bind=127.0.0.1",
                *ports,
                "-s3",
                "-s3.config=s3.json",
                f"-s3.port={self.port}",
                f"-s3.port.grpc={free_port()}",
                "-s3.port.iceberg=0",
                "-s3.port.lance=0",
                "-volume.max=500",
                "-master.volumeSizeLimitMB=16",
                "-master.telemetry=false",
            ]
        )
        return self


class JuiceFS(S3Server):
    """Tells a webhook about its buckets, in the way of MinIO; has no versions."""

    ARN = "arn:minio:sqs::tests:webhook"

    def __init__(self, folder: Path, hook: str = "http://127.0.0.1:9/none", token: str = "none") -> None:
        super().__init__(folder)
        self.hook, self.token = hook, token

    @property
    def hook_port(self) -> int:
        """Where whoever is told listens."""
        return int(self.hook.split(":")[2].split("/")[0])

    def start(self) -> JuiceFS:
        meta = f"sqlite3://{self.folder}/meta.db"
        formatted = [
            str(BIN / "juicefs"),
            "format",
            "--storage",
            "file",
            "--bucket",
            f"{self.folder}/data/",
            meta,
            "tests",
        ]
        subprocess.run(formatted, check=True, capture_output=True, timeout=PATIENCE)
        variables = {
            "MINIO_ROOT_USER": USER,
            "MINIO_ROOT_PASSWORD": PASSWORD,
            "MINIO_NOTIFY_WEBHOOK_ENABLE_tests": "on",
            "MINIO_NOTIFY_WEBHOOK_ENDPOINT_tests": self.hook,
            "MINIO_NOTIFY_WEBHOOK_AUTH_TOKEN_tests": self.token,
            # Kept and sent again while nobody answers, as whoever needs every event sets it up.
            "MINIO_NOTIFY_WEBHOOK_QUEUE_DIR_tests": str(self.folder / "queue"),
        }
        self.begin(
            [
                str(BIN / "juicefs"),
                "gateway",
                *["--multi-buckets", "--keep-etag", "--object-tag", "--object-meta"],
                *["--no-bgjob", "--no-banner", "--no-usage-report"],
                "--log",
                str(self.folder / "gateway.log"),
                "--cache-dir",
                str(self.folder / "cache"),
                "--metrics",
                "127.0.0.1:0",
                meta,
                f"127.0.0.1:{self.port}",
            ],
            variables,
        )
        return self

    def telling(self, name: str) -> str:
        """A new bucket that tells what comes and goes."""
        self.bucket(name)
        events = ["s3:ObjectCreated:*", "s3:ObjectRemoved:*"]
        told = {"QueueConfigurations": [{"QueueArn": self.ARN, "Events": events}]}

        def knows() -> bool:
            with suppress(ClientError):  # it answers before it knows whom it may tell
                self.client.put_bucket_notification_configuration(Bucket=name, NotificationConfiguration=told)
                return True
            return False

        until_sync(knows, "a store that tells", PATIENCE)
        return name

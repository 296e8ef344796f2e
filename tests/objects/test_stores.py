"""Stores are named and set up; what cannot be is refused in one sentence before anything is opened."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from penstock import Engine
from penstock.objects.address import read_address
from penstock.objects.errors import BadStore, ObjectGone, ObjectStoreAway, UnknownStore
from penstock.objects.folder import FolderStore
from penstock.objects.s3 import S3Store
from penstock.objects.stores import Stores
from penstock.sources.errors import Untrusted
from penstock.sources.hooks.certificates import Certificates
from penstock.sources.hooks.envelope import Call
from penstock.sources.hooks.hooks import Hooks
from penstock.sources.objects.notifications import ObjectHooks
from penstock.sources.objects.starts import ObjectStarts
from tests.cli.command import process
from tests.objects.places import FolderPlace, S3Place
from tests.objects.servers import SeaweedFS
from tests.objects.telling import PICS, TASKS, body, record
from tests.postgres_server import free_port
from tests.sources.amazon import AMAZON, NOW, TOPIC, Web


@pytest.mark.parametrize(
    ("name", "url", "says"),
    [
        ("a b", "s3://x", "name that cannot be"),
        ("pics", 7, "must have an address"),
        ("pics", "gs://bucket", "scheme 'gs'"),
        ("pics", "s3://", "needs a bucket"),
        ("pics", "s3://b?region=eu-west-1", "names the bucket 'b', which cannot be one"),
        ("pics", "s3://bucket/prefix", "needs a bucket and nothing behind it"),
        ("pics", "s3://key:secret@bucket", "credentials before its bucket"),
        ("pics", "s3://bucket?endpont=http://x", "did you mean 'endpoint'"),
        ("pics", "s3://bucket?endpoint=x", "no http"),
        ("pics", "s3://bucket?style=odd", "neither `path` nor `virtual`"),
        ("pics", "s3://bucket?region=the+moon", "has the region 'the moon', which is none"),
        ("pics", "s3://bucket?region=-", "write one like eu-west-1"),
        ("pics", "s3://bucket?access_key=a", "both access_key and secret_key"),
        ("pics", "s3://bucket?sns_topic=x", "no ARN"),
        ("pics", "s3://bucket?nonsense", "cannot be read"),
        ("pics", "dir://relative/path", "whole path"),
        ("pics", "dir:///", "whole path"),
        ("pics", "dir:///x?region=y", "that is none"),
        ("pics", "dir:///srv/box#1", "has a # in its address: write %23"),
    ],
)
def test_an_address_that_cannot_be_is_refused_with_a_reason(name: str, url: Any, says: str) -> None:
    with pytest.raises(BadStore, match=says):
        read_address(name, url)


def test_a_store_that_is_not_set_up_is_told_with_the_nearest_name() -> None:
    with pytest.raises(UnknownStore, match="did you mean 'pictures'"):
        Stores({"pictures": "s3://bucket"}).address("picture")


def test_keys_are_looked_up_when_they_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    address = {"pics": "s3://bucket?access_key=${AK}&secret_key=${SK}"}

    async def secret(name: str) -> str | None:
        return {"SK": "from-secrets"}.get(name)

    with pytest.raises(BadStore, match="penstock secret set AK"):
        asyncio.run(Stores(address, secret).get("pics"))
    monkeypatch.setenv("AK", "from-the-environment")
    assert isinstance(asyncio.run(Stores(address, secret).get("pics")), S3Store)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"secret_key": "wrong"}, "does not let us in"),
        ({"endpoint": "http://127.0.0.1:9"}, "cannot be asked"),
    ],
)
def test_a_store_that_cannot_be_asked_says_why(seaweed: SeaweedFS, more: dict[str, str], says: str) -> None:
    async def main() -> None:
        stores = Stores({"pics": seaweed.address("is-it-there", **more)})
        try:
            await (await stores.get("pics")).head("yes")
        finally:
            await stores.close()

    with pytest.raises(ObjectStoreAway, match=says):
        asyncio.run(main())


def test_keys_that_are_set_anew_count_without_a_restart(
    seaweed: SeaweedFS, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.objects.s3.KEYS_FOR", 0.0)
    seaweed.bucket("keys-anew")
    right = read_address("pics", seaweed.address("keys-anew")).options["secret_key"]
    secrets = {"SK": "wrong"}

    async def secret(name: str) -> str | None:
        return secrets.get(name)

    async def main() -> None:
        stores = Stores({"pics": seaweed.address("keys-anew", secret_key="${SK}")}, secret)
        store = await stores.get("pics")
        try:
            with pytest.raises(ObjectStoreAway, match="does not let us in"):
                await store.head("a")
            secrets["SK"] = right
            with pytest.raises(ObjectGone):
                await store.head("a")
        finally:
            await stores.close()

    asyncio.run(main())


def test_a_region_of_the_environment_that_is_none_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "the moon")
    stores = Stores({"pics": "s3://bucket?access_key=a&secret_key=b&endpoint=http://127.0.0.1:9"})

    async def main() -> Any:
        try:
            return await stores.look()
        finally:
            await stores.close()

    [looked] = asyncio.run(main())
    assert looked["reachable"] is False
    assert "'pics' cannot be opened as it is set up: " in looked["error"] and "the moon" in looked["error"]


def test_a_bucket_that_is_not_there_is_told(seaweed: SeaweedFS) -> None:
    async def main() -> None:
        stores = Stores({"pics": seaweed.address("nobodys-bucket")})
        try:
            await (await stores.get("pics")).check()
        finally:
            await stores.close()

    with pytest.raises(ObjectStoreAway, match="no bucket 'nobodys-bucket'"):
        asyncio.run(main())


def test_objects_are_asked_about_without_a_thread_each(
    seaweed: SeaweedFS, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = seaweed.bucket("quick", versions=True)
    put = seaweed.put(bucket, "a b/x+y ü%.txt", b"four", Metadata={"who": "me"}, ContentType="text/plain")

    async def talk(store: Any) -> Any:
        def refuse(*what: Any, **more: Any) -> None:
            raise AssertionError("boto3 was asked")

        await store.check()
        monkeypatch.setattr(store._client, "head_object", refuse)
        return await store.head("a b/x+y ü%.txt", put["VersionId"])

    found = S3Place(seaweed, bucket).run(talk)
    assert (found.size, found.version, found.metadata) == (4, put["VersionId"], {"who": "me"})
    assert found.system["content_type"] == "text/plain"


@pytest.mark.parametrize(
    "key",
    [
        "../secret.txt",
        "a/../../secret.txt",
        "/etc/passwd",
        "link",
        "out/secret.txt",
        ".penstock/x",
        ".",
        "a//b",
        "",
    ],
)
def test_no_key_leads_out_of_a_folder(key: str, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("hush")
    folder = FolderPlace(tmp_path / "pics")
    folder.put("a/b")
    (folder.path / ".penstock").mkdir()
    (folder.path / ".penstock" / "x").write_text("x")
    (folder.path / "link").symlink_to(tmp_path / "secret.txt")
    (folder.path / "out").symlink_to(tmp_path)

    async def talk(store: Any) -> list[str]:
        for ask in (store.head(key), store.put_tags(key, {"a": "1"})):
            with pytest.raises(ObjectGone):
                await ask
        return [each.key async for page in store.pages() for each in page]

    assert folder.run(talk) == ["a/b"]


@pytest.mark.parametrize("link", [".penstock", ".penstock/objects", ".penstock/objects/ca"])
def test_a_folder_whose_own_place_is_a_link_is_not_written_to(tmp_path: Path, link: str) -> None:
    folder = FolderPlace(tmp_path / "pics")
    folder.put("a")
    (tmp_path / "elsewhere").mkdir()
    (folder.path / link).parent.mkdir(parents=True, exist_ok=True)
    (folder.path / link).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ObjectStoreAway, match="is a link"):
        asyncio.run(FolderStore("pics", str(folder.path)).put_tags("a", {"a": "1"}))
    assert os.listdir(tmp_path / "elsewhere") == []


def test_sns_brings_notifications_of_the_topic_that_the_store_names(tmp_path: Path) -> None:
    folder = FolderPlace(tmp_path / "pics")

    async def main() -> Any:
        stores = {"pics": f"s3://pics?endpoint=http://127.0.0.1:9&sns_topic={TOPIC}", "other": folder.url}
        async with Engine("memory:", tasks=TASKS, stores=stores) as engine:
            running = await engine.running()
            web = Web(AMAZON)

            async def secret(name: str) -> str | None:
                return None

            hooks = Hooks(
                running.store,
                running.node.flows,
                running.node.commands,
                secret,
                fetch=web.fetch,
                certificates=Certificates(web.fetch, [AMAZON.root]),
                now=lambda: NOW,
            )
            kept = running.means.stores
            taking = ObjectHooks(
                hooks, kept, ObjectStarts(running.store, running.node.flows, running.node.commands, kept)
            )
            await engine.publish(PICS, start=True)
            message = body(record("a.png", "ObjectRemoved:Delete")).decode()
            letter = json.dumps(AMAZON.letter(Message=message)).encode()
            call = Call({"x-amz-sns-message-type": "Notification", "content-type": "text/plain"}, letter)
            told = [await taking.receive("pics", call) for _ in range(2)]
            with pytest.raises(Untrusted):
                await taking.receive("other", call)
            return [(each.started, each.duplicate) for each in told]

    assert asyncio.run(main()) == [(1, 0), (0, 1)]


def test_a_wrong_address_ends_the_command_before_anything_is_opened(tmp_path: Path) -> None:
    said = process("up", "--store", "pics=gs://bucket", "--port", free_port(), cwd=tmp_path)
    assert (said.code, "scheme 'gs'" in said.err, list(tmp_path.iterdir())) == (2, True, [])


def test_the_doctor_looks_at_stores_and_shows_no_secrets(tmp_path: Path) -> None:
    (tmp_path / "inbox").mkdir()
    (tmp_path / "penstock.toml").write_text(
        f'[stores]\ninbox = "dir://{tmp_path}/inbox?hook_token=hush-hush"\ngone = "dir://{tmp_path}/gone"\n'
    )
    closed = f"http://127.0.0.1:{free_port()}"
    said = process("doctor", "--server", closed, "--json", cwd=tmp_path)
    found = [(each["state"], each["text"]) for each in said.json["findings"] if each["about"] == "stores"]
    assert sorted(state for state, _ in found) == ["fine", "wrong"]
    assert any("no folder" in text for _, text in found)
    assert "hush" not in said.out + said.err


def test_nothing_heavy_is_loaded_before_a_store_is_used() -> None:
    code = (
        "import sys, penstock.cli.main, penstock.server.build, penstock.sources.objects.notifications; "
        "print([name for name in ('boto3', 'botocore') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"

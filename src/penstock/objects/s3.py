"""A bucket of S3, at Amazon or a compatible provider: boto3 in its own threads."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from penstock.objects.errors import BadStore, ObjectGone, ObjectRefused, ObjectStoreAway
from penstock.objects.protocol import Access, Listed, Object
from penstock.objects.s3_lines import QuickLines
from penstock.objects.s3_listing import Page, is_drawn_folder, read_page
from penstock.objects.s3_reader import clock_ahead, object_of, real_version, tag_count
from penstock.objects.s3_signature import Keys
from penstock.objects.tags import validate_tags
from penstock.store.errors import StoreError

THREADS = 32
PAGE = 1000
KEYS_FOR = 60.0
"""Seconds for which keys are taken as good."""

MAX_PRESIGN = timedelta(days=7)

_COPIED_FIELDS = (
    "ContentType",
    "ContentEncoding",
    "ContentDisposition",
    "ContentLanguage",
    "CacheControl",
    "Expires",
    "WebsiteRedirectLocation",
    "StorageClass",
    "ServerSideEncryption",
    "SSEKMSKeyId",
    "BucketKeyEnabled",
)
"""What a copy onto itself would lose unless it is said again; of keys, that the object was encrypted with its own."""

_WORDS = {"start-after": "StartAfter", "continuation-token": "ContinuationToken"}

_GONE = frozenset({"404", "NoSuchKey", "NoSuchVersion", "MethodNotAllowed", "405"})
_REFUSED = frozenset(
    {
        "InvalidTag",
        "InvalidRequest",
        "InvalidArgument",
        "MetadataTooLarge",
        "BadRequest",
        "InvalidObjectState",
    }
)
_CLOSED = {
    "400": "is it encrypted with a key of its own (SSE-C)?",
    "403": "the keys have no right to it",
    "AccessDenied": "the keys have no right to it",
}
"""What a store says of one object, and of all of them where it does not let us in: a session that ran out is a 400."""


class Credentials(Struct, frozen=True):
    """Those of the address; without any, boto3 looks where it always looks."""

    access_key: str | None = None
    secret_key: str | None = None
    session_token: str | None = None


Lookup = Callable[[], Awaitable[Credentials]]
"""Those that are set now. Raises BadStore, StoreError."""

MAX_COPY = 5 * 1024**3
"""Bytes that Amazon copies in one call, which is how metadata is changed."""


class S3Store:
    """One bucket. Nothing is asked before the first call."""

    def __init__(
        self,
        name: str,
        bucket: str,
        *,
        endpoint: str | None = None,
        region: str | None = None,
        style: str | None = None,
        credentials: Credentials | None = None,
        lookup: Lookup | None = None,
    ) -> None:
        self.name, self.bucket = name, bucket
        self._endpoint, self._region = endpoint, region
        self._style = style or ("path" if endpoint else "auto")
        self._credentials, self._lookup = credentials or Credentials(), lookup
        self._renew_at = time.monotonic() + KEYS_FOR
        self._threads = ThreadPoolExecutor(THREADS, f"s3-{name}")
        self._client: Any = None
        self._session: Any = None
        self._quick: QuickLines | None = None
        self._keys_now: Keys | None = None
        self._keys_until = 0.0
        self._ahead = timedelta(0)
        self._opening = threading.Lock()

    async def head(self, key: str, version: str | None = None, *, tags: bool = True) -> Object:
        headers = await self._headers(key, version)
        self._ahead = clock_ahead(headers, datetime.now(UTC))
        found = await self._tags(key, version) if tags and tag_count(headers) else {}
        made = object_of(self.name, self.bucket, key, headers, found)
        return made if made.version or version is None else replace(made, version=version)

    async def _headers(self, key: str, version: str | None) -> Mapping[str, str]:
        await self._opened()
        keys = await self._keys()
        if keys is not None and self._quick is not None:
            quick = await self._quick.head(key, version, keys)
            if quick is not None:
                return quick
        told = await self._call("head_object", key, version, Key=key, **_version(version))
        headers: Mapping[str, str] = told["ResponseMetadata"]["HTTPHeaders"]
        return headers

    async def _keys(self) -> Keys | None:
        """Those that are good for now; they are looked up anew every minute, for they may run out."""
        now = time.monotonic()
        if now >= self._keys_until:
            loop = asyncio.get_running_loop()
            self._keys_now = await loop.run_in_executor(self._threads, self._frozen)
            self._keys_until = now + KEYS_FOR
        return self._keys_now

    def _frozen(self) -> Keys | None:
        found = self._session.get_credentials()
        if found is None:
            return None
        frozen = found.get_frozen_credentials()
        return Keys(frozen.access_key, frozen.secret_key, frozen.token)

    async def _tags(self, key: str, version: str | None) -> dict[str, str]:
        answer = await self._call("get_object_tagging", key, version, Key=key, **_version(version))
        return {each["Key"]: each["Value"] for each in answer["TagSet"]}

    async def pages(self, prefix: str = "", after: str = "") -> AsyncIterator[list[Listed]]:
        token: dict[str, str] = {"start-after": after} if after else {}
        while True:
            page = await self._page(prefix, token)
            yield page.objects
            if page.token is None:
                return
            token = {"continuation-token": page.token}

    async def _page(self, prefix: str, token: Mapping[str, str]) -> Page:
        await self._opened()
        keys = await self._keys()
        if keys is not None and self._quick is not None:
            query = {
                "list-type": "2",
                "max-keys": str(PAGE),
                "prefix": prefix,
                "encoding-type": "url",
                **token,
            }
            body = await self._quick.listed(query, keys)
            page = None if body is None else read_page(body)
            if page is not None:
                return page
        said = {_WORDS[name]: value for name, value in token.items()}
        answer = await self._call("list_objects_v2", "", None, Prefix=prefix, MaxKeys=PAGE, **said)
        found = [
            Listed(
                each["Key"],
                each["Size"],
                each.get("ETag", "").strip('"'),
                each["LastModified"],
                each.get("StorageClass"),
            )
            for each in answer.get("Contents", ())
            if not is_drawn_folder(each["Key"], each["Size"])
        ]
        return Page(found, answer["NextContinuationToken"] if answer.get("IsTruncated") else None)

    async def put_tags(self, key: str, tags: Mapping[str, str], version: str | None = None) -> None:
        validate_tags(tags)
        tagging = {"TagSet": [{"Key": name, "Value": value} for name, value in tags.items()]}
        try:
            await self._call(
                "put_object_tagging", key, version, Key=key, Tagging=tagging, **_version(version)
            )
        except (ObjectStoreAway, ObjectRefused):
            await self.head(key, version, tags=False)  # some have no word for tags of what is not there
            raise

    async def put_metadata(self, found: Object, metadata: Mapping[str, str]) -> Object:
        key, version = found.key, found.version
        if (found.size or 0) > MAX_COPY and self._is_amazon():
            raise ObjectRefused(
                f"{self.bucket}/{key} is larger than 5 GB, and Amazon S3 copies no more at once: its metadata stays; "
                "write tags instead"
            )
        told = await self._call("head_object", key, version, Key=key, **_version(version))
        source: dict[str, str] = {"Bucket": self.bucket, "Key": key, **_version(version)}
        answer = await self._call(
            "copy_object",
            key,
            version,
            Key=key,
            CopySource=source,
            MetadataDirective="REPLACE",
            TaggingDirective="COPY",
            Metadata=dict(metadata),
            CopySourceIfMatch=found.etag,
            **{name: told[name] for name in _COPIED_FIELDS if name in told},
        )
        return await self.head(key, real_version(answer.get("VersionId")))

    def _is_amazon(self) -> bool:
        return self._endpoint is None or ".amazonaws.com" in self._endpoint

    def now(self) -> datetime:
        return datetime.now(UTC) + self._ahead

    async def presign(self, key: str, access: Access, expires: timedelta, version: str | None = None) -> str:
        if not timedelta(seconds=1) <= expires <= MAX_PRESIGN:
            raise ObjectRefused("an address of an object can be good for a second up to 7 days, not longer")
        method = "get_object" if access == "read" else "put_object"
        what = {"Bucket": self.bucket, "Key": key, **(_version(version) if access == "read" else {})}
        client = await self._opened()
        sign = partial(
            client.generate_presigned_url, method, Params=what, ExpiresIn=int(expires.total_seconds())
        )
        return str(await self._in_thread(sign, key, version))

    async def check(self) -> None:
        await self._call("list_objects_v2", "", None, MaxKeys=1)

    async def close(self) -> None:
        if self._quick is not None:
            await self._quick.close()
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._client is not None:
            self._client.close()

    # -- the way -------------------------------------------------------------------------------------------

    async def _call(self, operation: str, key: str, version: str | None, **what: Any) -> Any:
        client = await self._opened()
        return await self._in_thread(
            partial(getattr(client, operation), Bucket=self.bucket, **what), key, version
        )

    async def _in_thread(self, work: Callable[[], Any], key: str, version: str | None) -> Any:
        from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError

        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except ParamValidationError as error:
            raise ObjectRefused(f"{self.bucket}/{key}: {_one_line(error)}") from None
        except ClientError as error:
            if key and error.response["Error"].get("Code") in _CLOSED:
                await self.check()  # where that is refused too, it is not about this object
            raise self._error_of(error.response, key, version) from None
        except BotoCoreError as error:
            raise ObjectStoreAway(self.name, self._why(error)) from None

    def _error_of(self, response: Mapping[str, Any], key: str, version: str | None) -> Exception:
        """What an answer that is none says."""
        code, message = str(response["Error"].get("Code")), str(response["Error"].get("Message"))
        if key and code in _GONE:
            return ObjectGone(self.bucket, key, version)
        if code in ("412", "PreconditionFailed"):
            return ObjectRefused(f"{self.bucket}/{key} was replaced by somebody else meanwhile")
        if key and (code in _CLOSED or code in _REFUSED):
            hint = f"; {_CLOSED[code]}" if code in _CLOSED else ""
            return ObjectRefused(f"the store refuses this for {self.bucket}/{key}: {code}, {message}{hint}")
        if code in ("403", "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch"):
            return ObjectStoreAway(
                self.name, f"it does not let us in ({code}): check its keys and their rights"
            )
        if code == "NoSuchBucket" or (code == "404" and not key):
            return ObjectStoreAway(
                self.name, f"it has no bucket '{self.bucket}': make it, or correct the address"
            )
        return ObjectStoreAway(self.name, f"it answers {code}: {message}")

    def _why(self, error: Exception) -> str:
        if type(error).__name__ in ("NoCredentialsError", "PartialCredentialsError"):
            return (
                "no keys were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or access_key=${NAME}"
            )
        return _one_line(error)

    async def _opened(self) -> Any:
        if self._lookup is not None and time.monotonic() >= self._renew_at:
            await self._renew(self._lookup)
        if self._client is None:
            await asyncio.get_running_loop().run_in_executor(self._threads, self._open_once)
        return self._client

    async def _renew(self, lookup: Lookup) -> None:
        """Somebody may have set other keys since it was opened. Raises BadStore."""
        self._renew_at = (
            time.monotonic() + KEYS_FOR
        )  # first: others go on meanwhile with those that there are
        with suppress(StoreError):
            found = await lookup()
            if found != self._credentials:
                self._credentials, self._client, self._keys_until = found, None, 0.0

    def _open_once(self) -> None:
        with self._opening:
            if self._client is None:
                client = self._opened_client()
                if self._quick is None and self._style != "virtual":
                    self._quick = QuickLines(client.meta.endpoint_url, self.bucket, client.meta.region_name)
                self._client = client

    def _opened_client(self) -> Any:
        try:
            from botocore.exceptions import BotoCoreError
        except ImportError:
            raise BadStore(self.name, "needs boto3: install it with `pip install 'penstock[s3]'`") from None
        try:
            return self._open()
        except (
            BotoCoreError,
            ValueError,
        ) as error:  # by its environment: AWS_REGION, AWS_PROFILE, ~/.aws/config
            raise BadStore(self.name, f"cannot be opened as it is set up: {_one_line(error)}") from None

    def _open(self) -> Any:
        import boto3
        from botocore.config import Config

        keys = self._credentials
        session = self._session = boto3.session.Session(
            aws_access_key_id=keys.access_key,
            aws_secret_access_key=keys.secret_key,
            aws_session_token=keys.session_token,
        )
        config = Config(
            connect_timeout=5,
            read_timeout=30,
            retries={"mode": "standard", "max_attempts": 3},
            max_pool_connections=THREADS,
            signature_version="s3v4",
            s3={"addressing_style": self._style},
            request_checksum_calculation="when_required",  # others than Amazon do not know the new ones
            response_checksum_validation="when_required",
        )
        region = self._region or session.region_name or "us-east-1"
        return session.client("s3", endpoint_url=self._endpoint, region_name=region, config=config)


def _version(version: str | None) -> dict[str, str]:
    return {} if version is None else {"VersionId": version}


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]

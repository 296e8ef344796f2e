"""Amazon's certificates: fetched once, and trusted only if a chain leads to a known root."""

from __future__ import annotations

import asyncio
import re
import ssl
import warnings
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.x509.oid import AuthorityInformationAccessOID
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError

from penstock.sources.errors import CertificateAway, Untrusted

Fetch = Callable[[str], Awaitable[bytes]]
"""The content of an address. Raises OSError if it is unavailable."""

RETENTION = timedelta(days=1)
MAX_CERTIFICATES = 16
"""Certificates that are remembered: one a region is in use at a time."""

_NAME = re.compile(r"sns(-signing)?([.-][a-z0-9-]+)?\.amazonaws\.com(\.cn)?")
_BLOCK = re.compile(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.S)
_AMAZON = re.compile(r"\bO=(Amazon|Starfield Technologies\\, Inc\.)")
_ISSUER_HOST = re.compile(r"[a-z0-9.-]+\.amazontrust\.com")


class Certificates:
    """Keys to check signatures with, by the address of their certificate."""

    def __init__(self, fetch: Fetch, roots: Sequence[x509.Certificate]) -> None:
        self._fetch = fetch
        self._roots = list(roots)
        self._keys: dict[str, tuple[RSAPublicKey, datetime]] = {}
        self._fetching = asyncio.Lock()

    async def key(self, url: str, now: datetime) -> RSAPublicKey:
        """The key of the certificate at an address that was found to be Amazon's. Raises Untrusted, CertificateAway."""
        # Before the line: who makes us fetch what leads nowhere must not hold up letters whose key is known.
        if (known := self._known(url, now)) is not None:
            return known
        async with self._fetching:  # a burst of calls fetches it once
            return self._known(url, now) or await self._fetched(url, now)

    def _known(self, url: str, now: datetime) -> RSAPublicKey | None:
        key, until = self._keys.get(url, (None, now))
        return key if now < until else None

    async def _fetched(self, url: str, now: datetime) -> RSAPublicKey:
        try:
            leaf, others = _read(await self._fetch(url))
            if not others:
                others = await self._issuers(leaf)
        except OSError as error:
            raise CertificateAway(type(error).__name__) from error
        key = self._checked(leaf, others, now)
        while len(self._keys) >= MAX_CERTIFICATES:
            del self._keys[next(iter(self._keys))]
        self._keys[url] = key, min(now + RETENTION, leaf.not_valid_after_utc)
        return key

    async def _issuers(self, leaf: x509.Certificate) -> list[x509.Certificate]:
        """Amazon's file has the certificate alone: its issuer is at an address in it, and checked like it."""
        for url in _issuer_addresses(leaf):
            parts = urlsplit(url)
            if parts.scheme in ("http", "https") and _ISSUER_HOST.fullmatch(parts.netloc):
                return [_certificate(await self._fetch(url))]
        return []

    def _checked(
        self, leaf: x509.Certificate, others: Sequence[x509.Certificate], now: datetime
    ) -> RSAPublicKey:
        names = [name for name in _names(leaf) if _NAME.fullmatch(name)]
        key = leaf.public_key()
        if not names or not isinstance(key, RSAPublicKey) or not self._roots:
            raise _refused()
        policy = PolicyBuilder().store(Store(self._roots)).time(now)
        try:
            policy.build_server_verifier(x509.DNSName(names[0])).verify(leaf, list(others))
        except VerificationError:
            raise _refused() from None
        return key


def system_roots() -> list[x509.Certificate]:
    """Amazon's roots, of those that this machine believes in; none where it has no file of them."""
    file = ssl.get_default_verify_paths().cafile
    return amazon_roots(Path(file).read_bytes()) if file and Path(file).exists() else []


def amazon_roots(bundle: bytes) -> list[x509.Certificate]:
    """Amazon's own among many roots: no other authority may sign for SNS."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some old root of somebody else is not quite as it should be
        found = [_certificate(block) for block in _BLOCK.findall(bundle)]
    return [root for root in found if _AMAZON.search(root.subject.rfc4514_string())]


def _refused() -> Untrusted:
    return Untrusted("certificate", "the certificate of the message was not made by an authority we know")


def _read(pem: bytes) -> tuple[x509.Certificate, list[x509.Certificate]]:
    try:
        leaf, *others = x509.load_pem_x509_certificates(pem)
    except ValueError:
        raise _refused() from None
    return leaf, others


def _certificate(data: bytes) -> x509.Certificate:
    try:
        pem = data.lstrip().startswith(b"-----BEGIN")
        return x509.load_pem_x509_certificate(data) if pem else x509.load_der_x509_certificate(data)
    except ValueError:
        raise _refused() from None


def _names(leaf: x509.Certificate) -> list[str]:
    try:
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return []
    return names.get_values_for_type(x509.DNSName)


def _issuer_addresses(leaf: x509.Certificate) -> list[str]:
    try:
        access = leaf.extensions.get_extension_for_class(x509.AuthorityInformationAccess).value
    except (x509.ExtensionNotFound, ValueError):
        return []
    return [
        each.access_location.value
        for each in access
        if each.access_method == AuthorityInformationAccessOID.CA_ISSUERS
        and isinstance(each.access_location, x509.UniformResourceIdentifier)
    ]

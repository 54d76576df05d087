"""Signs requests as docs/signing.md describes: RFC 9421 in one fixed format, with Ed25519 (RFC 8032)."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from .errors import VaultError

_LIFETIME_SECONDS = 300
_DEFAULT_PORTS = {"http": 80, "https": 443}
# Narrow on purpose: no character of these can end a header or forge a line of the signature base.
_PROJECT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_HOST = re.compile(r"[a-z0-9._-]{1,253}|[0-9a-f:.]*:[0-9a-f:.]*")

# An Ed25519 PrivateKeyInfo up to the 32 bytes of the seed (RFC 8410 section 7), and the same with a public key after
# the seed (RFC 8410 section 10.3), which some versions of OpenSSL do not read.
_PKCS8 = bytes.fromhex("302e020100300506032b657004220420")
_PKCS8_WITH_PUBLIC_KEY = bytes.fromhex("3051020101300506032b657004220420")
_PEM = re.compile(r"-----BEGIN PRIVATE KEY-----\s+([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----")


@dataclass(frozen=True)
class Origin:
    """The scheme, host and port of a vault."""

    scheme: str
    host: str
    """In lower case; an IPv6 address is without brackets."""
    port: int

    @property
    def authority(self) -> str:
        """The host, with its port unless it is the default (RFC 9421 section 2.2.3)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


def read_origin(url: str) -> Origin:
    """Parses the URL of a vault.

    :raises VaultError: ``invalid_configuration`` if it is not an HTTP URL of a host and an optional port
    """
    try:
        parts = urlsplit(url.strip() if isinstance(url, str) else "")
        scheme, host, port = parts.scheme, parts.hostname or "", parts.port
    except ValueError:
        scheme, host, port, parts = "", "", None, urlsplit("")
    if scheme not in _DEFAULT_PORTS:
        raise VaultError("invalid_configuration", "the URL of the vault must begin with http:// or https://")
    if parts.username is not None or parts.path not in ("", "/") or parts.query or parts.fragment:
        text = "the URL of the vault must be a scheme, a host and an optional port, without a path or credentials"
        raise VaultError("invalid_configuration", text)
    if not _HOST.fullmatch(host) or port == 0:
        text = "the URL of the vault has no valid host; write international names in their ASCII form (xn--…)"
        raise VaultError("invalid_configuration", text)
    return Origin(scheme, host, port or _DEFAULT_PORTS[scheme])


def check_project(name: str) -> str:
    """:raises VaultError: ``invalid_configuration`` if no project can have this name"""
    if not isinstance(name, str) or not _PROJECT.fullmatch(name):
        raise VaultError("invalid_configuration", "the name of the project is not set or not valid")
    return name


class SigningKey:
    """An Ed25519 private key. Its representation shows the public half only."""

    def __init__(self, text: str) -> None:
        """Reads a JWK (RFC 8037), a PKCS#8 PEM, or the 64 hex digits of a seed.

        :raises VaultError: ``invalid_configuration``, also if the halves of a JWK do not belong together
        """
        seed, stated = _read_key(text.strip()) if isinstance(text, str) else (b"", None)
        if len(seed) != 32:
            raise _not_a_key()
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        public = self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        if stated not in (None, public):
            raise _not_a_key()
        self.public_key = public.hex()
        """64 lower-case hex digits."""

    def sign(self, message: bytes) -> bytes:
        """Returns the 64 bytes of the signature (RFC 8032 section 5.1.6)."""
        return self._key.sign(message)

    def __repr__(self) -> str:
        return f"SigningKey(public_key={self.public_key!r})"


def _not_a_key() -> VaultError:
    text = "the private key is not an Ed25519 key: a JWK with d and x, 64 hex digits or a PKCS#8 PEM"
    return VaultError("invalid_configuration", text)


def _read_key(text: str) -> tuple[bytes, bytes | None]:
    """Returns the seed, and the public key that a JWK states. The seed of anything else is not 32 bytes long."""
    if re.fullmatch(r"[0-9A-Fa-f]{64}", text):
        return bytes.fromhex(text), None
    if pem := _PEM.fullmatch(text):
        return _seed_of_pkcs8(_decode(re.sub(r"\s", "", pem[1]))), None
    try:
        jwk = json.loads(text)
    except (ValueError, RecursionError):
        return b"", None
    if not isinstance(jwk, dict) or (jwk.get("kty"), jwk.get("crv")) != ("OKP", "Ed25519"):
        return b"", None
    return _bytes_of(jwk.get("d")), _bytes_of(jwk.get("x"))


def _bytes_of(value: object) -> bytes:
    """Decodes 32 bytes of base64url, which has no padding in a JWK (RFC 7515 section 2)."""
    is_encoded = isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9_-]{43}", value)
    return base64.urlsafe_b64decode(f"{value}=") if is_encoded else b""


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return b""


def _seed_of_pkcs8(der: bytes) -> bytes:
    rest = der[len(_PKCS8) :]
    is_alone = der.startswith(_PKCS8) and len(rest) == 32
    is_pair = der.startswith(_PKCS8_WITH_PUBLIC_KEY) and rest[32:35] == b"\x81\x21\x00" and len(rest) == 67
    return rest[:32] if is_alone or is_pair else b""


def signature_base(lines: list[tuple[str, str]], parameters: str) -> str:
    """The text to sign: one line per component, then the parameters, without a final newline (RFC 9421 section 2.5)."""
    return "".join(f'"{name}": {value}\n' for name, value in lines) + f'"@signature-params": {parameters}'


def sign_request(
    key: SigningKey,
    project: str,
    origin: Origin,
    method: str,
    target: str,
    body: bytes | None,
    *,
    created: int,
    nonce: str,
) -> dict[str, str]:
    """Returns the headers to send with a request (RFC 9421 section 3.1), with Content-Digest (RFC 9530) for a body.

    :param method: in upper case
    :param target: path and query exactly as sent, percent-encoded
    :param created: now, in whole seconds since 1970
    :param nonce: 32 hex digits from a secure random source, used only once
    """
    headers = {}
    lines = [
        ("@method", method),
        ("@authority", origin.authority),
        ("@target-uri", f"{origin.scheme}://{origin.authority}{target}"),
    ]
    if body is not None:
        headers["Content-Digest"] = f"sha-256=:{_base64(hashlib.sha256(body).digest())}:"
        lines.append(("content-digest", headers["Content-Digest"]))
    agent = f"{project}.agents.vault.local"
    names = " ".join(f'"{name}"' for name, _ in lines)
    parameters = f'({names});created={created};expires={created + _LIFETIME_SECONDS};nonce="{nonce}";keyid="{agent}"'
    signature = key.sign(signature_base(lines, parameters).encode())
    return headers | {
        "Signature-Input": f"sig1={parameters}",
        "Signature": f"sig1=:{_base64(signature)}:",
        "Signature-Agent": f'sig1={agent};pubkey="{key.public_key}"',
    }


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()

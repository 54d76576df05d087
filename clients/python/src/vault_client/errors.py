"""The error of this package, and its messages."""

from __future__ import annotations

import re

# Codes that the vault sends without a message.
_REMEDIES = {
    "missing_signature": "the vault received no signature; check whether a proxy removes the Signature headers",
    "unknown_project": "the vault has no project with this name; ask an administrator to register it",
    "invalid_signature": "the vault refused the signature; the private key does not belong to a registered public key,"
    " or it was replaced, revoked or expired",
    "expired": "this machine's clock and the vault's differ by more than five minutes",
    "replayed_nonce": "the vault has received this request before",
    "rate_limited": "too many requests or failures from this address, or writes of this project; try again later",
}

_CODE = re.compile(r"[a-z]+(_[a-z]+)*")
# What the vault adds to invalid_signature, in WWW-Authenticate.
_DESCRIPTION = re.compile(r'\berror_description="([^"\\]*)"')
_MAX_QUOTED = 500
_PLAUSIBLE_SKEW = 60


class VaultError(Exception):
    """A request that the vault refused, or that failed.

    The message never contains the private key or the value of a secret.
    """

    code: str
    """A code of the vault's error table, or one of this client: ``unknown_host``, ``connection_refused``,
    ``tls_failed``, ``unreachable``, ``timeout``, ``invalid_answer`` and ``invalid_configuration``."""
    status: int | None
    """The HTTP status, or None if there was no response."""
    retry_after: float | None
    """The time from Retry-After, in seconds."""
    clock_difference: float | None
    """For ``expired``: how far this machine's clock is ahead of the vault's, in seconds; negative if it is behind."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        clock_difference: float | None = None,
    ) -> None:
        # Both are arguments, so that the error can be pickled.
        super().__init__(code, message)
        self.code = code
        self.status = status
        self.retry_after = retry_after
        self.clock_difference = clock_difference

    def __str__(self) -> str:
        return str(self.args[1])


def error_of_answer(
    status: int,
    body: object,
    retry_after: float | None,
    clock_difference: float | None,
    challenge: str | None,
) -> VaultError:
    """Creates the error for an unsuccessful response with this JSON body and WWW-Authenticate."""
    members = body if isinstance(body, dict) else {}
    code, message = members.get("error"), members.get("message")
    if not isinstance(code, str) or not _CODE.fullmatch(code):
        text = f"the server returned {status} with an unexpected body; check the URL of the vault"
        return VaultError("invalid_answer", text, status=status, retry_after=retry_after)
    difference = clock_difference if code == "expired" else None
    description = _DESCRIPTION.search(challenge or "")
    if description is not None:
        text = f"the vault refused the signature: {description[1][:_MAX_QUOTED]}"
    elif difference is not None and abs(difference) >= _PLAUSIBLE_SKEW:
        side = "behind" if difference < 0 else "ahead of"
        text = (
            f"this machine's clock is {_duration(abs(difference))} {side} the vault's;"
            " signatures are accepted within five minutes"
        )
    elif code == "rate_limited" and retry_after is not None:
        text = _REMEDIES[code].replace("later", f"in {_duration(retry_after)}")
    elif code in _REMEDIES:
        text = _REMEDIES[code]
    else:
        text = f"the vault returned {status} {code[:_MAX_QUOTED]}"
        text += f": {message[:_MAX_QUOTED]}" if isinstance(message, str) else ""
    return VaultError(code, text, status=status, retry_after=retry_after, clock_difference=difference)


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole >= 48 * 3600:
        return f"{whole // 86400} days"
    if whole >= 3600:
        return f"{whole // 3600} h {whole // 60 % 60} min"
    return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{whole} s"

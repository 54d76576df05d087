"""Takes the steps of a call, with blocking sockets or with asyncio.

A request is sent with HTTP/1.1 on a connection of its own, and its whole response is read within a time and a size.
For asyncio, a blocking request in a thread would be shorter, but cancelling it would leave the thread and its
connection behind for as long as the vault takes to answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import io
import json
import socket
import ssl
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar, cast

from .errors import VaultError, error_of_answer
from .signing import Origin

_CHUNK = 65_536


@dataclass(frozen=True)
class Request:
    """A signed request. It is sent once, because its nonce is accepted once."""

    origin: Origin
    method: str
    target: str
    headers: dict[str, str]
    body: bytes | None = field(repr=False)
    timeout: float
    """Limit in seconds up to the last byte of the response. With asyncio, it includes the resolution of the name."""
    max_bytes: int
    """Limit for the response with its headers."""
    tls: ssl.SSLContext | None

    def encode(self) -> bytes:
        headers = {"Host": self.origin.authority, "Connection": "close", "Accept": "application/json"}
        headers |= {"User-Agent": "vault-client-python"} | self.headers
        if self.body is not None:
            headers |= {"Content-Type": "application/json", "Content-Length": str(len(self.body))}
        lines = [f"{self.method} {self.target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        return "\r\n".join([*lines, "", ""]).encode("ascii") + (self.body or b"")


T = TypeVar("T")
Steps = Generator[Request | float, Any, T]
"""Yields a request to send or seconds to wait, and receives the JSON of the response or a VaultError."""


def run(steps: Steps[T]) -> T:
    """Takes all steps and returns their result."""
    try:
        step = next(steps)
        while True:
            try:
                answer = _take(step)
            except VaultError as error:
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as end:
        return cast(T, end.value)


async def run_async(steps: Steps[T]) -> T:
    """The same for asyncio."""
    try:
        step = next(steps)
        while True:
            try:
                answer = await _take_async(step)
            except VaultError as error:
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as end:
        return cast(T, end.value)


def _take(step: Request | float) -> Any:
    if not isinstance(step, Request):
        time.sleep(step)
        return None
    return read_answer(_exchange(step), time.time())


async def _take_async(step: Request | float) -> Any:
    if not isinstance(step, Request):
        await asyncio.sleep(step)
        return None
    with _failures(step.origin):
        raw = await asyncio.wait_for(_exchange_async(step), step.timeout)
    return read_answer(raw, time.time())


def _exchange(request: Request) -> bytearray:
    deadline = time.monotonic() + request.timeout
    raw = bytearray()
    with _failures(request.origin), contextlib.closing(_connect(request, deadline)) as sock:
        # A vault that refuses a long body may close before it has read all of it.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            sock.sendall(request.encode())
        while True:
            sock.settimeout(_left(deadline))
            chunk = sock.recv(_CHUNK)
            if not chunk:
                return raw
            _append(raw, chunk, request.max_bytes)


def _connect(request: Request, deadline: float) -> socket.socket:
    addresses = socket.getaddrinfo(request.origin.host, request.origin.port, type=socket.SOCK_STREAM)
    failure: OSError = OSError("no address")
    for i, (family, kind, protocol, _, address) in enumerate(addresses):
        sock = socket.socket(family, kind, protocol)
        try:
            # An address that does not respond leaves time for the others.
            sock.settimeout(_left(deadline) / (len(addresses) - i))
            sock.connect(address)
            sock.settimeout(_left(deadline))
            return sock if request.tls is None else request.tls.wrap_socket(sock, server_hostname=request.origin.host)
        except ssl.SSLError:
            sock.close()
            raise
        except OSError as error:
            sock.close()
            failure = error
    raise failure


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


async def _exchange_async(request: Request) -> bytearray:
    sock = await _connect_async(request)
    try:
        hostname = None if request.tls is None else request.origin.host
        reader, writer = await asyncio.open_connection(sock=sock, ssl=request.tls, server_hostname=hostname)
    except BaseException:
        sock.close()
        raise
    try:
        writer.write(request.encode())
        raw = bytearray()
        while chunk := await reader.read(_CHUNK):
            _append(raw, chunk, request.max_bytes)
        return raw
    finally:
        writer.transport.abort()


async def _connect_async(request: Request) -> socket.socket:
    loop = asyncio.get_running_loop()
    addresses = await loop.getaddrinfo(request.origin.host, request.origin.port, type=socket.SOCK_STREAM)
    failure: OSError = OSError("no address")
    for family, kind, protocol, _, address in addresses:
        sock = socket.socket(family, kind, protocol)
        sock.setblocking(False)
        try:
            await asyncio.wait_for(loop.sock_connect(sock, address), request.timeout / len(addresses))
            return sock
        except (OSError, asyncio.TimeoutError) as error:
            sock.close()
            failure = error if isinstance(error, OSError) else TimeoutError()
        except BaseException:
            sock.close()
            raise
    raise failure


def _append(raw: bytearray, chunk: bytes, max_bytes: int) -> None:
    raw += chunk
    if len(raw) > max_bytes:
        text = f"the response of the vault is longer than {max_bytes} bytes; increase max_response_bytes to accept it"
        raise VaultError("invalid_answer", text)


_FAILURES: tuple[tuple[type[Exception] | tuple[type[Exception], ...], str, str], ...] = (
    # Before Python 3.11, asyncio has its own.
    ((TimeoutError, asyncio.TimeoutError), "timeout", "did not respond in time"),
    # A label of a name that is empty or too long is a UnicodeError.
    ((socket.gaierror, UnicodeError), "unknown_host", "has a name that does not resolve"),
    (ConnectionRefusedError, "connection_refused", "refuses connections; check that it is running"),
    (ssl.SSLError, "tls_failed", "has no trusted TLS certificate, or does not use TLS"),
    (OSError, "unreachable", "cannot be reached"),
)


@contextlib.contextmanager
def _failures(origin: Origin) -> Iterator[None]:
    """Turns the failures of a connection into errors of this package."""
    try:
        yield
    except (OSError, asyncio.TimeoutError, UnicodeError) as error:
        code, text = next((code, text) for kind, code, text in _FAILURES if isinstance(error, kind))
        raise VaultError(code, f"the vault at {origin.authority} {text}") from error


class _Received:
    """What http.client needs of a socket."""

    def __init__(self, raw: bytes | bytearray) -> None:
        self._raw = raw

    def makefile(self, _mode: str) -> io.BytesIO:
        return io.BytesIO(self._raw)


def read_answer(raw: bytes | bytearray, now: float) -> Any:
    """Parses a whole HTTP response, and the JSON of its body.

    Causes are left out: those of http.client and json contain the response, and with it values.

    :param now: the local time in seconds, to compare with the Date of the response
    :raises VaultError: for a response without success
    """
    response = http.client.HTTPResponse(cast(socket.socket, _Received(raw)))
    try:
        response.begin()
        content = response.read()
        complete, is_http = True, True
    except http.client.HTTPException as error:
        complete, is_http = False, isinstance(error, (http.client.RemoteDisconnected, http.client.IncompleteRead))
    if not is_http:
        raise VaultError("invalid_answer", "the server does not speak HTTP/1.1; check the URL of the vault")
    if not complete:
        raise VaultError("unreachable", "the vault closed the connection before the end of its response")

    status = response.status
    if 300 <= status < 400:
        # A signature is valid for one address.
        text = "the vault redirects to another address; redirects are not followed, so use that address as the URL"
        raise VaultError("invalid_answer", text, status=status)
    try:
        body = json.loads(content.decode())
        is_json = True
    except (ValueError, RecursionError):
        body, is_json = None, False
    if 200 <= status < 300:
        if is_json:
            return body
        raise VaultError("invalid_answer", "the response is not JSON; check the URL of the vault", status=status)
    date = _seconds_of_date(response.getheader("Date"))
    retry_after = _read_retry_after(response.getheader("Retry-After"), now)
    difference = None if date is None else now - date
    raise error_of_answer(status, body, retry_after, difference, response.getheader("WWW-Authenticate"))


def _seconds_of_date(text: str | None) -> float | None:
    try:
        return None if text is None else parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _read_retry_after(text: str | None, now: float) -> float | None:
    """Reads seconds or a date (RFC 9110 section 10.2.3)."""
    if text is not None and text.isascii() and text.isdigit():
        return min(float(text[:10]), 999_999_999.0)
    date = _seconds_of_date(text)
    return None if date is None else max(0.0, date - now)

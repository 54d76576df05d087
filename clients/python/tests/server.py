"""A server that gives scripted answers, byte by byte, and remembers the requests."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from email.utils import formatdate
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

Answer = bytes | Callable[[socket.socket], None]


class Server:
    def __init__(self, family: socket.AddressFamily = socket.AF_INET, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[str] = []
        """The requests so far, with their bodies."""
        self.answers: list[Answer] = []
        """The answers to the next requests. Without one, the connection is closed."""
        self.closed = threading.Event()
        """Set when a client closed the connection of an answer that waits for that."""
        self._socket = socket.socket(family)
        self._socket.bind(("127.0.0.1" if family == socket.AF_INET else "::1", 0))
        self._socket.listen(20)
        self.port: int = self._socket.getsockname()[1]
        host = "127.0.0.1" if family == socket.AF_INET else "[::1]"
        self.url = f"{'http' if tls is None else 'https'}://{host}:{self.port}"
        self._tls = tls
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def wait_for_end(self, connection: socket.socket) -> None:
        """An answer that never comes."""
        with contextlib.suppress(OSError):
            connection.recv(1)
        self.closed.set()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, plain: socket.socket) -> None:
        with plain, contextlib.suppress(OSError):
            if self._tls is None:
                self._answer_to(plain)
                return
            with self._tls.wrap_socket(plain, server_side=True) as connection:
                self._answer_to(connection)
                connection.unwrap().close()

    def _answer_to(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            request = b""
            while b"\r\n\r\n" not in request:
                chunk = connection.recv(65_536)
                if not chunk:
                    return
                request += chunk
            head, _, body = request.partition(b"\r\n\r\n")
            length = next((int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length:")), 0)
            while len(body) < length:
                body += connection.recv(65_536)
            self.requests.append((head + b"\r\n\r\n" + body).decode())
            answer = self.answers.pop(0) if self.answers else b""
            if isinstance(answer, bytes):
                connection.sendall(answer)
            else:
                answer(connection)


@contextlib.contextmanager
def serving(
    *answers: Answer, family: socket.AddressFamily = socket.AF_INET, tls: ssl.SSLContext | None = None
) -> Iterator[Server]:
    server = Server(family, tls)
    server.answers.extend(answers)
    try:
        yield server
    finally:
        server.close()


def answer(body: object, status: int = 200, *headers: str, ahead: float = 0.0) -> bytes:
    """An HTTP response. Bytes are sent as they are, anything else as JSON.

    :param ahead: seconds by which the server's clock, and its Date, are ahead
    """
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    date = formatdate(time.time() + ahead, usegmt=True)
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(content)}", f"Date: {date}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + content


def certificate(file: Path) -> None:
    """Writes a self-signed certificate for 127.0.0.1 with its key."""
    key = Ed25519PrivateKey.generate()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "vault")])
    now = datetime.now(timezone.utc)
    address = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    signed = builder.serial_number(1).add_extension(address, critical=False).sign(key, None)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(private + signed.public_bytes(Encoding.PEM))

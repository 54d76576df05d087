"""The client for blocking programs and the one for asyncio. They differ only in how they take the steps of a call."""

from __future__ import annotations

import functools
import json
import math
import os
import random
import secrets as randomness
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import quote

from .errors import VaultError
from .exchange import Request, Steps, run, run_async
from .signing import SigningKey, check_project, read_origin, sign_request
from .watch import State, Update, Watching

C = TypeVar("C", bound="_Client")

_DEFAULT_ENV = "production"
_FIRST_WAIT = 0.2
_RETRIED_STATUSES = {429, 502, 503, 504}
_RETRIED_CODES = {"unknown_host", "connection_refused", "unreachable", "timeout"}
# How long the vault may wait before it answers that nothing changed.
_LONG_POLL = 30.0


class _Client:
    def __init__(
        self,
        url: str,
        project: str,
        private_key: str | None = None,
        *,
        private_key_file: str | os.PathLike[str] | None = None,
        env: str = _DEFAULT_ENV,
        timeout: float = 10.0,
        retries: int = 3,
        max_wait: float = 20.0,
        max_response_bytes: int = 16 * 1024**2,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """Creates a client. It opens no connection, and may be shared between threads.

        :param url: URL of the vault, for example ``https://vault.example.org``
        :param private_key: a JWK JSON string, a PKCS#8 PEM, or the 64 hex digits of the seed
        :param private_key_file: a file with one of these instead. It is read again before each request, so that the
            client picks up a replaced key
        :param env: the environment of calls that do not name one
        :param timeout: limit in seconds for each attempt
        :param retries: further attempts after no response, 429, 502, 503 or 504
        :param max_wait: longest wait in seconds before an attempt; a longer Retry-After fails at once
        :param max_response_bytes: longest response, with its headers; raise it with the vault's MAX_ENVIRONMENT_BYTES
        :param ssl_context: replaces the context with the certificate authorities of the system
        :raises VaultError: ``invalid_configuration``
        """
        self._origin = read_origin(url)
        self._project = check_project(project)
        if (private_key is None) == (private_key_file is None):
            raise VaultError("invalid_configuration", "exactly one of private_key and private_key_file is required")
        positive = {"timeout": timeout, "max_response_bytes": float(max_response_bytes)}
        for name, number in {**positive, "retries": float(retries), "max_wait": max_wait}.items():
            if not number >= 0 or (number == 0 and name in positive):
                raise VaultError("invalid_configuration", f"{name} is out of range")
        self._file = private_key_file
        self._key = SigningKey(private_key) if private_key is not None else _key_of_file(private_key_file)
        self._env, self._timeout, self._retries, self._max_wait = env, min(timeout, 86_400.0), retries, max_wait
        self._max_bytes = max_response_bytes
        self._tls = None
        if self._origin.scheme == "https":
            self._tls = ssl_context or ssl.create_default_context()

    @classmethod
    def from_env(cls: type[C], environ: Mapping[str, str] = os.environ, **options: Any) -> C:
        """Creates a client from the variables of the ``vault`` command.

        They are VAULT_URL, VAULT_PROJECT, VAULT_PRIVATE_KEY or VAULT_PRIVATE_KEY_FILE, and optionally VAULT_ENV and
        VAULT_MAX_RESPONSE_BYTES.

        :param options: further options of the constructor, which also replace variables
        :raises VaultError: ``invalid_configuration`` if a variable is missing, or VAULT_ENV is empty
        """
        given: dict[str, Any] = {name: environ.get(f"VAULT_{name.upper()}") for name in ("url", "project")}
        if not options.keys() & {"private_key", "private_key_file"}:
            name = "private_key" if environ.get("VAULT_PRIVATE_KEY") else "private_key_file"
            given[name] = environ.get(f"VAULT_{name.upper()}")
        missing = [f"VAULT_{name.upper()}" for name, value in given.items() if not value and name not in options]
        if missing:
            text = ", ".join(missing).replace("VAULT_PRIVATE_KEY_FILE", "VAULT_PRIVATE_KEY or VAULT_PRIVATE_KEY_FILE")
            raise VaultError("invalid_configuration", f"missing {text}; set these variables")
        if environ.get("VAULT_ENV") == "":
            raise VaultError("invalid_configuration", "VAULT_ENV is empty; set it or unset it")
        given["env"] = environ.get("VAULT_ENV", _DEFAULT_ENV)
        if limit := environ.get("VAULT_MAX_RESPONSE_BYTES"):
            given["max_response_bytes"] = int(limit) if limit.isascii() and limit.isdigit() else math.nan
        return cls(**(given | options))

    @property
    def public_key(self) -> str:
        """The public half of the key as 64 hex digits, as registered with the vault."""
        return self._key.public_key

    def __repr__(self) -> str:
        url = f"{self._origin.scheme}://{self._origin.authority}"
        return f"{type(self).__name__}(url={url!r}, project={self._project!r}, public_key={self.public_key!r})"

    def _call(self, method: str, path: str, body: bytes | None = None, *, patience: float = 0.0) -> Steps[Any]:
        """Sends a request, with retries, and returns the JSON of the response."""
        may_be_done = False
        for tried in range(self._retries + 1):
            try:
                return (yield self._signed(method, path, body, self._timeout + patience))
            except VaultError as error:
                # An earlier attempt deleted it, and its response was lost.
                if error.code == "not_found" and method == "DELETE" and may_be_done:
                    return {"ok": True}
                # The random part keeps many clients from retrying at once.
                wait = max(error.retry_after or 0.0, _FIRST_WAIT * 2**tried * random.uniform(0.5, 1))
                if tried == self._retries or wait > self._max_wait or not _is_retried(error):
                    raise
                may_be_done = may_be_done or _may_be_done(error)
            yield wait
        raise AssertionError("unreachable")

    def _signed(self, method: str, path: str, body: bytes | None, timeout: float) -> Request:
        # A pipe can be read only once.
        if self._file is not None and os.path.isfile(self._file):
            self._key = _key_of_file(self._file)
        headers = sign_request(
            *(self._key, self._project, self._origin, method, path, body),
            created=int(time.time()),
            nonce=randomness.token_hex(16),
        )
        return Request(self._origin, method, path, headers, body, timeout, self._max_bytes, self._tls)

    def _fetch(self, env: str | None) -> Steps[dict[str, str]]:
        path = f"/v1/secrets?env={_escaped(self._env if env is None else env)}"
        return _read_secrets((yield from self._call("GET", path)))

    def _put(self, key: str, value: str, env: str | None, references: bool) -> Steps[None]:
        body: dict[str, object] = {"key": key, "value": value, "env": self._env if env is None else env}
        if references:
            # An older vault refuses members that it does not know.
            body["references"] = True
        yield from self._call("PUT", "/v1/secrets", json.dumps(body).encode())

    def _delete(self, key: str, env: str | None) -> Steps[None]:
        env = self._env if env is None else env
        yield from self._call("DELETE", f"/v1/secrets?key={_escaped(key)}&env={_escaped(env)}")

    def _changes(self, env: str, since: str | None) -> Steps[State]:
        """Reads an environment as soon as it has another version than `since`, or after about 30 s (long poll)."""
        path = f"/v1/secrets/changes?env={_escaped(env)}&values=true"
        path += "" if since is None else f"&since={_escaped(since)}"
        try:
            body = yield from self._call("GET", path, patience=_LONG_POLL)
        except VaultError as error:
            # A vault without this endpoint takes the path for that of a secret, which cannot be read.
            if error.code not in ("not_found", "method_not_allowed"):
                raise
            return State(None, (yield from self._fetch(env)))
        version = body.get("version") if isinstance(body, dict) else None
        if not isinstance(version, (str, int)):
            raise VaultError("invalid_answer", "the response of the vault has no version")
        if "values" in body:
            return State(str(version), _read_secrets(body["values"]))
        return State(str(version), None if str(version) == since else (yield from self._fetch(env)))

    def _watching(
        self,
        env: str | None,
        known: Mapping[str, str] | None,
        interval: float,
        on_error: Callable[[VaultError], object] | None,
    ) -> Watching:
        name = self._env if env is None else env
        return Watching(functools.partial(self._changes, name), known, interval, on_error)


class VaultClient(_Client):
    """The secrets of one project, for programs that wait for each request.

    All methods raise :class:`VaultError`.
    """

    def fetch(self, env: str | None = None) -> dict[str, str]:
        """Returns all secrets of an environment by key."""
        return run(self._fetch(env))

    def get(self, key: str, env: str | None = None) -> str | None:
        """Returns the value of one secret, or None if the environment does not contain the key."""
        return self.fetch(env).get(key)

    def list_keys(self, env: str | None = None) -> list[str]:
        """Returns the keys of an environment, sorted. For the vault and its audit log this is a fetch."""
        return sorted(self.fetch(env))

    def put(self, key: str, value: str, env: str | None = None, *, references: bool = False) -> None:
        """Creates a secret or overwrites its value.

        :param references: the value contains references such as ``${KEY}`` or ``${project.environment.KEY}``, which the
            vault resolves when the secret is read
        """
        run(self._put(key, value, env, references))

    def delete(self, key: str, env: str | None = None) -> None:
        """Deletes a secret with all its versions.

        :raises VaultError: ``not_found`` if the environment does not contain the key
        """
        run(self._delete(key, env))

    def watch(
        self,
        env: str | None = None,
        *,
        known: Mapping[str, str] | None = None,
        interval: float = 30.0,
        on_error: Callable[[VaultError], object] | None = None,
    ) -> Iterator[Update]:
        """Yields the present secrets, and then each change until the caller stops iterating.

        Watching continues after errors. While the vault refuses the key (401 or 403), the waits double, up to five
        minutes.

        :param known: secrets to compare the first read with; if they are equal, it yields nothing
        :param interval: longest wait in seconds after other errors, and the time between reads of an older vault, which
            cannot report changes
        :param on_error: receives errors, without repetitions; by default they go to the logger ``vault_client``
        """
        watching = self._watching(env, known, interval, on_error)
        while True:
            yield run(watching.next())


class AsyncVaultClient(_Client):
    """The same for asyncio. Cancelling a call closes its connection."""

    async def fetch(self, env: str | None = None) -> dict[str, str]:
        """Returns all secrets of an environment by key."""
        return await run_async(self._fetch(env))

    async def get(self, key: str, env: str | None = None) -> str | None:
        """Returns the value of one secret, or None if the environment does not contain the key."""
        return (await self.fetch(env)).get(key)

    async def list_keys(self, env: str | None = None) -> list[str]:
        """Returns the keys of an environment, sorted. For the vault and its audit log this is a fetch."""
        return sorted(await self.fetch(env))

    async def put(self, key: str, value: str, env: str | None = None, *, references: bool = False) -> None:
        """Creates a secret or overwrites its value. See :meth:`VaultClient.put`."""
        await run_async(self._put(key, value, env, references))

    async def delete(self, key: str, env: str | None = None) -> None:
        """Deletes a secret with all its versions.

        :raises VaultError: ``not_found`` if the environment does not contain the key
        """
        await run_async(self._delete(key, env))

    async def watch(
        self,
        env: str | None = None,
        *,
        known: Mapping[str, str] | None = None,
        interval: float = 30.0,
        on_error: Callable[[VaultError], object] | None = None,
    ) -> AsyncIterator[Update]:
        """Yields the present secrets, and then each change. See :meth:`VaultClient.watch`."""
        watching = self._watching(env, known, interval, on_error)
        while True:
            yield await run_async(watching.next())


def _read_secrets(body: object) -> dict[str, str]:
    if not isinstance(body, dict) or not all(isinstance(value, str) for value in body.values()):
        raise VaultError("invalid_answer", "the response of the vault is not a map of secrets")
    return body


def _key_of_file(file: str | os.PathLike[str] | None) -> SigningKey:
    name = os.fspath(file or "")
    try:
        with open(name, encoding="ascii", errors="replace") as opened:
            text = opened.read(10_000)
    except OSError as error:
        raise VaultError("invalid_configuration", f"cannot read the private key {name}: {error.strerror}") from error
    try:
        return SigningKey(text)
    except VaultError as error:
        raise VaultError(error.code, f"{name}: {error}") from None


def _escaped(text: str) -> str:
    # A lone surrogate is sent, and refused by the vault.
    return quote(text, safe="", errors="surrogatepass")


def _is_retried(error: VaultError) -> bool:
    """``replayed_nonce`` means that a proxy repeated the request."""
    if error.status is None or error.code == "replayed_nonce":
        return error.code in _RETRIED_CODES | {"replayed_nonce"}
    return error.status in _RETRIED_STATUSES


def _may_be_done(error: VaultError) -> bool:
    """Whether the vault may have carried out the request, or a proxy's copy of it."""
    if error.code in ("unknown_host", "connection_refused", "rate_limited"):
        return False
    return error.status is None or error.status >= 500 or error.code == "replayed_nonce"

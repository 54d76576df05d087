from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import logging
import pickle
import re
import socket
import ssl
import tempfile
import threading
import time
import unittest
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from tests.server import Answer, Server, answer, certificate, serving
from vault_client import AsyncVaultClient, Update, VaultClient, VaultError

KEY = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
CANARY = "canary-value"


class Blocking:
    """Calls the blocking client."""

    def __init__(self, url: str, **options: Any) -> None:
        self.client = VaultClient(url, "shop", options.pop("private_key", KEY), **options)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return getattr(self.client, name)  # type: ignore[no-any-return]

    def updates(self, count: int, **options: Any) -> list[Update]:
        return list(itertools.islice(self.client.watch(**options), count))


class Concurrent:
    """Calls the client for asyncio."""

    def __init__(self, url: str, **options: Any) -> None:
        self.client = AsyncVaultClient(url, "shop", options.pop("private_key", KEY), **options)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            async def awaited() -> Any:
                return await getattr(self.client, name)(*args)

            return asyncio.run(awaited())

        return call

    def updates(self, count: int, **options: Any) -> list[Update]:
        async def collect() -> list[Update]:
            found = []
            async for update in self.client.watch(**options):
                found.append(update)
                if len(found) == count:
                    break
            return found

        return asyncio.run(collect())


class Case(unittest.TestCase):
    kind: type[Blocking] | type[Concurrent] = Blocking

    @contextlib.contextmanager
    def pair(self, *answers: Answer, **options: Any) -> Iterator[tuple[Server, Any]]:
        """A server with these answers, and a client."""
        with serving(*answers) as server, mock.patch("vault_client.client._FIRST_WAIT", 0.001):
            yield server, self.kind(server.url, **options)

    def failure(self, call: Callable[[], object]) -> VaultError:
        with self.assertRaises(VaultError) as caught:
            call()
        self.assert_says_nothing(caught.exception)
        return caught.exception

    def assert_says_nothing(self, error: BaseException | None) -> None:
        """Neither an error nor its causes contain the value of a secret."""
        while error is not None:
            self.assertNotIn(CANARY, repr(error) + str(error) + str(vars(error)) + str(getattr(error, "doc", "")))
            error = error.__cause__ or error.__context__


class Requests(Case):
    def test_odd_names_are_escaped_in_the_query(self) -> None:
        with self.pair(answer({}), answer({"ok": True})) as (server, client):
            client.fetch("a b/ü&?#+\r\n")
            client.delete("x=1&y", "\ud800")
            self.assertIn("GET /v1/secrets?env=a%20b%2F%C3%BC%26%3F%23%2B%0D%0A HTTP/1.1", server.requests[0])
            self.assertIn("DELETE /v1/secrets?key=x%3D1%26y&env=%ED%A0%80 HTTP/1.1", server.requests[1])

    def test_a_write_covers_its_body(self) -> None:
        with self.pair(answer({"ok": True})) as (server, client):
            client.put("A", "grün \ud800", "staging")
            head, body = server.requests[0].split("\r\n\r\n")
            self.assertIn('"@target-uri" "content-digest")', head)
            self.assertIn("Content-Digest: sha-256=:", head)
            self.assertEqual(body, '{"key": "A", "value": "gr\\u00fcn \\ud800", "env": "staging"}')

    def test_an_ipv6_address_has_brackets_in_host(self) -> None:
        with serving(answer({"A": "1"}), family=socket.AF_INET6) as server:
            self.assertEqual(self.kind(server.url).fetch(), {"A": "1"})
            self.assertIn(f"\r\nHost: [::1]:{server.port}\r\n", server.requests[0])

    def test_a_certificate_must_be_trusted(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "certificate")
            certificate(file)
            server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            server_side.load_cert_chain(file)
            trusting = ssl.create_default_context(cafile=str(file))
            with serving(answer({"A": CANARY * 20_000}), answer({}), tls=server_side) as server:
                self.assertEqual(self.failure(self.kind(server.url, retries=0).fetch).code, "tls_failed")
                self.assertEqual(self.kind(server.url, ssl_context=trusting).fetch(), {"A": CANARY * 20_000})
                elsewhere = server.url.replace("127.0.0.1", "localhost")
                error = self.failure(self.kind(elsewhere, ssl_context=trusting, retries=0).fetch)
                self.assertEqual(error.code, "tls_failed")

    def test_a_name_is_tried_at_each_of_its_addresses(self) -> None:
        with serving(answer({"A": "1"})) as server:
            self.assertEqual(self.kind(f"http://localhost:{server.port}").fetch(), {"A": "1"})

    def test_the_environment_is_that_of_the_client_unless_a_call_names_one(self) -> None:
        with self.pair(answer({}), answer({}), env="staging") as (server, client):
            client.fetch()
            client.fetch("")
            self.assertIn("?env=staging ", server.requests[0])
            self.assertIn("?env= ", server.requests[1])

    def test_keys_are_listed_sorted(self) -> None:
        with self.pair(answer({"b": "1", "a": "2"}), answer({"b": "1"}), answer({})) as (_, client):
            self.assertEqual(client.list_keys(), ["a", "b"])
            self.assertEqual(client.get("b"), "1")
            self.assertIsNone(client.get("b"))

    def test_a_replaced_key_file_is_used_by_the_next_request(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "key")
            file.write_text(KEY)
            with self.pair(answer({}), answer({}), private_key=None, private_key_file=file) as (server, client):
                file.write_text(KEY)
                client.fetch()
                file.write_text("11" * 32)
                client.fetch()
                first, second = (re.search('pubkey="(.*?)"', request) for request in server.requests)
                assert first and second
                self.assertNotEqual(first[1], second[1])
                file.write_text(CANARY)
                self.assertEqual(self.failure(client.fetch).code, "invalid_configuration")


class Failures(Case):
    def test_temporary_failures_are_retried_with_a_new_nonce(self) -> None:
        for failed in (
            b"",
            answer({"A": "1"})[:-1],
            b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"A"',
            answer({"error": "rate_limited"}, 429),
            answer({"error": "unavailable", "message": "Redis is unavailable."}, 503),
            answer(b"<html>", 502),
            answer({"error": "replayed_nonce"}, 401),
        ):
            with self.pair(failed, failed, answer({"A": "1"})) as (server, client):
                self.assertEqual(client.fetch(), {"A": "1"})
                self.assertEqual(len({re.findall('nonce="(.*?)"', request)[0] for request in server.requests}), 3)

    def test_other_refusals_are_not_retried(self) -> None:
        for status, code in ((401, "invalid_signature"), (403, "forbidden"), (500, "decryption_failed"), (418, "new")):
            with self.pair(answer({"error": code, "message": "Text."}, status)) as (server, client):
                error = self.failure(client.fetch)
                self.assertEqual((error.code, error.status, len(server.requests)), (code, status, 1))

    def test_an_error_has_the_description_of_its_cause(self) -> None:
        header = 'WWW-Authenticate: Signature error="invalid_signature", error_description="The cause."'
        with self.pair(answer({"error": "invalid_signature"}, 401, header)) as (_, client):
            error = self.failure(client.fetch)
            self.assertEqual((error.code, str(error)[-12:]), ("invalid_signature", ": The cause."))

    def test_after_the_last_retry_the_last_error_is_raised(self) -> None:
        with self.pair(b"", b"", answer({"error": "unavailable"}, 503), answer({}), retries=2) as (server, client):
            error = self.failure(client.fetch)
            self.assertEqual((error.code, error.status, len(server.requests)), ("unavailable", 503, 3))

    def test_waits_for_retry_after_or_fails_if_that_is_too_long(self) -> None:
        limited = {"error": "rate_limited"}
        with self.pair(answer(limited, 429, "Retry-After: 1"), answer({})) as (server, client):
            before = time.monotonic()
            client.fetch()
            self.assertGreater(time.monotonic() - before, 0.99)
            for asked in ("60", "9" * 5000, "Fri, 31 Dec 2150 23:59:59 GMT"):
                server.answers.append(answer(limited, 429, f"Retry-After: {asked}"))
                error = self.failure(client.fetch)
                assert error.retry_after is not None
                self.assertGreaterEqual(error.retry_after, 60)

    def test_a_deletion_with_a_lost_response_succeeds_and_one_of_a_missing_secret_fails(self) -> None:
        missing = answer({"error": "not_found"}, 404)
        with self.pair(b"", missing, missing) as (_, client):
            client.delete("A")
            self.assertEqual(self.failure(lambda: client.delete("A")).code, "not_found")

    def test_a_wrong_clock_is_reported_with_the_difference(self) -> None:
        expired = {"error": "expired"}
        with self.pair(answer(expired, 401, ahead=405), answer(expired, 401, ahead=-7500)) as (_, client):
            behind, ahead = self.failure(client.fetch), self.failure(client.fetch)
            assert behind.clock_difference is not None and ahead.clock_difference is not None
            self.assertAlmostEqual(behind.clock_difference, -405, delta=3)
            self.assertAlmostEqual(ahead.clock_difference, 7500, delta=3)
            self.assertRegex(str(behind), r"clock is 6 min \d+ s behind")
            self.assertRegex(str(ahead), r"clock is 2 h \d+ min ahead of")

    def test_an_expired_signature_of_a_right_clock_blames_no_clock_difference(self) -> None:
        with self.pair(answer({"error": "expired"}, 401), answer({"error": "expired"}, 401, "Date: x")) as (_, client):
            self.assertNotIn("ahead", str(self.failure(client.fetch)))
            self.assertEqual(self.failure(client.fetch).code, "expired")

    def test_a_vault_that_is_down_refuses_connections(self) -> None:
        with serving() as server:
            port = server.port
        for host in ("127.0.0.1", "localhost"):
            error = self.failure(self.kind(f"http://{host}:{port}", retries=0).fetch)
            self.assertEqual((error.code, error.status), ("connection_refused", None))

    def test_a_name_that_does_not_resolve_is_unknown(self) -> None:
        for host in ("vault.invalid", "a..b", "a" * 64):
            self.assertEqual(self.failure(self.kind(f"http://{host}", retries=0).fetch).code, "unknown_host")

    def test_a_response_that_never_ends_times_out(self) -> None:
        def drip(connection: socket.socket) -> None:
            connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
            while True:
                connection.sendall(b"x")
                time.sleep(0.02)

        with self.pair(drip, timeout=0.3, retries=0) as (_, client):
            self.assertEqual(self.failure(client.fetch).code, "timeout")

    def test_a_silent_vault_times_out(self) -> None:
        with self.pair(lambda connection: server.wait_for_end(connection), timeout=0.2, retries=0) as (server, client):
            self.assertEqual(self.failure(client.fetch).code, "timeout")
            self.assertTrue(server.closed.wait(10))

    def test_a_huge_response_is_refused_while_it_is_read(self) -> None:
        def endless(connection: socket.socket) -> None:
            connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{"A":"')
            while True:
                connection.sendall(CANARY.encode() * 1000)

        with self.pair(endless, max_response_bytes=100_000) as (_, client):
            self.assertEqual(self.failure(client.fetch).code, "invalid_answer")

    def test_a_response_that_is_no_map_of_secrets_is_refused(self) -> None:
        for body in (
            *(b"<html>" + CANARY.encode(), b'{"A":"%s"' % CANARY.encode(), b"", b'{"A":"\xff%s"}' % CANARY.encode()),
            *([CANARY], {"A": 1, "B": CANARY}, {"A": None}, "text", None, b"[" * 100_000, b"1" * 10_000),
        ):
            with self.pair(answer(body)) as (server, client):
                error = self.failure(client.fetch)
                self.assertEqual((error.code, len(server.requests)), ("invalid_answer", 1))

    def test_a_server_that_is_no_vault_is_recognised(self) -> None:
        for raw in (
            *(answer(b"<html>not found", 404), answer({"error": "Not Found"}, 404), answer({"error": 7}, 400)),
            *(answer([], 500), b"SSH-2.0-OpenSSH\r\n", b"\x15\x03\x01\x00\x02\x02\x50", b"HTTP/1.1 999999 X\r\n\r\n"),
        ):
            with self.pair(raw) as (_, client):
                self.assertEqual(self.failure(client.fetch).code, "invalid_answer")

    def test_redirects_are_not_followed(self) -> None:
        with serving(answer({"A": "1"})) as elsewhere:
            for status in (301, 302, 303, 307, 308):
                with self.pair(answer({}, status, f"Location: {elsewhere.url}")) as (_, client):
                    error = self.failure(client.fetch)
                    self.assertEqual((error.code, error.status), ("invalid_answer", status))
            self.assertEqual(elsewhere.requests, [])

    def test_a_server_without_tls_is_reported(self) -> None:
        def refuse() -> None:
            with plain.accept()[0] as connection:
                # The first bytes of a TLS connection are no request.
                connection.sendall(answer({}, 400))
                connection.recv(1)

        with socket.create_server(("127.0.0.1", 0)) as plain:
            answering = threading.Thread(target=refuse)
            answering.start()
            client = self.kind(f"https://127.0.0.1:{plain.getsockname()[1]}", retries=0)
            self.assertEqual(self.failure(client.fetch).code, "tls_failed")
            answering.join()

    def test_an_error_survives_pickling(self) -> None:
        error = VaultError("rate_limited", "Wait.", status=429, retry_after=3.0)
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(copy), copy.code, copy.status, copy.retry_after), ("Wait.", "rate_limited", 429, 3.0))

    def test_a_cancelled_call_closes_its_connection(self) -> None:
        with serving() as server:
            server.answers.append(server.wait_for_end)

            async def cancel() -> None:
                task = asyncio.create_task(AsyncVaultClient(server.url, "shop", KEY).fetch())
                while not server.requests:
                    await asyncio.sleep(0.01)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task

            asyncio.run(cancel())
            self.assertTrue(server.closed.wait(10))


class Configuration(Case):
    def test_settings_out_of_range_are_refused(self) -> None:
        given: dict[str, Any] = {"url": "http://h", "project": "shop", "private_key": KEY}
        changes: tuple[dict[str, Any], ...] = (
            *({"timeout": 0}, {"timeout": -1}, {"timeout": float("nan")}, {"retries": -1}, {"max_response_bytes": 0}),
            *({"max_wait": -1}, {"private_key_file": "x"}, {"private_key": None}, {"private_key": CANARY}),
            *({"private_key": None, "private_key_file": "/nonexistent/key"}, {"project": ""}, {"project": "a b"}),
            *({"project": "a\r\nX: y"}, {"project": "é"}, {"project": "a" * 64}, {"project": None}),
        )
        for changed in changes:
            with self.subTest(changed):
                error = self.failure(functools.partial(VaultClient, **{**given, **changed}))
                self.assertEqual(error.code, "invalid_configuration")

    def test_settings_come_from_the_variables_of_the_command(self) -> None:
        environ = {"VAULT_URL": "http://h", "VAULT_PROJECT": "shop", "VAULT_PRIVATE_KEY": KEY, "VAULT_ENV": "staging"}
        environ |= {"VAULT_PRIVATE_KEY_FILE": "/nonexistent/key"}
        client = VaultClient.from_env(environ, timeout=3.0)
        self.assertEqual((client._env, client._timeout), ("staging", 3.0))
        del environ["VAULT_PRIVATE_KEY_FILE"]
        for name in ("VAULT_URL", "VAULT_PROJECT", "VAULT_PRIVATE_KEY"):
            error = self.failure(functools.partial(VaultClient.from_env, {**environ, name: ""}))
            self.assertIn(name, str(error))
        for changed in ({"VAULT_ENV": ""}, {"VAULT_MAX_RESPONSE_BYTES": "0"}, {"VAULT_MAX_RESPONSE_BYTES": "1e3"}):
            error = self.failure(functools.partial(VaultClient.from_env, {**environ, **changed}))
            self.assertEqual(error.code, "invalid_configuration")

    def test_representations_contain_no_secret(self) -> None:
        client = VaultClient("http://h", "shop", KEY)
        self.assertIn("shop", repr(client))
        self.assertNotIn(KEY[:8], repr(client) + repr(vars(client)))
        self.assertNotIn(CANARY, repr(Update({"A": CANARY}, ("A",), (), ())))


class Watch(Case):
    def watched(self, count: int, *answers: Answer, **options: Any) -> tuple[list[str], list[Update]]:
        """The paths that a client requests until it has so many updates."""
        with self.pair(*answers) as (server, client):
            updates = client.updates(count, interval=0.001, **options)
            return [request.split()[1] for request in server.requests], updates

    def test_waits_for_changes(self) -> None:
        paths, updates = self.watched(
            *(4, answer({"version": "7-a", "changed": ["A"], "values": {"A": "1"}, "more": 1})),
            *(answer({"version": "7-a", "changed": []}), answer({"version": "7-a", "changed": []})),
            answer({"version": "9 b", "changed": ["B"], "values": {"A": "1", "B": "2"}}),
            # Another version of the same values.
            answer({"version": 3, "changed": [], "values": {"A": "1", "B": "2"}}),
            answer({"version": 4, "changed": ["A", "B"], "values": {"B": "3"}}),
            # A response without values.
            *(answer({"version": 5, "changed": ["B"]}), answer({})),
        )
        self.assertEqual(
            updates,
            [
                Update({"A": "1"}, ("A",), (), ()),
                Update({"A": "1", "B": "2"}, ("B",), (), ()),
                Update({"B": "3"}, (), ("B",), ("A",)),
                Update({}, (), (), ("B",)),
            ],
        )
        path = "/v1/secrets/changes?env=production&values=true"
        since = ["7-a", "7-a", "7-a", "9%20b", "3", "4"]
        self.assertEqual(paths, [path, *(f"{path}&since={version}" for version in since), "/v1/secrets?env=production"])

    def test_an_older_vault_is_polled(self) -> None:
        for code, status in (("not_found", 404), ("method_not_allowed", 405)):
            old = answer({"error": code}, status)
            paths, updates = self.watched(
                *(2, old, answer({"A": "1"}), old, answer({"A": "1"}), old, answer({"A": "2"})),
            )
            self.assertEqual([update.changed for update in updates], [(), ("A",)])
            self.assertEqual(paths[1::2], ["/v1/secrets?env=production"] * 3)

    def test_nothing_is_yielded_for_known_secrets(self) -> None:
        old = answer({"error": "not_found"}, 404)
        _, updates = self.watched(1, old, answer({"A": "1"}), old, answer({}), known={"A": "1"})
        self.assertEqual(updates, [Update({}, (), (), ("A",))])

    def test_an_empty_environment_is_yielded_first(self) -> None:
        _, updates = self.watched(1, answer({"version": 0}), answer({}))
        self.assertEqual(updates, [Update({}, (), (), ())])

    def test_continues_after_errors_and_reports_repetitions_once(self) -> None:
        errors: list[VaultError] = []
        refused = answer({"error": "invalid_signature"}, 401)
        _, updates = self.watched(
            *(2, refused, refused, answer({"version": 1}), refused, answer({"version": 1}), answer({"A": "1"})),
            *(answer({"no": "version"}), answer({"version": 2}), answer({"A": "2"})),
            on_error=errors.append,
        )
        self.assertEqual([update.secrets for update in updates], [{"A": "1"}, {"A": "2"}])
        self.assertEqual([error.code for error in errors], ["invalid_signature", "invalid_answer"])

    def test_errors_are_logged_without_a_receiver(self) -> None:
        with self.assertLogs("vault_client", logging.WARNING) as logs:
            self.watched(1, answer({"error": "forbidden"}, 403), answer({"version": 1}), answer({}))
        self.assertEqual(len(logs.output), 1)


class RequestsOfAsyncio(Requests):
    kind = Concurrent


class FailuresOfAsyncio(Failures):
    kind = Concurrent


class WatchOfAsyncio(Watch):
    kind = Concurrent

"""Run by services/vault/tests/clients.test.ts, which starts a vault and sets the variables of the vault command."""

from __future__ import annotations

import asyncio
import time
import unittest
from collections.abc import Awaitable, Callable
from typing import Any
from unittest import mock

from vault_client import AsyncVaultClient, VaultClient, VaultError


def vault(**options: Any) -> VaultClient:
    return VaultClient.from_env(**options)


class Vault(unittest.TestCase):
    def fails(self, code: str, call: Any, *args: Any) -> VaultError:
        with self.assertRaises(VaultError) as caught:
            call(*args)
        self.assertEqual(caught.exception.code, code)
        return caught.exception

    def test_secrets_come_back_as_they_were_stored(self) -> None:
        client = vault(env="py.odd_-1")
        secrets = {
            "PLAIN": "1",
            "a b/ü&?#+%=": 'line\nline\r\n\x00\t"\\',
            "__proto__": "",
            "LONG": "𝄞" * 16 * 1024,
            "<&>": "\u2028",
        }
        for key, value in secrets.items():
            client.put(key, value)
        self.assertEqual(client.fetch(), secrets)
        for key in secrets:
            client.delete(key)
            self.fails("not_found", client.delete, key)
        self.assertEqual(client.list_keys(), [])

    def test_the_vault_refuses_what_it_does_not_store(self) -> None:
        client = vault()
        for env in ("", "a b", "ü", "a&b=c", "a" * 65, "\ud800"):
            self.fails("invalid_request", client.fetch, env)
        for key, value in (("a\nb", ""), ("\ud800", ""), ("A", "\ud800"), ("A", "a" * 65 * 1024)):
            self.fails("invalid_request", client.put, key, value)
        for megabytes in (1, 20):
            self.fails("payload_too_large", client.put, "A", "a" * megabytes * 1024**2)
            self.fails(
                "payload_too_large", asyncio.run, AsyncVaultClient.from_env().put("A", "a" * megabytes * 1024**2)
            )

    def test_the_vault_refuses_another_key_project_and_time(self) -> None:
        self.fails("invalid_signature", vault(private_key="11" * 32).fetch)
        self.fails("unknown_project", vault(project="nobody").fetch)
        for ahead in (-3600, 3600):
            now = time.time
            with mock.patch("time.time", lambda: now() + ahead):  # noqa: B023
                error = self.fails("expired", vault().fetch)
            assert error.clock_difference is not None
            self.assertAlmostEqual(error.clock_difference, ahead, delta=60)

    def test_references_are_resolved(self) -> None:
        client = vault(env="py-refers")
        client.put("HOST", "example.org")
        client.put("URL", "https://${HOST}", references=True)
        asyncio.run(AsyncVaultClient.from_env().put("PLAIN", "${HOST}", "py-refers"))
        self.assertEqual(client.fetch(), {"HOST": "example.org", "URL": "https://example.org", "PLAIN": "${HOST}"})
        self.fails("unresolved_reference", lambda: client.put("A", "${NONE}", references=True))

    def test_many_calls_run_at_once(self) -> None:
        client = AsyncVaultClient.from_env()

        async def store(env: str) -> None:
            await client.put("A", env, env)
            self.assertEqual(await client.get("A", env), env)

        async def store_all() -> None:
            await asyncio.gather(*(store(f"py-{i}") for i in range(20)))

        asyncio.run(store_all())

    def test_a_watch_reports_the_changes_of_others(self) -> None:
        client = vault(env="py-watch")
        steps: list[Callable[[], None]] = [
            *(lambda: client.put("A", "1"), lambda: client.put("A", "2"), lambda: client.delete("A")),
        ]
        updates: list[Any] = []
        for update in client.watch(interval=0.05):
            updates.append((update.secrets, update.added, update.changed, update.removed))
            if len(updates) > len(steps):
                break
            steps[len(updates) - 1]()
        self.check(updates)

    def test_a_watch_of_asyncio_reports_the_changes_of_others(self) -> None:
        client = AsyncVaultClient.from_env(env="py-watch-async")

        async def collect() -> list[Any]:
            steps: list[Callable[[], Awaitable[None]]] = [
                *(lambda: client.put("A", "1"), lambda: client.put("A", "2"), lambda: client.delete("A")),
            ]
            updates: list[Any] = []
            async for update in client.watch(interval=0.05):
                updates.append((update.secrets, update.added, update.changed, update.removed))
                if len(updates) > len(steps):
                    break
                await steps[len(updates) - 1]()
            return updates

        self.check(asyncio.run(collect()))

    def check(self, updates: list[Any]) -> None:
        self.assertEqual(
            updates,
            [({}, (), (), ()), ({"A": "1"}, ("A",), (), ()), ({"A": "2"}, (), ("A",), ()), ({}, (), (), ("A",))],
        )

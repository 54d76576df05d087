"""What a watch does next."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .errors import VaultError
from .exchange import Steps

# Limits the requests to a vault that always answers at once. Changes in between are not lost.
_PAUSE = 1.0
_FIRST_WAIT = 1.0
# A refused key stays refused until an administrator acts, and attempts count towards the limit of the address.
_MAX_REFUSED_WAIT = 300.0
# The longest wait that a vault, or a proxy before it, can ask for.
_MAX_WAIT = 3600.0

_log = logging.getLogger("vault_client")


@dataclass(frozen=True)
class Update:
    """The secrets of an environment after a change, and the keys that differ, sorted."""

    secrets: dict[str, str] = field(repr=False)
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True)
class State:
    """An environment at a version. The vault chooses what a version looks like."""

    version: str | None
    """None if the vault cannot report changes."""
    secrets: dict[str, str] | None = field(repr=False)
    """None if nothing changed since the given version."""


class Watching:
    """What a watch knows so far."""

    def __init__(
        self,
        read: Callable[[str | None], Steps[State]],
        known: Mapping[str, str] | None,
        interval: float,
        on_error: Callable[[VaultError], object] | None,
    ) -> None:
        """:param read: reads an environment as soon as it has another version than the given one"""
        if not interval > 0:
            raise VaultError("invalid_configuration", "interval is out of range")
        self._read = read
        self._known = None if known is None else dict(known)
        self._interval = interval
        self._on_error = on_error
        self._version: str | None = None
        self._wait = 0.0
        self._failures = 0
        self._refusals = 0
        self._reported: str | None = None

    def next(self) -> Steps[Update]:
        """Returns the next change. Failed reads are reported and repeated."""
        while True:
            # The random part keeps the watchers of a vault that restarts from coming back at once.
            yield self._wait * random.uniform(0.8, 1.2)
            try:
                state = yield from self._read(self._version)
            except VaultError as error:
                self._failed(error)
                continue
            self._failures, self._refusals, self._reported = 0, 0, None
            self._version = state.version
            self._wait = self._interval if state.version is None else min(_PAUSE, self._interval)
            if state.secrets is not None and state.secrets != self._known:
                before, self._known = self._known or {}, state.secrets
                return _update(before, state.secrets)

    def _failed(self, error: VaultError) -> None:
        self._failures += 1
        self._refusals = self._refusals + 1 if error.status in (401, 403) else 0
        wait = min(_FIRST_WAIT * 2 ** min(self._failures - 1, 20), self._interval)
        if self._refusals > 0:
            wait = max(self._interval, min(self._interval * 2 ** min(self._refusals, 20), _MAX_REFUSED_WAIT))
        self._wait = max(wait, min(error.retry_after or 0.0, _MAX_WAIT))
        if error.code == self._reported:
            return
        self._reported = error.code
        if self._on_error is not None:
            self._on_error(error)
        else:
            _log.warning("watching secrets failed: %s", error)


def _update(before: Mapping[str, str], after: dict[str, str]) -> Update:
    return Update(
        secrets=dict(after),
        added=tuple(sorted(after.keys() - before.keys())),
        changed=tuple(sorted(key for key in after.keys() & before.keys() if after[key] != before[key])),
        removed=tuple(sorted(before.keys() - after.keys())),
    )

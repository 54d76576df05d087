"""Reads and writes the secrets of a project in the vault, with signed requests (RFC 9421, Ed25519)."""

from .client import AsyncVaultClient, VaultClient
from .errors import VaultError
from .watch import Update

__all__ = ["AsyncVaultClient", "Update", "VaultClient", "VaultError"]

from __future__ import annotations

import base64
import json
import re
import unittest
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from vault_client import VaultError
from vault_client.signing import SigningKey, read_origin, sign_request, signature_base

PAGE = (Path(__file__).parents[3] / "docs/signing.md").read_text()
SEED = re.search(r"\| seed \| `([0-9a-f]{64})`", PAGE)[1]  # type: ignore[index]
VECTORS = [
    dict(line.split(": ", 1) for line in block.splitlines()) for block in re.findall(r"```http\n(.*?)```", PAGE, re.S)
]
NONCE = "000102030405060708090a0b0c0d0e0f"


def jwk(**changed: object) -> str:
    """The key of the vectors with other members; None removes one."""
    public = bytes.fromhex(SigningKey(SEED).public_key)
    members: dict[str, object] = {"kty": "OKP", "crv": "Ed25519", "d": b64(bytes.fromhex(SEED)), "x": b64(public)}
    members.update(changed)
    return json.dumps({name: value for name, value in members.items() if value is not None})


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Vectors(unittest.TestCase):
    def test_a_fetch_has_the_headers_of_the_vector(self) -> None:
        headers = sign_request(
            SigningKey(SEED), "shop", read_origin("https://vault.example.org"),
            "GET", "/v1/secrets?env=production", None, created=1_700_000_000, nonce=NONCE,
        )  # fmt: skip
        self.assertEqual(headers, VECTORS[0])

    def test_a_write_has_the_headers_of_the_vector(self) -> None:
        headers = sign_request(
            SigningKey(SEED), "shop", read_origin("http://127.0.0.1:4200"),
            "PUT", "/v1/secrets", b'{"key":"A","value":"1","env":"production"}', created=1_700_000_000, nonce=NONCE,
        )  # fmt: skip
        self.assertEqual(headers, VECTORS[1])

    def test_the_signature_base_has_a_line_per_component_and_no_final_newline(self) -> None:
        parameters = VECTORS[1]["Signature-Input"].removeprefix("sig1=")
        base = signature_base(
            [
                ("@method", "PUT"),
                ("@authority", "127.0.0.1:4200"),
                ("@target-uri", "http://127.0.0.1:4200/v1/secrets"),
                ("content-digest", VECTORS[1]["Content-Digest"]),
            ],
            parameters,
        )
        self.assertEqual(
            base,
            '"@method": PUT\n"@authority": 127.0.0.1:4200\n"@target-uri": http://127.0.0.1:4200/v1/secrets\n'
            '"content-digest": sha-256=:UtwKlSMH/mMIj1fZIrGLQzPitxItwTXv9BYF9vMbTbg=:\n'
            '"@signature-params": ("@method" "@authority" "@target-uri" "content-digest");created=1700000000;'
            'expires=1700000300;nonce="000102030405060708090a0b0c0d0e0f";keyid="shop.agents.vault.local"',
        )
        signature = base64.b64encode(SigningKey(SEED).sign(base.encode())).decode()
        self.assertEqual(f"sig1=:{signature}:", VECTORS[1]["Signature"])


class Keys(unittest.TestCase):
    def test_a_jwk_a_pem_and_a_seed_are_the_same_key(self) -> None:
        key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(SEED))
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        public = SigningKey(SEED).public_key
        pair = bytes.fromhex(f"3051020101300506032b657004220420{SEED}812100{public}")
        with_public = f"-----BEGIN PRIVATE KEY-----\n{base64.b64encode(pair).decode()}\n-----END PRIVATE KEY-----\n"
        self.assertEqual(public, "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
        for text in (jwk(), f"  {jwk(kid='a')}\n", pem, with_public, f"{SEED.upper()}\n"):
            self.assertEqual(SigningKey(text).public_key, public)

    def test_anything_else_is_refused_without_repeating_it(self) -> None:
        other = SigningKey("11" * 32).public_key
        texts = [
            *("", "{", "null", "[1]", "[" * 100_000, SEED[:-1], f"{SEED}00", "-----BEGIN PRIVATE KEY-----"),
            *(jwk(kty="EC"), jwk(crv="X25519"), jwk(d=None), jwk(d=7), jwk(d=b64(b"short")), jwk(x=None)),
            *(jwk(x=b64(bytes.fromhex(other))), jwk(d=b64(bytes.fromhex(SEED)) + "="), jwk(d="é" * 43)),
        ]
        for text in texts:
            with self.assertRaises(VaultError) as caught:
                SigningKey(text)
            self.assertEqual(caught.exception.code, "invalid_configuration")
            self.assertIsNone(caught.exception.__context__)
            self.assertNotIn(SEED[:10], str(caught.exception))

    def test_its_representation_shows_the_public_half_only(self) -> None:
        self.assertIn("d75a9801", repr(SigningKey(SEED)))
        self.assertNotIn(SEED[:8], repr(SigningKey(SEED)))


class Origins(unittest.TestCase):
    def test_the_authority_is_in_lower_case_without_the_default_port(self) -> None:
        for url, authority in {
            "https://Vault.Example.ORG": "vault.example.org",
            "HTTPS://vault.example.org:443/": "vault.example.org",
            "https://vault.example.org:80": "vault.example.org:80",
            "http://vault.example.org:80": "vault.example.org",
            "http://vault.example.org:443": "vault.example.org:443",
            "http://127.0.0.1:4200/": "127.0.0.1:4200",
            " http://[::1]:4200": "[::1]:4200",
            "http://[2001:DB8::1]": "[2001:db8::1]",
            "https://[::1]:443": "[::1]",
        }.items():
            self.assertEqual(read_origin(url).authority, authority)

    def test_other_urls_are_refused(self) -> None:
        for url in (
            *("", "localhost:4200", "ftp://h", "http://", "http://h:0", "http://h:65536", "http://h:x", "http://[::1"),
            *(
                "http://u:p@h",
                "http://@h",
                "http://h/path",
                "http://h?a",
                "http://h#a",
                "http://a b",
                "http://a%0d%0ab",
            ),
            *("http://münchen.example", "http://[fe80::1%25eth0]", "http://h/v1/../"),
        ):
            with self.subTest(url), self.assertRaises(VaultError) as caught:
                read_origin(url)
            self.assertEqual(caught.exception.code, "invalid_configuration")

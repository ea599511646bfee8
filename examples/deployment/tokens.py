"""Tokens: an app's accounts give each user one, and each is good for one report of its round.

A token is a nonce and a tag by a secret key. What the database keeps of it is a mark, by the same key; without the key
nobody can say whose it is. The account that gave a token can tell that its user has reported. It cannot tell what.

    python examples/deployment/tokens.py 3
"""

from __future__ import annotations

import hmac
import os
import secrets
import sys
from contextlib import suppress
from pathlib import Path

NONCE = 32  # hexadecimal digits, as of the tag


def token_key(data: Path) -> bytes:
    """Return the secret key, made at the first start; only the owner of the files may read it."""
    path = data / "token.key"
    try:
        return path.read_bytes()
    except FileNotFoundError:
        data.mkdir(parents=True, exist_ok=True)
        made = data / f"token.key.{os.getpid()}"
        with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(32))
        with suppress(FileExistsError):  # whoever comes first wins; others read hers
            os.link(made, path)
        made.unlink()
        return path.read_bytes()


def new_token(key: bytes, round_: str) -> str:
    """Return a fresh token of a round."""
    nonce = secrets.token_hex(NONCE // 2)
    return nonce + _keyed(key, f"token|{round_}|{nonce}").hex()


def mark_of(key: bytes, round_: str, token: str) -> bytes | None:
    """Return what is kept of a token, or nothing if it is none of this round."""
    nonce, tag = token[:NONCE], token[NONCE:]
    right = _keyed(key, f"token|{round_}|{nonce}").hex()
    return _keyed(key, f"mark|{round_}|{nonce}") if hmac.compare_digest(tag.encode(), right.encode()) else None


def _keyed(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), "sha256")[:16]


if __name__ == "__main__":
    from settings import HERE, read_settings

    told = read_settings(HERE / "settings.toml")
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 1):
        print(new_token(token_key(told.data), told.collection["round"]))

"""The secret of keyed reports: 32 random bytes that only those may hold who hold the values."""

import os
import secrets
import stat
from typing import NoReturn

from ..errors import InputError

SECRET_BYTES = 32
"""As long as a SHA-256 digest; of a shorter one the noise could be guessed."""

OTHERS = stat.S_IRWXG | stat.S_IRWXO
"""What a file's mode may not give to its group and to others."""

HOLDERS = "whoever holds the secret can undo the noise: keep it with the values, never with the collector"
"""What is to be said wherever a secret is asked for."""


def new_secret() -> bytes:
    """Return 32 random bytes of the operating system's generator.

    Returns
    -------
    secret : bytes
        Write it to a file of mode 600, which `read_secret` takes.

    Example
    -------
    >>> from optldp.mechanisms.keyed import new_secret
    >>> len(new_secret())
    32
    """
    return secrets.token_bytes(SECRET_BYTES)


class Secret:
    """A secret that no message, printout, copy or pickle holds.

    Parameters
    ----------
    content : bytes
        32 of them.

    Raises
    ------
    InputError
        Something else.

    Example
    -------
    >>> from optldp.mechanisms.keyed import Secret, new_secret
    >>> Secret(bytes(32))
    Traceback (most recent call last):
    ...
    optldp.mechanisms.errors.InputError: a secret must be random, got equal bytes: make one with new_secret
    >>> Secret(new_secret())
    Secret(...)
    """

    __slots__ = ("__content",)

    def __init__(self, content: bytes) -> None:
        if not isinstance(content, bytes):
            raise InputError(f"a secret must be {SECRET_BYTES} random bytes, got {type(content).__name__}")
        if len(content) != SECRET_BYTES:
            raise InputError(
                f"a secret must be {SECRET_BYTES} random bytes, got {len(content)}: make one with new_secret, or "
                f"head -c {SECRET_BYTES} /dev/urandom"
            )
        if len(set(content)) == 1:
            raise InputError("a secret must be random, got equal bytes: make one with new_secret")
        self.__content = content

    def __repr__(self) -> str:
        return "Secret(...)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise InputError("a secret must not be copied or pickled: read it where it is used")

    def __getstate__(self) -> NoReturn:
        self.__reduce_ex__(0)

    def reveal(self) -> bytes:
        """Return the bytes, for the code that computes with them."""
        return self.__content


def read_secret(path: str | os.PathLike[str]) -> Secret:
    """Read a secret from a file that nobody but its owner can read.

    Parameters
    ----------
    path : path
        A file of exactly 32 bytes; on systems with owners and modes it must be the user's own, of mode 600 or 400.

    Returns
    -------
    secret : Secret
        What `KeyedReports` takes.

    Raises
    ------
    InputError
        A file that cannot be read, is no regular file, somebody else's, open to others, or of another length.

    Example
    -------
    >>> import tempfile, pathlib
    >>> from optldp.mechanisms.keyed import new_secret, read_secret
    >>> path = pathlib.Path(tempfile.mkdtemp(), "secret")
    >>> path.touch(mode=0o600)
    >>> _ = path.write_bytes(new_secret())
    >>> read_secret(path)
    Secret(...)
    """
    try:
        with open(path, "rb") as stream:
            found = os.fstat(stream.fileno())  # of the very file that is read
            if not stat.S_ISREG(found.st_mode):
                raise InputError(f"a secret must be in a regular file, got {str(path)!r}")
            _require_own(path, found)
            content = stream.read(SECRET_BYTES + 1)
    except OSError as error:
        raise InputError(f"the secret must be readable, got {str(path)!r}: {error.strerror or error}") from None
    if len(content) != SECRET_BYTES:
        many = f"{len(content)} bytes" if len(content) < SECRET_BYTES else f"more than {SECRET_BYTES} bytes"
        raise InputError(
            f"a secret must be {SECRET_BYTES} random bytes, got {many} in {str(path)!r}: make one by "
            f"(umask 077; head -c {SECRET_BYTES} /dev/urandom > FILE)"
        )
    return Secret(content)


def _require_own(path: str | os.PathLike[str], found: os.stat_result) -> None:
    if os.name != "posix":  # other systems have no such modes
        return
    if found.st_mode & OTHERS:
        raise InputError(
            f"a secret must be closed to all but its owner, got mode {stat.S_IMODE(found.st_mode):o} of "
            f"{str(path)!r}: chmod 600, and make a new one if others could read it"
        )
    if found.st_uid != os.geteuid():
        raise InputError(f"a secret must be the user's own file, got {str(path)!r} of another user: make one")

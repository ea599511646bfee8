"""The secret of keyed reports: 32 random bytes that only those may hold who hold the values."""

import os
import secrets
import stat
from collections.abc import Callable
from typing import NoReturn, TypeAlias

from ..errors import InputError

SECRET_BYTES = 32
"""As long as a SHA-256 digest; of a shorter one the noise could be guessed."""

OTHERS = stat.S_IRWXG | stat.S_IRWXO
"""What a file's mode may not give to its group and to others."""

ROOT = 0
"""Who can read every file anyway."""

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
    >>> from optldp.mechanisms.pseudorandom import new_secret
    >>> len(new_secret())
    32
    """
    return secrets.token_bytes(SECRET_BYTES)


SecretSource: TypeAlias = "Secret | str | os.PathLike[str] | Callable[[], Secret | bytes]"
"""Where a secret is to be had: itself, a file's path, or what fetches it."""


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
    >>> from optldp.mechanisms.pseudorandom import Secret, new_secret
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


def secret_of(source: SecretSource, *, group_readable: bool = False) -> Secret:
    """Return the secret that an argument is or leads to, by its type.

    Paths and callables travel to a task as they are, and are read or called there. Plain bytes are refused, because a
    task would print and pickle them; a `Secret` does neither.

    Parameters
    ----------
    source : Secret, path or callable
        A callable takes nothing and returns a `Secret` or its bytes, such as those that a key service keeps.
    group_readable : bool
        Of a path: as `read_secret` takes it.

    Returns
    -------
    secret : Secret

    Raises
    ------
    InputError
        Something else, a file that `read_secret` refuses, or a callable that fails or returns no secret; the message
        shows nothing of the argument or the secret.

    Example
    -------
    >>> from optldp.mechanisms.pseudorandom import new_secret, secret_of
    >>> secret_of(new_secret)
    Secret(...)
    """
    if isinstance(source, Secret):
        return source
    if isinstance(source, str | os.PathLike):
        return read_secret(source, group_readable=group_readable)
    if not callable(source):
        raise InputError(
            f"a secret must be a Secret, a path or a callable, got {type(source).__name__}: Secret(...) takes bytes"
        )
    try:
        fetched = source()
    except Exception as error:  # whose message may hold what was fetched
        raise InputError(
            f"the secret must be there to fetch, but its callable raised {type(error).__name__}: call it by itself"
        ) from None
    return fetched if isinstance(fetched, Secret) else Secret(fetched)


def read_secret(path: str | os.PathLike[str], *, group_readable: bool = False) -> Secret:
    """Read a secret from a file that nobody but its owner can read.

    Parameters
    ----------
    path : path
        A file of exactly 32 bytes; on systems with owners and modes it must be the user's own, of mode 600 or 400.
    group_readable : bool
        Whether its group may read it as well, and root may own it, as where clusters mount secrets.

    Returns
    -------
    secret : Secret
        What `KeyedReports` takes.

    Raises
    ------
    InputError
        No path, or a file that cannot be read, is no regular file, somebody else's, open to others, or of another
        length. An argument that is no path of a file is not shown, since it may be the secret itself.

    Example
    -------
    >>> import tempfile, pathlib
    >>> from optldp.mechanisms.pseudorandom import new_secret, read_secret
    >>> path = pathlib.Path(tempfile.mkdtemp(), "secret")
    >>> path.touch(mode=0o600)
    >>> _ = path.write_bytes(new_secret())
    >>> read_secret(path)
    Secret(...)
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"a secret must be read from a path, got {type(path).__name__}: Secret(...) takes bytes")
    if not os.path.lexists(path):
        raise InputError("the secret must be readable, got a name of no file, which is not shown here: correct it")
    shown = repr(str(path))
    try:
        with open(path, "rb") as stream:
            found = os.fstat(stream.fileno())  # of the very file that is read
            if not stat.S_ISREG(found.st_mode):
                raise InputError(f"a secret must be in a regular file, got {shown}")
            _require_own(shown, found, group_readable)
            content = stream.read(SECRET_BYTES + 1)
    except OSError as error:
        raise InputError(f"the secret must be readable, got {shown}: {error.strerror or error}") from None
    if len(content) != SECRET_BYTES:
        many = f"{len(content)} bytes" if len(content) < SECRET_BYTES else f"more than {SECRET_BYTES} bytes"
        raise InputError(
            f"a secret must be {SECRET_BYTES} random bytes, got {many} in {shown}: make one by "
            f"(umask 077; head -c {SECRET_BYTES} /dev/urandom > FILE)"
        )
    return Secret(content)


def _require_own(shown: str, found: os.stat_result, group_readable: bool) -> None:
    if os.name != "posix":  # other systems have no such modes
        return
    open_to = found.st_mode & OTHERS
    if open_to & ~stat.S_IRGRP or (open_to and not group_readable):
        mounted = "" if open_to != stat.S_IRGRP else "; group_readable (--group-readable) takes a mount as it is"
        raise InputError(
            f"a secret must be closed to all but its owner, got mode {stat.S_IMODE(found.st_mode):o} of "
            f"{shown}: chmod 600, and make a new one if others could read it{mounted}"
        )
    if found.st_uid != os.geteuid() and not (group_readable and found.st_uid == ROOT):
        raise InputError(f"a secret must be the user's own file, got {shown} of another user: make one")

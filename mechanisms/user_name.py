"""Names of users, so that the same name is the same user however it was typed."""

import unicodedata

from .errors import InputError

LONGEST_NAME = 1024
"""Code points; bringing a long run of combining marks into order takes time that grows with its square."""


def user_name(name: object) -> bytes:
    """Return a user's name in Unicode's normal form NFC, as UTF-8, or raise InputError without showing it.

    An accented letter is the same in one piece or two. Case, spaces and invisible characters tell users apart.

    Example
    -------
    >>> user_name("Zoe\\u0308") == user_name("Zo\\u00eb"), user_name("zoe") == user_name("Zoe")
    (True, False)
    """
    if isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and name.isascii():
        return name.encode()  # most names are, and a file may have a million
    if not (isinstance(name, str) and name):
        raise InputError("a user's name must be text and not empty, got something else")
    if len(name) > LONGEST_NAME:
        raise InputError(f"a user's name must have at most {LONGEST_NAME} characters, got more: use a shorter one")
    if any("\ud800" <= letter <= "\udfff" for letter in name):
        raise InputError("a user's name must be Unicode, got half a surrogate pair in it: correct where it was read")
    return unicodedata.normalize("NFC", name).encode()

"""Text that is safe to show: what a file or a client says may hold characters that command a terminal."""


def printable(text: str) -> str:
    r"""Return the text with every character that is not printable as its escape, and so on one line.

    Escaped are control characters (C0, DEL, C1), what reorders or hides text (bidirectional overrides, zero width),
    line and paragraph separators, odd spaces, unassigned characters and halves of surrogate pairs: all that `repr`
    escapes too.  Text that is printable comes back as it is, so it does no harm to do it twice.

    Example
    -------
    >>> print(printable("red\x1b[2J\u202e\ngreen"))
    red\x1b[2J\u202e\ngreen
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else _escape(one) for one in text)


def shortened(text: str, most: int) -> str:
    """Return printable text of at most so many characters, and dots where something is left out.

    Example
    -------
    >>> shortened("a long story", 6)
    'a long ...'
    """
    shown = printable(text[: most + 1])
    return shown if len(shown) <= most else shown[:most] + " ..."


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")

"""Split a text file of /proc into lines."""

from __future__ import annotations


def proc_lines(content: bytes | None) -> list[str]:
    """Return the lines of this content, which is None if the file could not be read.

    Programs choose some of the words: names of processes, control groups, mount points and network
    interfaces. The kernel escapes only the line feed in them. So a line may contain other
    characters at which `splitlines` and files in text mode also begin a new line, for example a
    carriage return, and bytes that are no UTF-8.
    """
    text = (content or b"").decode("utf-8", "surrogateescape").removesuffix("\n")
    return text.split("\n") if text else []

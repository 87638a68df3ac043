"""Check absolute paths of a request. They must be canonical: spelled as the kernel reports them."""

from __future__ import annotations

from errors import Failed

ALIASES = ("/tmp", "/var", "/etc")


def refused(pointer: str, why: str) -> Failed:
    problem = {"pointer": pointer, "message": why}
    return Failed("invalid_input", f"{field_name(pointer)}: {why}", [problem])


def field_name(pointer: str) -> str:
    """Return side_roots[2] for the pointer /side_roots/2. A pointer into a policy file is not
    changed."""
    first, *rest = pointer[1:].split("/")
    if first == "spec":
        return pointer
    return first + "".join(f"[{each}]" if each.isdigit() else f".{each}" for each in rest)


def place(data: bytes, pointer: str) -> str:
    """Return the canonical path of these bytes."""
    path = decode(data, pointer)
    refuse_controls(path, pointer)
    refuse_relative(path, pointer)
    path = tidy(path)
    refuse_dots(path, pointer)
    refuse_alias(path, pointer)
    return path


def decode(data: bytes, pointer: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise refused(pointer, "is not UTF-8, and names of macOS are") from None


def refuse_controls(text: str, pointer: str) -> None:
    for c in text:
        if is_control(c):
            why = f"holds the control character U+{ord(c):04X}; rename what it names"
            raise refused(pointer, why)


def is_control(c: str) -> bool:
    return c < " " or c == "\x7f"


def refuse_relative(path: str, pointer: str) -> None:
    if not path.startswith("/"):
        raise refused(pointer, f"is `{path}`; give an absolute path (`~` is not expanded)")


def tidy(path: str) -> str:
    return "/" + "/".join(part for part in path.split("/") if part)


def refuse_dots(path: str, pointer: str) -> None:
    if any(part in (".", "..") for part in path.split("/")):
        raise refused(pointer, f"is `{path}`; resolve its `.` and `..` segments")


def refuse_alias(path: str, pointer: str) -> None:
    for alias in ALIASES:
        if lies_in(path, alias):
            why = f"is `{path}`, and {alias} is a link; write `/private{path}`"
            raise refused(pointer, why)


def lies_in(path: str, directory: str) -> bool:
    """True if `path` is the directory or lies below it."""
    return path == directory or path.startswith(below(directory))


def below(directory: str) -> str:
    return directory.rstrip("/") + "/"

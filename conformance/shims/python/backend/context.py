"""The context of a session. It is checked before all other steps."""

from __future__ import annotations

import os

import backend.tree as tree
from reader import Reader, one

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from backend.rules import Rules

PROFILES = ("read-only", "repo-write", "no-network", "full-dev", "ci-only")
CLOSED = ("no-network", "ci-only")
HERMETIC = ("ci-only",)
LATE_NAMES = "late-names"


class Context:
    root: bytes  # canonical path
    cwd: bytes  # canonical path of the root or of a directory below it
    names_cwd = False
    profile: str
    egress: list[str] | None
    rules: Rules | None
    strict_metadata = False
    accepts_late_names = False
    # these paths must be readable even in /tmp and /dev, although the sandbox replaces both
    readable: Sequence[bytes] = ()

    @property
    def closed(self) -> bool:
        """True if the profile permits no access to the network."""
        return self.profile in CLOSED


def cache(root: bytes) -> bytes | None:
    """Return HOME/.cache with links resolved.

    Return None if it lies in the root, because it is then permitted with the root. Return None also
    if a link in the root leads to it, because a program may have made this link.
    """
    home = os.environb.get(b"HOME")
    named = os.path.join(home, b".cache") if home else b""
    real = os.path.realpath(named)
    below = tree.is_below(real, root)
    if not os.path.isdir(named) or below or tree.passes_link_below(named, root):
        return None
    return real


def read_context(value: object) -> Context:
    reader = Reader(value, "/context")
    made = Context()
    made.root = read_root(reader)
    made.names_cwd = not {"cwd", "cwd_b64"}.isdisjoint(reader.fields)
    made.cwd = read_cwd(reader, made.root)
    made.profile = read_profile(reader)
    made.rules = read_rules(reader)
    made.egress = read_egress(reader, made.profile)
    made.strict_metadata = reader.take("strict_metadata", bool) or False
    made.accepts_late_names = read_accept(reader)
    reader.done()
    return made


def read_root(reader: Reader) -> bytes:
    root = reader.need_encoded("root", one)
    if not root.startswith(b"/") or not os.path.isdir(root):
        reader.wrong("root", "must be an existing directory, absolute")
    return os.path.realpath(root)


def read_cwd(reader: Reader, root: bytes) -> bytes:
    cwd = reader.take_encoded("cwd", one)
    return root if cwd is None else inside(reader, "cwd", cwd, root)


def inside(reader: Reader, name: str, path: bytes, root: bytes) -> bytes:
    """Return a directory of the workspace with links resolved; refuse a directory outside."""
    real = os.path.realpath(os.path.join(root, path))
    if real != root and not real.startswith(root.rstrip(b"/") + b"/"):
        reader.wrong(name, "lies outside the root")
    if not os.path.isdir(real):
        reader.wrong(name, "must be an existing directory")
    return real


def read_profile(reader: Reader) -> str:
    profile = reader.need("profile", str)
    if profile not in PROFILES:
        reader.wrong("profile", f"must be one of {', '.join(PROFILES)}")
    return profile


def read_rules(reader: Reader) -> Rules | None:
    value = reader.take("policy", dict)
    if value is None:
        return None
    from backend.rules import rules_of

    return rules_of(value, f"{reader.pointer}/policy")


def read_accept(reader: Reader) -> bool:
    """Return True if rules may stay unenforced for names that do not exist at the start."""
    given = reader.take("accept", list) or []
    for i, each in enumerate(given):
        if each != LATE_NAMES:
            reader.wrong(f"accept/{i}", f"must be {LATE_NAMES}")
    return bool(given)


def read_egress(reader: Reader, profile: str) -> list[str] | None:
    given = reader.take("egress", list)
    if given is None:
        return None
    for i, each in enumerate(given):
        if not isinstance(each, str) or not is_destination(each):
            reader.wrong(f"egress/{i}", "must be host:port, [address]:port or *")
    if given and profile in CLOSED:
        reader.wrong("egress", f"contradicts the profile {profile}, which has no network")
    return given or None


def is_destination(text: str) -> bool:
    if text == "*":
        return True
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or len(port) > 5:
        return False
    if not 1 <= int(port) <= 65535 or not host:
        return False
    if host.startswith("["):
        return host.endswith("]") and is_address(host[1:-1])
    return all(c.isascii() and (c.isalnum() or c in ".-_") for c in host)


def is_address(text: str) -> bool:
    import socket

    try:
        socket.inet_pton(socket.AF_INET6, text)
    except OSError:
        return False
    return True

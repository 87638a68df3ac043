"""Write the clauses of a text, part by part, in the order of the contract's page."""

from __future__ import annotations

import sbpl.refusals as refusals
from policy.decide import named
from sbpl.filters import plain_names, subpath, wild
from sbpl.places import below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from policy.decide import Entry
    from sbpl.given import Input

    Part = Callable[["Input"], Iterable[str]]

HEAD = ("(version 1)", "(deny default)")
BROAD = (
    "file-read*",
    "process*",
    "signal",
    "ipc-posix*",
    "mach*",
    "system-fsctl",
    "system-socket",
    "network*",
    "sysctl*",
    "iokit*",
)
MAC_SYSCALLS = (
    '(mac-policy-name "vnguard")',
    '(require-all (mac-policy-name "Sandbox") (mac-syscall-number 67))',
)
SCRATCH = ("/private/tmp", "/private/var/folders", "/dev")
SCRATCH_AT_HOME = ("Library/Caches", ".orbit")
# For each provider: the variable that sets its state directory (or None), and the default name
# below HOME.
STATE = (("CODEX_HOME", ".codex"), ("CLAUDE_CONFIG_DIR", ".claude"), (None, ".gemini"))


def compile_text(given: Input) -> str:
    refusals.refuse_controls_of_rules(given)
    refusals.refuse_homes(given)
    refusals.refuse_side_roots(given)
    return "".join(line + "\n" for part in PARTS for line in part(given))


def head(given: Input) -> Iterable[str]:
    return HEAD


def broad(given: Input) -> Iterable[str]:
    return [f"(allow {operation})" for operation in BROAD]


def mac_syscalls(given: Input) -> Iterable[str]:
    return [f"(allow system-mac-syscall {form})" for form in MAC_SYSCALLS]


def scratch(given: Input) -> Iterator[str]:
    for place in SCRATCH:
        yield allow_below(place, "")
    if "HOME" in given.env:
        for name in SCRATCH_AT_HOME:
            yield allow_below(below(given.env["HOME"]) + name, "/env/HOME")


def state(given: Input) -> Iterator[str]:
    """Permit writing to the state directories of all providers. It is unknown which provider will
    run."""
    for variable, name in STATE:
        found = state_directory(given.env, variable, name)
        if found is not None:
            yield allow_below(*found)


def state_directory(
    env: Mapping[str, str], variable: str | None, name: str
) -> tuple[str, str] | None:
    if variable is not None and variable in env:
        return env[variable], f"/env/{variable}"
    if "HOME" in env:
        return below(env["HOME"]) + name, "/env/HOME"
    return None


def allow_below(place: str, pointer: str) -> str:
    return clause("+", "file-write*", subpath(place, pointer))


def guard(given: Input) -> Iterator[str]:
    """Deny writing to the root.

    The root may lie in one of the places above. Only rules may permit writing to the root.
    """
    yield clause("-", "file-write*", subpath(given.root, "/root"))


def modify(given: Input) -> Iterator[str]:
    for entry in given.modify:
        if entry.sign == "except":
            yield from exception(given, entry)
        else:
            yield rule_clause(given, "file-write*", entry)


def rule_clause(given: Input, operation: str, entry: Entry) -> str:
    return clause(entry.sign, operation, given.filters.of(entry, denies(entry.sign)))


def denies(sign: str) -> bool:
    return sign != "+"


def exception(given: Input, entry: Entry) -> Iterator[str]:
    """Deny all access inside the exception, then apply the profile's own rules there."""
    inside = given.filters.of(entry, True)
    yield clause("-", "file-write*", inside)
    for own in own_rules(given.modify):
        rule = given.filters.of(own, denies(own.sign))
        yield clause(own.sign, "file-write*", f"(require-all {inside} {rule})")


def own_rules(entries: Iterable[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry.origin == "profile"]


def read(given: Input) -> Iterable[str]:
    """Write the clauses about reading, from the first negated rule on.

    Reading is permitted by default, so earlier rules have no effect.
    """
    return [rule_clause(given, "file-read*", entry) for entry in from_first_deny(given.read)]


def from_first_deny(entries: list[Entry]) -> list[Entry]:
    for i, entry in enumerate(entries):
        if denies(entry.sign):
            return entries[i:]
    return []


def side_roots(given: Input) -> Iterator[str]:
    if given.provider != "codex":
        return
    for i, place in enumerate(given.side_roots):
        yield allow_below(place, f"/side_roots/{i}")


def unlink(given: Input) -> Iterator[str]:
    """Deny the renaming of paths that may not be read, and of each directory above them."""
    filters = [each for entry in read_denied(given) for each in unlink_filters(given, entry)]
    for each in dict.fromkeys(filters):
        yield clause("-", "file-write-unlink", each)


def unlink_filters(given: Input, entry: Entry) -> Iterator[str]:
    for names in ancestors(entry.rule.body):
        yield given.filters.ancestor(names, entry.rule.pointer)
    yield given.filters.of(entry, True)


def ancestors(body: str) -> list[list[str]]:
    """Return the directories above a rule's path that the rule names without wildcards."""
    names = plain_names(body)
    last = len(names) if len(names) < len(body.split("/")) else len(names) - 1
    return [names[:count] for count in range(1, last + 1)]


def read_denied(given: Input) -> list[Entry]:
    return [entry for entry in given.read if denies(entry.sign)]


def unguarded(given: Input) -> list[str]:
    """Return rules that begin with a wildcard segment.

    The directories above their paths are unknown, so these directories can be renamed.
    """
    found = [named(each) for each in read_denied(given) if wild(each.rule.body.split("/")[0])]
    return list(dict.fromkeys(found))


def clause(sign: str, operation: str, filter_: str) -> str:
    word = "deny" if denies(sign) else "allow"
    return f"({word} {operation} {filter_})"


PARTS = (
    head,
    broad,
    mac_syscalls,
    scratch,
    state,
    guard,
    modify,
    read,
    side_roots,
    unlink,
)

"""Read the words of a question: a profile with its parameters, an operation and its subject."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from boxspec.errors import UsageError
from contracts.sbpl.seatbelt import operations
from contracts.sbpl.seatbelt.filters import Address, Subject
from contracts.sbpl.seatbelt.forms import Profile, load
from contracts.sbpl.seatbelt.reader import Refused, Undecidable, Unreadable, Unset
from contracts.sbpl.seatbelt.vocabulary import FACTS

PATH, ADDRESS, CALL = "path", "address", "call"
# For each operation the kind of its subject. The kind is one of the three constants, or the name of
# the filters on subjects of that kind.
_KINDS = {
    "process-exec*": PATH,
    "network*": ADDRESS,
    "mach-lookup": "global-name",
    "mach-register": "global-name",
    "mach-per-user-lookup": "global-name",
    "mach-cross-domain-lookup": "global-name",
    "mach-issue-extension": "extension-class",
    "mach-priv*": "target",
    "mach-task*": "target",
    "process-codesigning*": "target",
    "process-info*": "target",
    "signal": "target",
    "system-sched": "target",
    "sysctl*": "sysctl-name",
    "ipc-posix*": "ipc-posix-name",
    "user-preference*": "preference-domain",
    "managed-preference*": "preference-domain",
    "iokit*": "iokit-class",
    "iokit-async-external-method": "iokit-method-number",
    "iokit-external-method": "iokit-method-number",
    "iokit-get-properties": "iokit-property",
    "iokit-issue-extension": "extension-class",
    "iokit-set-properties": "iokit-property",
    "nvram*": "nvram-variable",
    "appleevent-send": "appleevent-destination",
    "authorization-right-obtain": "right-name",
    "distributed-notification-post": "notification-name",
    "darwin-notification-post": "notification-name",
    "system-socket": "socket-domain",
    "system-mac-syscall": CALL,
    "generic-issue-extension": "extension-class",
    "job-creation": PATH,
    "load-unsigned-code": PATH,
    "socket-ioctl": "ioctl-command",
    "socket-option*": "socket-option-name",
    "system-fcntl": "fcntl-command",
    "system-fsctl": "fsctl-command",
    "system-info": "info-type",
    "system-kext*": "kext-bundle-id",
    "system-necp-client-action": "necp-client-action",
    "system-privilege": "privilege-id",
    "syscall*": "syscall-number",
    "syscall-mach": "machtrap-number",
    "syscall-mig": "kernel-mig-routine",
}
# Facts that exist only for some operations. For other operations no value of the fact matches.
_ONLY = {
    "xattr": ("file-read-xattr", "file-write-xattr"),
    "extension-class": ("file-issue-extension", "file-issue-extension*"),
    "ioctl-command": ("file-ioctl",),
    "fsctl-command": ("file-fsctl",),
}
_OF_DEVICES = ("device-major", "device-minor", "device-conforms-to")
# The two ends of a connection. The subject is one end, and the option `--given` gives the other.
_SIDES = ("remote", "local")
_DEVICES = ("CHARACTER-DEVICE", "BLOCK-DEVICE", "TTY")
# A program has an extension only if another process issued one to it.
NO_EXTENSION: dict[str, tuple[bytes, ...]] = {"extension": ()}
# A service has a name of one of these kinds. Filters on the other two kinds do not match the
# service.
_NAMES_OF_SERVICES = ("global-name", "local-name", "xpc-service-name")


def kind_of(operation: str) -> str | None:
    if operations.on_paths(operation):
        return PATH
    return next((_KINDS[each] for each in operations.chain(operation) if each in _KINDS), None)


def opened(
    file: Path, params: Mapping[str, str], param_file: str | None, imports: Mapping[str, str]
) -> Profile:
    """Load a profile.

    If its text has no meaning, raise a UsageError with the line and the remedy.
    """
    given = {**(_params(Path(param_file)) if param_file else {}), **params}
    try:
        return load(
            bytes_of(file),
            {name: value.encode("utf-8", "surrogateescape") for name, value in given.items()},
            {name: bytes_of(Path(place)) for name, place in imports.items()},
        )
    except Unset as why:
        raise _not_set(why, imports.get(why.file, why.file) if why.file else str(file)) from None
    except Unreadable as why:
        place = f"{imports.get(why.file, why.file) if why.file else file}:{why.line}"
        if isinstance(why, Refused):
            raise UsageError(
                place,
                f"sandbox-exec would refuse the profile: {why.words}",
                f"source: {why.source}",
            ) from None
        words = f"{why.words} is not known here" if isinstance(why, Undecidable) else why.words
        raise UsageError(place, words, "without it the meaning of the profile is unknown") from None


class NotSetError(UsageError):
    """Raised for a parameter without a value. The message names the option that sets it."""

    def __init__(self, place: str, names: Sequence[str]) -> None:
        first, *others = names
        more = f" (also not set: {', '.join(others)})" if others else ""
        problem = f"parameter {first} is not set; pass --param {first}=PATH{more}"
        Exception.__init__(self, f"{place}: {problem}")
        self.place, self.problem, self.remedy = place, problem, f"--param {first}=PATH"


def _not_set(why: Unset, file: str) -> UsageError:
    return NotSetError(f"{file}:{why.line}", why.names)


def _params(file: Path) -> dict[str, str]:
    """Read a file with parameters: NAME=VALUE lines, or a JSON object of strings."""
    text = bytes_of(file).decode("utf-8", "surrogateescape")
    if text.lstrip().startswith("{"):
        try:
            made = json.loads(text)
        except ValueError as why:
            raise UsageError(
                str(file), f"is not valid JSON: {why}", "or give NAME=VALUE lines"
            ) from None
        if not all(isinstance(value, str) for value in made.values()):
            raise UsageError(
                str(file), "has a value that is not a string", 'write {"NAME": "VALUE"}'
            )
        return dict(made)
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        word = line.strip()
        if not word or word.startswith("#"):
            continue
        name, is_one, value = word.partition("=")
        if not name.strip() or not is_one:
            raise UsageError(
                f"{file}:{number}", f"{word!r} is not a NAME=VALUE", "write one per line"
            )
        found[name.strip()] = value
    return found


def bytes_of(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as why:
        raise UsageError(str(file), str(why.strerror), "name a profile") from None


def is_asked(profile: Profile, operation: str) -> bool:
    """True if the operation is known, or if the profile names it."""
    return operations.known(operation) or operation in profile.unknown_operations()


def subject_of(operation: str, word: str | None, given: Mapping[str, str]) -> Subject:
    """Return the subject of a question. Facts that the question does not give are unknown."""
    ends = {side: given[side] for side in _SIDES if side in given}
    others = {name: value for name, value in given.items() if name not in ends}
    facts = {**NO_EXTENSION, **{name: _fact(name, value) for name, value in others.items()}}
    kind = kind_of(operation)
    _without(facts, operation)
    if word is None:
        if operations.on_paths(operation) or operations.is_execution(operation):
            raise UsageError(operation, "is about a path", "give a path after it")
        return Subject(facts=facts)
    if kind == ADDRESS:
        # Only control sockets of the kernel have a control name. They have no address, so this
        # subject has no control name.
        facts.setdefault("control-name", ())
    if kind is None:
        raise UsageError(word, f"{operation} has no subject", "leave it out, or use --given")
    if kind == PATH or (kind == ADDRESS and word.startswith(("/", "."))):
        if not word.startswith("/"):
            raise UsageError(word, "is not absolute", "give the path that the kernel reports")
        if kind == ADDRESS:
            facts.setdefault("socket-domain", (b"AF_UNIX",))
        return Subject(path=word.encode("utf-8", "surrogateescape"), facts=facts)
    if kind == ADDRESS:
        return _at_address(operation, word, facts, ends)
    if kind == CALL:
        policy, colon, number = word.rpartition(":")
        if not colon or not number.isdecimal():
            raise UsageError(word, "is not a POLICY:NUMBER", "write for example Sandbox:67")
        name = policy.encode("utf-8", "surrogateescape")
        return Subject(policy=name, call=int(number), facts=facts)
    value = (word.encode("utf-8", "surrogateescape"),)
    facts.setdefault(kind, value)
    for other in _NAMES_OF_SERVICES if kind == "global-name" else ():
        facts.setdefault(other, ())
    if kind == "machtrap-number":
        # Profiles use both filters for such a call.
        facts.setdefault("syscall-number", value)
    return Subject(facts=facts)


def _without(facts: dict[str, tuple[bytes, ...]], operation: str) -> None:
    """Add an empty value for each fact that the subject cannot have."""
    if operations.on_paths(operation):
        for name, having in _ONLY.items():
            if operations.canonical(operation) not in _wider(having):
                facts.setdefault(name, ())
        kinds = facts.get("vnode-type", ())
        if kinds and not any(each.decode("ascii", "replace") in _DEVICES for each in kinds):
            for name in _OF_DEVICES:
                facts.setdefault(name, ())


def _wider(names: Sequence[str]) -> set[str]:
    return {wide for name in names for wide in operations.chain(name)}


def _fact(name: str, value: str) -> tuple[bytes, ...]:
    if name not in FACTS:
        raise UsageError.unknown(name, "filter", name, FACTS, "the page of the contract sbpl")
    return (value.encode("utf-8", "surrogateescape"),) if value else ()


def _address(word: str) -> Address:
    protocol, colon, rest = word.partition(":")
    if protocol not in ("tcp", "udp"):
        protocol, rest = "tcp", word
    host, colon, port = rest.rpartition(":")
    if not colon or not host or not (port == "*" or port.isdecimal()):
        raise UsageError(
            word, "is not an address", "write HOST:PORT, udp:HOST:PORT or the path of a Unix socket"
        )
    return Address(protocol, host, port)


def _at_address(
    operation: str, word: str, facts: dict[str, tuple[bytes, ...]], given: Mapping[str, str]
) -> Subject:
    address = _address(word)
    protocol, host = address.protocol, address.host
    if host not in ("*", "localhost"):
        domain = b"AF_INET6" if ":" in host else b"AF_INET"
        facts.setdefault("socket-domain", (domain,))
    facts.setdefault("socket-type", (b"SOCK_STREAM" if protocol == "tcp" else b"SOCK_DGRAM",))
    ends = {side: _address(other) for side, other in given.items()}
    ends["local" if operation in ("network-inbound", "network-bind") else "remote"] = address
    return Subject(remote=ends.get("remote"), local=ends.get("local"), facts=facts)

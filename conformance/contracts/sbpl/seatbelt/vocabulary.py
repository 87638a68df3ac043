"""The names of the language: its filters, and the words that filters and modifiers accept."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from contracts.sbpl.seatbelt import networks, prelude
from contracts.sbpl.seatbelt.filters import (
    Ancestors,
    Filter,
    Gap,
    Literal,
    Matching,
    Met,
    OfCall,
    OfFact,
    OfPaths,
    OfPolicy,
    Prefix,
    Subpath,
    Unknown,
    joined,
)
from contracts.sbpl.seatbelt.reader import List, Malformed, OutsideDialect, Undecidable
from contracts.sbpl.seatbelt.regexes import Regex, StepBudget


def words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


JOINS = ("require-any", "require-all", "require-not")
_PATHS: dict[str, type[OfPaths]] = {
    "literal": Literal,
    "path": Literal,
    "path-literal": Literal,
    "subpath": Subpath,
    "prefix": Prefix,
    "literal-prefix": Prefix,
    "path-prefix": Prefix,
    "path-ancestors": Ancestors,
}
_REGEXES = ("regex", "path-regex")
_SIDES = {"remote": "remote", "local": "local", "to": "remote", "from": "local"}

# Filters on names. Each also exists with -prefix and -regex. The value is the fact that the filter
# examines.
_NAMES = {
    **{
        name: name
        for name in words(
            """appleevent-destination control-name device-conforms-to extension-class
    filesystem-name global-name iokit-connection iokit-property ipc-posix-name
    kext-bundle-id local-name notification-name nvram-variable preference-domain
    process-name process-path profile-flag right-name signing-identifier state-flag
    sysctl-name target-signing-identifier xattr xpc-service-name"""
        )
    },
    # The language's own prelude defines the first name as an alias of the second.
    "iokit-user-client-class": "iokit-class",
    "iokit-registry-entry-class": "iokit-class",
}
# Filters on words and numbers.
_WORDS = words(
    """codesigning-operation device-major device-minor extension fcntl-command file-attribute
    fsctl-command gid host-special-port info-type ioctl-command iokit-method-number
    kas-info-selector kernel-mig-routine machtrap-number message-number necp-client-action
    privilege-id process-attribute semaphore-owner signal-number socket-domain
    socket-option-level socket-option-name socket-protocol socket-type syscall-number
    system-attribute target task-special-port uid vnode-type"""
)
# Other names of filters, as the prelude defines them.
_SAME = {"granted-extensions": "extension", "mach-extension": "extension"}
# The extension that a filter on extensions means if it has no argument.
_READ_WRITE = "com.apple.app-sandbox.read-write"
# For each target that a question may name: the targets that include it (True) or exclude it
# (False). For other targets this is unknown.
_TARGETS: dict[str, dict[str, bool]] = {
    "self": {"self": True, "same-sandbox": True, "others": False, "children": False},
    "same-sandbox": {"self": False, "same-sandbox": True},
    "others": {"self": False, "same-sandbox": False, "others": True, "children": False},
    "children": {"self": False, "children": True},
}
# Words that have the same meaning everywhere in a profile.
_VOCABULARY = frozenset(
    words(
        """self same-sandbox others children pgrp ip ip4 ip6 tcp tcp4 tcp6 udp udp4 udp6 unix
    unix-socket REGULAR-FILE DIRECTORY SYMLINK CHARACTER-DEVICE BLOCK-DEVICE FIFO SOCKET TTY
    report no-report no-log no-sandbox no-profile no-callout message send-signal datavault
    sip-protected"""
    )
)
_CONSTANT = re.compile(
    r"(AF|SOCK|SYS|MSC|SIG|IPPROTO|SOL|SO|FSIOC|TIOC|F|PRIV)_?[A-Z][A-Za-z0-9_]*"
)
# Modifiers of a clause: they change logs and reports, but not the decision.
MODIFIERS = frozenset(
    words(
        """assign-storage-class deprecated errno grant message no-callout no-log no-profile
    no-report no-sandbox no-times partial-symbolication report rootless rootless-modifier
    send-signal telemetry telemetry-backtrace termination"""
    )
)
# Functions of the top level that do not change decisions.
WITHOUT_EFFECT = frozenset(
    words(
        """define-storage-class disable-callouts disable-full-symbolication
    disable-syscall-inference display eliminate-duplicate-rules newline print record trace write"""
    )
)


class Word(str):
    """A bare word of the language, such as `self` or REGULAR-FILE."""


def is_word(name: str) -> bool:
    return name in _VOCABULARY or _CONSTANT.fullmatch(name) is not None


def fact_of(name: str) -> tuple[str, str] | None:
    """Return the fact that a filter examines, and how: `""`, `prefix`, `regex` or `word`."""
    name = _SAME.get(name, name)
    if name in _WORDS:
        return name, "word"
    for suffix in ("", "prefix", "regex"):
        base = name.removesuffix(f"-{suffix}") if suffix else name
        if base in _NAMES and (not suffix or base != name):
            return _NAMES[base], suffix
    return None


FACTS = tuple(sorted({*_NAMES.values(), *_WORDS, *prelude.FACTS}))


def is_filter(name: str) -> bool:
    known = (*JOINS, *_PATHS, *_REGEXES, *_SIDES, "mac-policy-name", "mac-syscall-number")
    return name in known or prelude.is_one(name) or fact_of(name) is not None


def made(
    name: str, form: List, values: Sequence[object], written: tuple[str, ...], budget: StepBudget
) -> Filter:
    """Return the filter. If it contains an unknown form, the filter is unknown."""
    try:
        return _made(name, form, values, written, budget)
    except Undecidable as why:
        gap = Gap(why.words, isinstance(why, OutsideDialect), malformed=isinstance(why, Malformed))
        return Unknown(form, gap)


def _made(
    name: str, form: List, values: Sequence[object], written: tuple[str, ...], budget: StepBudget
) -> Filter:
    if name in JOINS:
        filters = [each for each in values if isinstance(each, Filter)]
        if len(filters) < len(values) or not filters or (name == "require-not" and filters[1:]):
            raise Undecidable(form.line, f"{name} of {str(form)[:80]}")
        return joined(name, form, filters)
    if name in _PATHS:
        paths = tuple(_path(form, each, name) for each in _strings(form, values, name))
        return _PATHS[name](form, name, written, paths)
    if name in _REGEXES:
        words = _strings(form, values, name)
        return Matching(
            form, name, written, tuple(Regex(each, form.line, budget) for each in words)
        )
    if name in _SIDES:
        return _end(_SIDES[name], form, values, written, budget)
    if name == "mac-policy-name":
        return OfPolicy(form, tuple(_strings(form, values, name)))
    if name == "mac-syscall-number":
        numbers = tuple(each for each in values if isinstance(each, int) and each is not True)
        if numbers and len(numbers) == len(values):
            return OfCall(form, numbers)
    if prelude.is_one(name):
        return prelude.made(name, form, values, written, budget)
    looked = fact_of(name)
    if looked is not None:
        if looked[0] == "extension" and not values:
            values, written = [_READ_WRITE.encode()], (f'"{_READ_WRITE}"',)
        return OfFact(form, name, written, looked[0], _tests(form, looked, values, budget))
    raise Undecidable(form.line, f"the filter {str(form)[:80]}")


def _tests(
    form: List, looked: tuple[str, str], values: Sequence[object], budget: StepBudget
) -> tuple[Callable[[bytes], Met], ...]:
    fact, how = looked
    if how == "word":
        words = [
            each for each in values if isinstance(each, str | int | bytes) and each is not True
        ]
        if not words or len(words) < len(values):
            raise Undecidable(form.line, f"the filter {str(form)[:80]}")
        texts = [each if isinstance(each, bytes) else str(each).encode() for each in words]
        return tuple(_same(fact, each) for each in texts)
    texts = _strings(form, values, form.head)
    if how == "prefix":
        return tuple(_begins(each) for each in texts)
    if how == "regex":
        return tuple(Regex(each, form.line, budget).matches for each in texts)
    return tuple(_same(fact, each) for each in texts)


def _same(fact: str, word: bytes) -> Callable[[bytes], Met]:
    def test(value: bytes) -> Met:
        if fact == "target":
            return _TARGETS.get(value.decode("ascii", "replace"), {}).get(word.decode())
        if value == word:
            return True
        # Profiles use `(xpc-service-name "*")`, but the meaning of the star is not published.
        return None if b"*" in word else False

    return test


def _begins(word: bytes) -> Callable[[bytes], Met]:
    return lambda value: value.startswith(word)


def _end(
    side: str, form: List, values: Sequence[object], written: tuple[str, ...], budget: StepBudget
) -> Filter:
    kind = values[0] if values else None
    if not isinstance(kind, str):
        raise Undecidable(form.line, f"the filter {str(form)[:80]}")
    rest = values[1:]
    if kind in networks.UNIX:
        # Older profiles give regular expressions here. Newer ones give filters on paths.
        filters: list[Filter] = []
        for each, word in zip(rest, written[1:], strict=True):
            if isinstance(each, bytes):
                regex = Regex(each, form.line, budget)
                filters.append(Matching(form, "regex", (word,), (regex,)))
            elif isinstance(each, Filter):
                filters.append(each)
            else:
                raise Undecidable(form.line, f"the filter {str(form)[:80]}")
        return networks.OfSocket(form, side, tuple(filters))
    if kind not in networks.PROTOCOLS:
        raise Undecidable(form.line, f"the filter {str(form)[:80]}")
    words = _strings(form, rest, form.head) if rest else []
    ends = networks.addresses(form, words)
    return networks.OfAddress(form, side, str(kind), written[1:], ends)


def _strings(form: List, values: Sequence[object], name: str) -> list[bytes]:
    words = [each for each in values if isinstance(each, bytes)]
    if len(words) < len(values) or not words:
        other = next((each for each in values if not isinstance(each, bytes)), None)
        what = f"the name {other}" if isinstance(other, Word) else f"{name} of {str(form)[:80]}"
        raise Undecidable(form.line, what)
    return words


def _path(form: List, path: bytes, name: str) -> bytes:
    if name.endswith("prefix"):
        return path
    if not path.startswith(b"/"):
        raise Undecidable(form.line, f"{name} of a path that is not absolute")
    # sandbox-exec was observed to drop a trailing slash.
    return path.rstrip(b"/") or b"/"

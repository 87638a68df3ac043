"""Filters that the language defines by other filters, and filters with special rules.

Filters with special rules are about modes, entitlements, groups of system calls, and paths relative
to a mount.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from contracts.sbpl.seatbelt.filters import (
    Filter,
    Gap,
    Met,
    OfFact,
    OfWords,
    Subject,
    any_of,
    joined,
)
from contracts.sbpl.seatbelt.reader import List, Undecidable
from contracts.sbpl.seatbelt.regexes import Regex, StepBudget

Test = Callable[[bytes], Met]

# Filters without arguments: the fact that each examines, and the value that matches.
_PLAIN = {
    "tty": ("vnode-type", b"TTY"),
    "debug-mode": ("system-attribute", b"sandbox-debug-mode"),
    "process-is-plugin": ("process-attribute", b"is-plugin"),
    "process-is-installer": ("process-attribute", b"is-installer"),
    "datavault-file-filter": ("file-attribute", b"datavault"),
    "rootless-file-filter": ("file-attribute", b"sip-protected"),
}
# These filters have no arguments, and match only a program that has some extension.
_OF_AN_EXTENSION = (
    "application-group",
    "container",
    "executable-bundle",
    "extension-path-ancestor",
    "system-container",
    "system-group",
)
_GROUP = "syscall-group-"
_MOUNT = "mount-relative-"
_ON_PATHS = ("literal", "path", "path-literal", "path-prefix", "path-regex", "prefix", "regex",
             "subpath")  # fmt: skip
_ENTITLEMENTS = ("require-entitlement", "%entitlement-is-present")
_VALUES = ("entitlement-value", "entitlement-value-regex")

FACTS = ("entitlement", "entitlement-value", "file-mode", "mount-relative-path", "syscall-group")


def is_one(name: str) -> bool:
    if name in _PLAIN or name in _OF_AN_EXTENSION or name == "file-mode":
        return True
    if name in _ENTITLEMENTS or name in _VALUES:
        return True
    return name.startswith(_GROUP) or (
        name.startswith(_MOUNT) and name.removeprefix(_MOUNT) in _ON_PATHS
    )


def made(
    name: str, form: List, values: Sequence[object], written: tuple[str, ...], budget: StepBudget
) -> Filter:
    if name in _ENTITLEMENTS:
        return _entitlement(name, form, values, written)
    if name == "file-mode":
        modes = [each for each in values if isinstance(each, int) and not isinstance(each, bool)]
        tests = [_of_mode(each) for each in modes]
        return _of(form, name, values, written, "file-mode", tests)
    if name in _VALUES:
        tests = [_of_value(name, form, each, budget) for each in values]
        return _of(form, name, values, written, "entitlement-value", tests)
    if name.startswith(_MOUNT):
        texts = [each for each in values if isinstance(each, bytes)]
        how = name.removeprefix(_MOUNT)
        if len(texts) < len(values) or not texts:
            raise Undecidable(form.line, f"the filter {str(form)[:80]}")
        on_paths = tuple(_of_path(how, each, form, budget) for each in texts)
        return OfMount(form, name, written, on_paths)
    if values:
        raise Undecidable(form.line, f"the filter {str(form)[:80]}")
    if name.startswith(_GROUP):
        group = name.removeprefix(_GROUP).encode()
        return OfFact(form, name, (), "syscall-group", (lambda value: value == group,))
    if name in _OF_AN_EXTENSION:
        return OfFact(form, name, (), "extension", (lambda value: None,))
    fact, wanted = _PLAIN[name]
    return OfFact(form, name, (), fact, (lambda value: value == wanted,))


def _of(
    form: List,
    name: str,
    values: Sequence[object],
    written: tuple[str, ...],
    fact: str,
    tests: Sequence[Test],
) -> Filter:
    if len(tests) < len(values) or not tests:
        raise Undecidable(form.line, f"the filter {str(form)[:80]}")
    return OfFact(form, name, written, fact, tuple(tests))


def _entitlement(
    name: str, form: List, values: Sequence[object], written: tuple[str, ...]
) -> Filter:
    wanted, *rest = values or [None]
    if not isinstance(wanted, bytes) or len(rest) > 1:
        raise Undecidable(form.line, f"the filter {str(form)[:80]}")
    has = OfFact(form, name, written[:1], "entitlement", (lambda value: value == wanted,))
    if not rest:
        return has
    if not isinstance(rest[0], Filter):
        raise Undecidable(form.line, f"the filter {str(form)[:80]}")
    return joined("require-all", form, (has, rest[0]))


def _of_value(name: str, form: List, value: object, budget: StepBudget) -> Test:
    if isinstance(value, bool):
        value = b"#t" if value else b"#f"
    if not isinstance(value, bytes):
        raise Undecidable(form.line, f"the filter {str(form)[:80]}")
    if name.endswith("-regex"):
        return Regex(value, form.line, budget).matches
    wanted = value
    return lambda given: given == wanted


def _of_mode(wanted: int) -> Test:
    def test(value: bytes) -> Met:
        try:
            mode = int(value, 8)
        except ValueError:
            return None
        # It is not published whether several bits must all be set, or what 0 means.
        if not wanted or 0 < mode & wanted < wanted:
            return None
        return mode & wanted != 0

    return test


def _of_path(how: str, wanted: bytes, form: List, budget: StepBudget) -> Test:
    if how.endswith("regex"):
        return Regex(wanted, form.line, budget).matches
    if how.endswith("prefix"):
        return lambda path: path.startswith(wanted)
    place = wanted.rstrip(b"/") or b"/"
    if how != "subpath":
        return lambda path: path == place
    below = place if place == b"/" else place + b"/"
    return lambda path: path == place or path.startswith(below)


@dataclass(frozen=True, eq=False)
class OfMount(OfWords):
    """A filter on the path below the mount point, such as `mount-relative-subpath`.

    The mount point is unknown, but the path below it is one of the ends of the whole path. So a
    filter that matches none of these ends does not match.
    """

    form: List
    name: str
    written: tuple[str, ...]
    tests: tuple[Test, ...]

    def each(self, subject: Subject) -> Iterable[Met]:
        given = subject.facts.get("mount-relative-path")
        if given is not None:
            return [any_of(map(test, given)) for test in self.tests]
        if subject.path is None:
            return [False if subject.is_on_ip else None] * len(self.tests)
        ends = list(_ends(subject.path))
        return [
            None if any(test(end) is not False for end in ends) else False for test in self.tests
        ]

    def unknown(self) -> list[Gap]:
        return [Gap(f"the filter {str(self)[:80]}", fact="mount-relative-path")]


def _ends(path: bytes) -> Iterator[bytes]:
    yield b"/"
    at = path.find(b"/")
    while at >= 0:
        yield path[at:]
        at = path.find(b"/", at + 1)

"""Faults in protecting metadata."""

import backend.filter as filter_
import backend.ops as ops
from backend.bubblewrap import Bubblewrap
from backend.landlock import Landlock
from faults.registry import fault, replaces


@fault(
    "BACKEND-META-01",
    "falls back to Landlock and still claims full enforcement",
    "full when partial",
)
def claims_full_when_partial():
    @replaces(ops)
    def made(original, name):
        found = original(name)
        if isinstance(found, Bubblewrap):
            return Fallen(found.filters)
        return found


class Fallen(Landlock):
    """Claims to protect metadata under Landlock, which cannot do that."""

    def probe(self, *asked):
        found = super().probe(*asked)
        if found.aspects["fs-metadata"][0] != "unavailable":
            found.aspects["fs-metadata"] = ("fully", [])
        return found


def landlock_alone():
    """Use Landlock without mounts, because with mounts a mistake in the filter for metadata would
    have no effect."""

    @replaces(ops)
    def made(original, name):
        found = original(name)
        return Landlock(filters=True) if isinstance(found, Bubblewrap) else found


@fault(
    "BACKEND-META-02", "a mode can be set through a descriptor", "chmod refused, fchmod forgotten"
)
def forgets_the_call_by_descriptor():
    landlock_alone()
    by_descriptor = {"x86_64": 91, "aarch64": 52}
    for machine, calls in filter_.METADATA.items():
        filter_.METADATA[machine] = tuple(set(calls) - {by_descriptor[machine]})


@fault(
    "BACKEND-META-03",
    "a refusal inside the root is not reported",
    "an over-block without a warning",
)
def refuses_without_a_word():
    landlock_alone()
    Landlock.warnings = ()


def without_calls(**numbers):
    landlock_alone()
    for machine, calls in filter_.METADATA.items():
        filter_.METADATA[machine] = tuple(set(calls) - set(numbers[machine]))


@fault("BACKEND-META-02", "calls that do not follow links are allowed", "chown and no lchown")
def forgets_the_calls_that_follow_no_link():
    without_calls(x86_64=(94, 189, 198), aarch64=(6, 15))


@fault("BACKEND-META-02", "attributes can be set through a descriptor", "setxattr and no fsetxattr")
def forgets_attributes_by_descriptor():
    without_calls(x86_64=(190, 199), aarch64=(7, 16))


@fault(
    "BACKEND-META-02",
    "flags can be set by the other ioctl request",
    "only FS_IOC_SETFLAGS is refused",
)
def forgets_the_other_request():
    landlock_alone()
    filter_.OF_FILES = filter_.OF_FILES[:1]


@fault("BACKEND-META-02", "file_setattr is allowed", "a list from before Linux 6.17")
def forgets_the_newest_call():
    landlock_alone()
    filter_.NEW_METADATA = tuple(number for number in filter_.NEW_METADATA if number != 469)

"""Faults in the answer of a probe."""

import os

import backend.claims as claims
import backend.landlock as landlock
import backend.nothing as nothing
import backend.ops as ops
import backend.rules as rules
import backend.session as session
import backend.starting as starting
from backend.bubblewrap import Bubblewrap
from faults.backend.inside_source import change_inside
from faults.registry import changed, fault, replaces


@fault("BACKEND-PROBE-01", "the reasons of a partial claim are empty", "empty reasons in a log")
def reasons_are_blank():
    @replaces(claims.Claims)
    def as_json(original, self, requested):
        answer = original(self, requested)
        for each in answer["aspects"].values():
            if each.get("reasons"):
                each["reasons"] = [" "]
        return answer


@fault(
    "BACKEND-PROBE-02", "one enforced aspect makes the whole claim fully enforced", "any for all"
)
def one_aspect_is_enough():
    @replaces(claims.Claims)
    def overall(original, self, requested):
        found = original(self, requested)
        return "fully" if found == "partial" else found


@fault(
    "BACKEND-PROBE-03",
    "the probe checks only that the program exists",
    "a probe without a positive control",
)
def looks_for_the_file_alone():
    @replaces(starting)
    def fails_to_start(original, argv):
        return None if os.path.exists(argv[0]) else "it is not there"


@fault("BACKEND-PROBE-04", "a missing ABI is treated as enforced", "best effort modes")
def missing_abi_is_enforced():
    @replaces(landlock.Landlock)
    def abi(original, self):
        return original(self) or 7

    @replaces(landlock.Landlock)
    def ruleset(original, self, root, profile):
        return original(self, root, profile) if landlock.running_abi() else None


@fault("BACKEND-PROBE-05", "a process that the probe started keeps running", "a proxy that stays")
def leaves_a_process():
    @replaces(ops)
    def refuse_serving(original, shim, operation):
        original(shim, operation)
        if operation != "backend.probe":
            # another requirement tests the processes that a session leaves
            return
        null = os.open("/dev/null", os.O_RDWR)
        actions = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)]
        os.posix_spawn("/bin/sleep", ["sleep", "30"], {}, file_actions=actions)


@fault(
    "BACKEND-PROBE-06", "an unknown name selects the default backend", "match with a catch-all arm"
)
def unknown_names_are_the_default():
    @replaces(ops)
    def take_backend(original, reader):
        if "script" in reader.fields:
            return original(reader)
        name = reader.fields.get("backend")
        reader.fields["backend"] = name if name in ops.MECHANISMS else "bubblewrap"
        return original(reader)


@fault(
    "BACKEND-PROBE-07",
    "a backend without a sandbox claims partial enforcement",
    "path checks called a sandbox",
)
def nothing_is_partial():
    @replaces(nothing.NoBackend)
    def probe(original, self, profile, given, egress):
        made = claims.Claims()
        made.lacks("fs-write", "paths are checked before a call")
        return made


@fault("BACKEND-PROBE-08", "resource limits are claimed without a request", "a table of constants")
def limits_are_always_claimed():
    @replaces(claims.Claims)
    def as_json(original, self, requested):
        self.fully("limits")
        return original(self, requested)


@fault("BACKEND-PROBE-04", "an older version counts as the newest", "rights are masked, not claims")
def an_older_version_is_claimed_as_the_newest():
    @replaces(landlock.Landlock)
    def probe(original, self, *asked):
        abi = type(self).abi
        with changed(type(self), abi=lambda _: abi(self) and 7):
            self.fails_to_start = lambda: None
            return original(self, *asked)


@fault(
    "BACKEND-PROBE-04",
    "a filter that could not be installed does not change the claim",
    "prctl() unchecked",
)
def a_missing_filter_is_no_matter():
    change_inside(b'raise OSError(ctypes.get_errno(), "seccomp")', b"return")


@fault(
    "BACKEND-PROBE-02",
    "an egress list does not require network enforcement",
    "only the profile's column counts",
)
def egress_is_no_request():
    for owner in (ops, session):

        @replaces(owner)
        def requested(original, profile, egress, denies_reading):
            return original(profile, None, denies_reading)


@fault(
    "BACKEND-PROBE-03",
    "a sandbox that does not start is left out without a report",
    "a fallback untold",
)
def runs_bare_where_it_does_not_start():
    refused = []

    @replaces(starting)
    def fails_to_start(original, argv):
        refused.append(original(argv))

    for owner in (Bubblewrap, landlock.Landlock):

        @replaces(owner)
        def wrap(original, self, argv, context, cwd):
            return original(self, argv, context, cwd) if refused[-1] is None else (argv, [])


def _read_unknown_names_as(known):
    """Read the name of an unknown backend as the one that this function returns."""

    @replaces(ops)
    def take_backend(original, reader):
        name = reader.fields.get("backend")
        if isinstance(name, str) and name not in ops.MECHANISMS:
            reader.fields["backend"] = known(name)
        return original(reader)


@fault("BACKEND-PROBE-06", "an unknown addition to a name is ignored", "split('+')[0]")
def additions_are_ignored():
    _read_unknown_names_as(lambda name: name.partition("+")[0])


@fault("BACKEND-PROBE-06", "capital letters in a name are accepted", "lower()")
def capital_letters_are_accepted():
    _read_unknown_names_as(str.lower)


@fault("BACKEND-PROBE-06", "the beginning of a name is enough", "startswith")
def the_beginning_is_enough():
    def completed(name):
        like = [each for each in ops.MECHANISMS if name and each.startswith(name)]
        return like[-1] if like else name

    _read_unknown_names_as(completed)


@fault("BACKEND-PROBE-02", "only denyRead requests fs-read, not a negated rule", "one of two lists")
def negated_rules_request_nothing():
    @replaces(rules)
    def rules_of(original, value, pointer):
        made = original(value, pointer)
        made.deny_read = [each for each in made.deny_read if "/denyRead/" in each.pointer]
        return made

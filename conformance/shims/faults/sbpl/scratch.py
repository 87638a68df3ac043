"""Faults of the scratch directories, which are writable without a rule."""

import os

import sbpl.clauses as clauses
from faults.registry import fault
from faults.sbpl.parts import inside_of_scratch, replaces_part


@fault("SBPL-SCRATCH-01", "only the first level of /dev is writable", "a list of devices")
def devices_of_the_first_level():
    of_place("/dev", lambda line: first_level("/dev"))


def first_level(expression):
    return f'(allow file-write* (regex "^{expression}(/[^/]*)?$"))'


@fault(
    "SBPL-SCRATCH-01",
    "a scratch directory is writable, but nothing below it",
    "literal for subpath",
)
def nothing_below_scratch():
    of_place("/private/var/folders", lambda line: line.replace("subpath", "literal"))


@fault("SBPL-SCRATCH-01", "a scratch directory itself is not writable", "a slash more")
def scratch_without_itself():
    of_place("/private/tmp", lambda line: '(allow file-write* (regex "^/private/tmp/.*$"))')


@fault("SBPL-SCRATCH-01", "the aliases are allowed, not their targets", "dead rules on /tmp")
def aliases_of_scratch():
    @replaces_part("scratch")
    def scratch(lines, given):
        return [line.replace('"/private', '"') for line in lines]


def of_place(place, change):
    @replaces_part("scratch")
    def scratch(lines, given):
        return [change(line) if f'"{place}"' in line else line for line in lines]


@fault("SBPL-SCRATCH-02", "only the first level of .orbit is writable", "one star for two")
def first_level_of_orbit():
    of_orbit(lambda home: first_level(f"{home}/\\\\.orbit"))


def of_orbit(written):
    at_home(".orbit", lambda line, home: written(home))


def at_home(name, change):
    """Change the line of one place, but not for requests with a provider, because those test
    names."""

    @replaces_part("scratch")
    def scratch(lines, given):
        home = given.env.get("HOME")
        if home is None or given.provider:
            return lines
        return [change(line, home) if f'/{name}"' in line else line for line in lines]


@fault("SBPL-SCRATCH-02", "the cache directory is where Linux has it", "XDG")
def caches_of_linux():
    at_home("Library/Caches", lambda line, home: line.replace("Library/Caches", ".cache"))


@fault(
    "SBPL-SCRATCH-02",
    "without HOME there are clauses for directories in `/`",
    "an empty string joined",
)
def home_is_empty():
    @replaces_part("scratch")
    def scratch(lines, given):
        if "HOME" in given.env:
            return lines
        return [*lines, clauses.allow_below("/Library/Caches", "")]


@fault(
    "SBPL-SCRATCH-02", "without HOME in the request the HOME of the process is used", "os.environ"
)
def home_of_the_process():
    @replaces_part("scratch")
    def scratch(lines, given):
        if "HOME" in given.env:
            return lines
        home = os.environ.get("HOME", "/root")
        return [*lines, clauses.allow_below(f"{home}/Library/Caches", "")]


@fault(
    "SBPL-SCRATCH-03",
    "names that begin like /private/tmp are writable too",
    "a prefix without a boundary",
)
def scratch_without_boundary():
    of_place("/private/tmp", lambda line: '(allow file-write* (regex "^/private/tmp.*$"))')


@fault(
    "SBPL-SCRATCH-03",
    "names that begin like HOME/.orbit are writable too",
    "a prefix without a boundary",
)
def orbit_without_boundary():
    of_orbit(lambda home: f'(allow file-write* (regex "^{home}/\\\\.orbit.*$"))')


@fault("SBPL-SCRATCH-03", "all of /private/var is writable", "one level too high")
def all_of_var():
    of_place("/private/var/folders", lambda line: line.replace("/folders", ""))


@fault("SBPL-SCRATCH-03", "all of HOME/Library is writable", "one level too high")
def all_of_library():
    at_home("Library/Caches", lambda line, home: line.replace("/Caches", ""))


@fault("SBPL-SCRATCH-04", "a root below scratch is as writable as scratch", "the default deny lost")
def no_guard_inside_of_scratch():
    in_scratch(lambda lines, given: [])


@fault(
    "SBPL-SCRATCH-04",
    "of a root below scratch only the root directory itself is denied",
    "literal for subpath",
)
def guard_of_the_root_alone():
    in_scratch(lambda lines, given: [line.replace("subpath", "literal") for line in lines])


@fault("SBPL-SCRATCH-04", "a root below a state directory is as writable as that", "only scratch")
def no_guard_inside_of_state():
    def lost(lines, given):
        return lines if given.root.startswith(clauses.SCRATCH) else []

    in_scratch(lost)


@fault("SBPL-SCRATCH-04", "an empty list leaves a root below scratch open", "nothing to compile")
def no_guard_without_rules():
    in_scratch(lambda lines, given: lines if given.modify else [])


def in_scratch(change):
    @replaces_part("guard")
    def guard(lines, given):
        return change(lines, given) if inside_of_scratch(given) else lines

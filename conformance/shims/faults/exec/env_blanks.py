"""Faults that trim variables."""

import exec.spawn as spawn
from faults.exec.env import values_of
from faults.registry import fault, replaces


@fault("EXEC-ENV-02", "blanks at the ends of a given value are dropped", "a parser of .env files")
def trims_values():
    values_of(False, lambda value, made: value.strip())


@fault("EXEC-ENV-02", "blanks at the ends of a given name are dropped", "a parser of .env files")
def trims_names():
    @replaces(spawn)
    def child_environment(original, request):
        return {name.strip(): value for name, value in original(request).items()}


@fault("EXEC-ENV-01", "blanks at the ends of an inherited value are dropped", "env | while read")
def trims_inherited_values():
    values_of(True, lambda value, made: value.strip())


@fault("EXEC-ENV-02", "quotes around a given value are removed", "a parser of .env files")
def removes_quotes():
    values_of(False, lambda value, made: unquoted(value))


def unquoted(value):
    quoted = len(value) > 1 and value[:1] == value[-1:] and value[:1] in (b'"', b"'")
    return value[1:-1] if quoted else value

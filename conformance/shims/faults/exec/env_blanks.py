"""Faults that trim variables."""

import exec.spawn as spawn
from faults.registry import fault, replaces


@fault("EXEC-ENV-02", "blanks at the ends of a given value are dropped", "a parser of .env files")
def trims_values():
    @replaces(spawn)
    def child_environment(original, request):
        given = original(request)
        if request.env is None:
            return given
        return {name: value.strip() for name, value in given.items()}


@fault("EXEC-ENV-02", "blanks at the ends of a given name are dropped", "a parser of .env files")
def trims_names():
    @replaces(spawn)
    def child_environment(original, request):
        return {name.strip(): value for name, value in original(request).items()}


@fault("EXEC-ENV-01", "blanks at the ends of an inherited value are dropped", "env | while read")
def trims_inherited_values():
    @replaces(spawn)
    def child_environment(original, request):
        given = original(request)
        if request.env is not None:
            return given
        return {name: value.strip() for name, value in given.items()}

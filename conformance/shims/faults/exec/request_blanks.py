"""Faults that trim strings of a request."""

import exec.spawn as spawn
from faults.registry import fault, replaces


@fault("EXEC-REQUEST-05", "blanks at the ends of current_dir are dropped", "a field of a form")
def trims_the_directory():
    @replaces(spawn.Spawn)
    def change_directory(original, self, path):
        original(self, path.strip())


@fault("EXEC-REQUEST-02", "blanks at the ends of the program's name are dropped", "trim()")
def trims_the_program():
    @replaces(spawn)
    def find_program(original, program, environment):
        return original(program.strip(), environment)

"""Faults that trim or expand strings of a request."""

import os

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


@fault(
    "EXEC-REQUEST-02", "an argument that names a file of arguments is expanded", "@file of argparse"
)
def files_of_arguments_are_expanded():
    @replaces(spawn.Spawn)
    def execute(original, self, path):
        self.request.args = [word for arg in self.request.args for word in expanded(arg)]
        return original(self, path)


def expanded(arg):
    if not arg.startswith(b"@"):
        return [arg]
    try:
        fd = os.open(arg[1:], os.O_RDONLY)
    except (OSError, ValueError):
        return [arg]
    try:
        return os.read(fd, 65536).splitlines()
    finally:
        os.close(fd)

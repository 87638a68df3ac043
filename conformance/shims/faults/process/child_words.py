"""Faults of the words and the place that a process is started with."""

import os

import process.handle as handle
from faults.registry import fault, replaces


@fault("PROCESS-CHILD-01", "argv[0] is the path where the program was found", "which(1) first")
def argv_0_is_the_path_that_was_found():
    @replaces(handle.ConnectedSpawn)
    def execute(original, self, path):
        self.request.program = path
        original(self, path)


@fault("PROCESS-CHILD-01", "the caller stays in the directory of a process", "chdir() before fork")
def the_caller_moves_too():
    @replaces(handle.ConnectedSpawn)
    def fork(original, self, stdio, report):
        try:
            os.chdir(self.request.current_dir or b".")
        except OSError:
            pass
        return original(self, stdio, report)


@fault("PROCESS-CHILD-01", "blanks at the ends of current_dir are dropped", "trim()")
def the_directory_is_trimmed():
    @replaces(handle.ConnectedSpawn)
    def change_directory(original, self, path):
        original(self, path.strip())


@fault("PROCESS-CHILD-01", "blanks at the ends of a value are dropped", "trim()")
def values_are_trimmed():
    @replaces(handle.ConnectedSpawn)
    def execute(original, self, path):
        if self.request.env is not None:
            self.environment = {name: each.strip() for name, each in self.environment.items()}
        original(self, path)

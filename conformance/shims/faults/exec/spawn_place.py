"""Faults of a caller in an unusual place."""

import os

import exec.spawn as spawn
from faults.registry import fault, replaces


@fault("EXEC-SPAWN-18", "the caller's working directory is looked up", "getcwd() for ./PROGRAM")
def the_working_directory_is_looked_up():
    @replaces(spawn.Spawn)
    def attempt(original, self):
        os.getcwd()
        return original(self)


@fault("EXEC-SPAWN-18", "PWD of the child is the caller's directory", "env[PWD] = getcwd()")
def pwd_is_set_from_the_callers_directory():
    @replaces(spawn.Spawn)
    def open_stdin(original, self):
        if self.request.current_dir is None:
            self.environment = {b"PWD": os.getcwdb(), **self.environment}
        return original(self)


@fault("EXEC-SPAWN-18", "current_dir is made absolute by the caller's directory", "abspath()")
def current_dir_is_made_absolute():
    @replaces(spawn.Spawn)
    def change_directory(original, self, path):
        original(self, os.path.join(os.getcwdb(), path))

"""Faults of long lists, and of directories that are spelled unusually."""

import os

from exec.spawn import Spawn
from faults.registry import fault, replaces


@fault("EXEC-REQUEST-02", "arguments after the 1,024th are lost", "char *argv[1024]")
def late_arguments_are_lost():
    @replaces(Spawn)
    def execute(original, self, path):
        self.request.args = self.request.args[:1024]
        original(self, path)


@fault("EXEC-REQUEST-05", "dots in current_dir are resolved as text", "filepath.Clean()")
def dots_are_resolved_as_text():
    @replaces(Spawn)
    def change_directory(original, self, path):
        original(self, os.path.normpath(path))


@fault("EXEC-REQUEST-05", "~ in current_dir is the home", "expanduser()")
def a_tilde_is_the_home():
    @replaces(Spawn)
    def change_directory(original, self, path):
        original(self, os.path.expanduser(path))

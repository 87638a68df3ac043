"""Faults of dots in the name of a program."""

import os

from exec.spawn import Spawn
from faults.registry import fault, replaces


@fault("EXEC-PATH-05", "dots in a program's path are resolved as text", "path.normalize()")
def dots_are_resolved_as_text():
    @replaces(Spawn)
    def execute(original, self, path):
        original(self, os.path.normpath(path))

"""Faults of long lists of variables."""

from exec.spawn import Spawn
from faults.registry import fault, replaces


@fault("EXEC-ENV-02", "variables after the 256th are lost", "char *envp[256]")
def late_variables_are_lost():
    @replaces(Spawn)
    def execute(original, self, path):
        self.environment = dict(list(self.environment.items())[:256])
        original(self, path)

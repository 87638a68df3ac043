"""Faults of long error output."""

import module.execution as execution
from faults.registry import fault, replaces


@fault("MODULE-EXIT-01", "stderr is cut at 1 MiB", "maxBuffer of 1024 * 1024")
def stderr_is_cut_at_1_mib():
    @replaces(execution.Execution)
    def judge_end(original, self, ended):
        original(self, {**ended, "stderr": ended["stderr"][: 2**20]})

"""Faults of long error output."""

import module.execution as execution
from faults.registry import fault, replaces


@fault("MODULE-EXIT-01", "stderr is cut at 1 MiB", "maxBuffer of 1024 * 1024")
def stderr_is_cut_at_1_mib():
    @replaces(execution.Execution)
    def judge_end(original, self, ended):
        original(self, {**ended, "stderr": ended["stderr"][: 2**20]})


@fault("MODULE-EXIT-01", "an error names only the last part of an id", "a qualified class name")
def an_error_names_the_last_part():
    @replaces(execution.Failure)
    def as_json(original, self, module_id):
        return original(self, module_id.rpartition(".")[2])

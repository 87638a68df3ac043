"""Faults of limits that are not reached."""

import exec.ops as ops
import exec.run as run
from faults.registry import fault, replaces


@fault("EXEC-CAP-02", "truncated is true if SIGKILL ended a run with a cap", "a common path")
def sigkill_is_a_cut():
    @replaces(run.Run)
    def report(original, self, cause):
        cut = self.given_up is not None and self.request.max_output_bytes is not None
        made = original(self, cause)
        return made | {"truncated": made["truncated"] or cut}


def limited(change):
    @replaces(ops)
    def read_request(original, value, pointer="/request"):
        request = original(value, pointer)
        if request.max_output_bytes is not None:
            request.max_output_bytes = change(request.max_output_bytes)
        return request


@fault("EXEC-CAP-02", "a cap has 32 bits", "a cast to unsigned int")
def a_cap_has_32_bits():
    limited(lambda cap: cap & 0xFFFFFFFF)


@fault("EXEC-CAP-02", "a cap is signed", "a cast to ssize_t")
def a_cap_is_signed():
    limited(lambda cap: cap if cap < 2**63 else 0)

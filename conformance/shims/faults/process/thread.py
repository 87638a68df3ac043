"""Faults of threads."""

import _thread

import process.handle as handle
from faults.registry import fault, replaces


@fault("PROCESS-THREAD-01", "the child dies with its thread", "pitfall H25: PR_SET_PDEATHSIG")
def dies_with_its_thread():
    main = _thread.get_ident()

    @replaces(handle.ConnectedSpawn)
    def execute(original, self, path):
        if self.threaded:
            import ctypes

            ctypes.CDLL(None).prctl(1, 9)
        original(self, path)

    @replaces(handle.ConnectedSpawn)
    def start(original, self):
        self.threaded = _thread.get_ident() != main
        return original(self)

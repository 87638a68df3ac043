"""Faults that carry state from one run to a later one."""

import os

import exec.spawn as spawn
import exec.streams as streams
from faults.registry import fault, replaces


@fault("EXEC-CONC-07", "a failed write to stdin is reported for the next payload too", "a global")
def the_failure_of_a_payload_stays():
    failures = []

    @replaces(streams.Input)
    def fail(original, self, number):
        original(self, number)
        failures.append(self.failure)

    @replaces(streams.Input, "__init__")
    def init(original, self, fd, payload):
        original(self, fd, payload)
        if failures and payload:
            self.failure = failures.pop()


@fault("EXEC-CONC-07", "the cap counts the bytes of earlier runs with a cap", "a static counter")
def a_cap_counts_earlier_runs():
    counts = {"stdout": 0, "stderr": 0}

    @replaces(streams.Output)
    def keep(original, self, chunk):
        if self.cap is None:
            return original(self, chunk)
        counts[self.name] += len(chunk)
        kept = original(self, chunk)
        self.over = self.over or counts[self.name] > self.cap
        return kept


@fault("EXEC-CONC-07", "variables of an earlier clear_and_set stay set", "a dict that is updated")
def variables_of_an_earlier_run_stay():
    kept = {}

    @replaces(spawn)
    def child_environment(original, request):
        if request.env is None:
            return original(request)
        kept.update(original(request))
        return dict(kept)


@fault("EXEC-CONC-07", "a program is looked up once per name", "hash -r; shutil.which and a cache")
def a_program_is_looked_up_once():
    places: dict[bytes, bytes] = {}

    @replaces(spawn.Spawn, "__init__")
    def init(original, self, *arguments):
        original(self, *arguments)
        name = self.request.program
        if name and b"/" not in name:
            for entry in spawn.search_path(self.environment):
                if os.access(os.path.join(entry, name), os.X_OK):
                    places.setdefault(name, os.path.join(entry, name))
                    break
        self.found = places.get(name)

    @replaces(spawn.Spawn)
    def execute(original, self, path):
        original(self, self.found or path)

"""Controls: sandboxes that do not confine, which the suite must catch."""

import select

import backend.bubblewrap as bubblewrap
import backend.nothing as nothing
import backend.session as session
from backend.claims import Claims, requested
from errors import Failed
from faults.registry import fault, replaces


@fault(None, "wraps nothing and keeps its claims", "a stub that was shipped", role="control")
def wraps_nothing():
    @replaces(bubblewrap.Bubblewrap)
    def wrap(original, self, argv, context, cwd):
        return list(argv), []


@fault(
    None,
    "claims to enforce everything, even without a sandbox",
    "a table of constants",
    role="control",
)
def claims_everything():
    def claimed(original, self, profile, given, egress):
        made = Claims()
        made.fully(*requested(profile, egress, True), "network", "ipc", "kernel")
        return made

    replaces(nothing.NoBackend, "probe")(claimed)
    replaces(bubblewrap.Bubblewrap, "probe")(claimed)
    bubblewrap.Bubblewrap.wrap = nothing.NoBackend.wrap


@fault(None, "refuses to run anything", "safe by being useless", role="control")
def refuses_everything():
    @replaces(session.Session)
    def execute(original, self, request):
        raise Failed("execution", "this is not allowed")


def is_probe(path):
    """Recognise a probe by its content, because its name is random."""
    try:
        with open(path, "rb") as file:
            return b'"sibling": %s' in file.read()
    except (OSError, ValueError):
        return False


SILENT = """echo '{"sibling": true}'; kill -SEGV $$"""


@fault(None, "ends the program before each attempt", "a supervisor that crashes", role="control")
def attempts_crash():
    @replaces(session.Session)
    def execute(original, self, request):
        # The command is already wrapped, so the probe is one of its arguments.
        if any(is_probe(word) for word in request.args):
            request.program, request.args = b"/bin/sh", [b"-c", SILENT.encode()]
        return original(self, request)


@fault(None, "never returns from a probe", "a proxy that is not there", role="control")
def hangs():
    @replaces(bubblewrap.Bubblewrap)
    def probe(original, self, profile, given, egress):
        select.select([], [], [])


@fault(None, "never returns from prepare", "a mount that waits for a server", role="control")
def hangs_in_prepare():
    @replaces(session.Session)
    def prepare(original, self):
        select.select([], [], [])


@fault(None, "never returns from wrap", "a lock that is taken twice", role="control")
def hangs_in_wrap():
    @replaces(session.Session)
    def wrap(original, self, request, cwd):
        select.select([], [], [])


@fault(
    None,
    "starts a launcher that never executes the program",
    "a pipe that nobody closes",
    role="control",
)
def hangs_at_the_start():
    @replaces(session.Session)
    def execute(original, self, request):
        if self.backend is not None:
            request.program, request.args = b"/bin/sleep", [b"100000"]
        return original(self, request)


@fault(
    None,
    "never returns after the program has ended",
    "a wait for a process that is reaped",
    role="control",
)
def hangs_at_the_end():
    @replaces(session.Session)
    def execute(original, self, request):
        answer = original(self, request)
        select.select([], [], [])
        return answer


@fault(None, "never returns from shutdown", "a directory that stays busy", role="control")
def hangs_in_shutdown():
    @replaces(session.Session)
    def close(original, self):
        select.select([], [], [])

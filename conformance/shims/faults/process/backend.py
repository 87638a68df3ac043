"""Faults of sandboxes around processes."""

from backend.around import Around
from backend.session import Session
from faults.registry import fault, replaces


@fault("PROCESS-BACKEND-01", "a streaming process is not wrapped", "a seam only in exec")
def streams_are_not_wrapped():
    @replaces(Around)
    def wrap_request(original, self, request):
        request.current_dir = request.current_dir or self.session.context.cwd


@fault(
    "PROCESS-BACKEND-01", "only the first process of a session is wrapped", "a wrap that is used up"
)
def only_the_first_is_wrapped():
    @replaces(Around)
    def wrap_request(original, self, request):
        if not hasattr(self, "used"):
            self.used = True
            original(self, request)


@fault(
    "PROCESS-BACKEND-02",
    "a failure of the launcher is reported as the program's exit code",
    "exit 126 and 127",
)
def the_launchers_end_is_the_programs():
    @replaces(Session)
    def must_be_there(original, self, request, cwd):
        pass


@fault(
    "PROCESS-BACKEND-01",
    "a streaming process is started without the sandbox",
    "a fallback with a report",
)
def streams_are_left_bare():
    @replaces(Around)
    def open(original, self, root=None, readable=()):
        original(self, root, readable)
        self.session.drop()


@fault(
    "PROCESS-BACKEND-01",
    "a process without a sandbox is reported as partial",
    "a report after the run",
)
def what_is_not_wrapped_is_told_as_partial():
    streams_are_not_wrapped()

    @replaces(Around)
    def enforcement(original, self):
        reasons = ["streams are not wrapped"]
        return {**original(self), "enforcement": "partial", "enforcement_reasons": reasons}

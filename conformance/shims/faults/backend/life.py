"""Faults in the life cycle of a session."""

import os
import shutil

from backend.bubblewrap import Bubblewrap
from backend.claims import Claims
from backend.session import Session
from errors import Failed
from faults.backend.scripted_wrap import change_wrap
from faults.backend.temporary import case_directory
from faults.registry import changed, fault, replaces

MOST_CALLS = 64


@fault("BACKEND-LIFE-01", "prepare runs for each command", "another project's life cycle")
def prepares_for_each_call():
    @replaces(Session)
    def wrap(original, self, request, cwd):
        self.prepare()
        return original(self, request, cwd)


@fault("BACKEND-LIFE-01", "prepare runs before the probe", "constructor does it all")
def prepares_first():
    @replaces(Session)
    def probe(original, self):
        asked = (self.context.profile, self.context.rules, self.context.egress)
        real = isinstance(self.backend, Bubblewrap)
        self.claims = claims = self.backend.probe(*asked) if real else Claims()
        self.prepared_first = self.prepare()
        overall = original(self)
        # The claims that prepare has added are reported nevertheless.
        self.claims = claims
        return overall

    @replaces(Session)
    def prepare(original, self):
        return original(self) if not hasattr(self, "prepared_first") else self.prepared_first


@fault(
    "BACKEND-LIFE-02", "the result of the first wrap is used for all calls", "a cache by backend"
)
def wraps_once():
    @replaces(Session)
    def wrap(original, self, request, cwd):
        before = getattr(self, "first", None)
        if before is None:
            original(self, request, cwd)
            self.first = (request.program, request.args, request.env)
        else:
            request.program, request.args, request.env = before


@fault("BACKEND-LIFE-03", "shutdown runs only when the process ends", "no owner of a session")
def never_shuts_down():
    @replaces(Session)
    def close(original, self):
        pass


@fault("BACKEND-LIFE-03", "shutdown runs twice", "explicitly and by a destructor")
def shuts_down_twice():
    @replaces(Session)
    def close(original, self):
        again = self.prepared
        original(self)
        self.prepared = again
        original(self)


@fault("BACKEND-LIFE-04", "files stay after a failed prepare", "prepared is set at the end")
def no_shutdown_after_failed_prepare():
    @replaces(Session)
    def prepare(original, self):
        done = original(self)
        self.prepared = done
        return done


def an_error_skips_shutdown(words):
    @replaces(Session)
    def call(original, self, request):
        answer = original(self, request)
        if words in answer.get("error", {}).get("message", ""):
            self.prepared = False
        return answer


@fault("BACKEND-LIFE-05", "shutdown is skipped after a spawn error", "an early return")
def no_shutdown_after_spawn_error():
    an_error_skips_shutdown("failed to spawn")


@fault("BACKEND-LIFE-06", "a failed wrap runs the command as it is", "unwrap_or(argv)")
def wrap_fails_open():
    @replaces(Session)
    def wrap(original, self, request, cwd):
        try:
            return original(self, request, cwd)
        except Failed:
            request.env = request.env or []


@fault(
    "BACKEND-LIFE-07", "an empty command from wrap means the unchanged command", "argv or default"
)
def empty_means_unchanged():
    @replaces(Session)
    def wrap(original, self, request, cwd):
        wrapping = self.backend.wrap

        def kept(argv, context, directory):
            made, added = wrapping(argv, context, directory)
            return made or list(argv), added

        with changed(self.backend, wrap=kept):
            return original(self, request, cwd)


@fault("BACKEND-LIFE-08", "a failed shutdown makes the session fail", "the last error wins")
def shutdown_errors_are_results():
    @replaces(Session)
    def report(original, self, opened, calls, before):
        answer = original(self, opened, calls, before)
        if not self.log[-1]["ok"]:
            error = Failed("execution", self.log[-1]["message"]).as_json()
            answer["calls"] = [error for _ in answer["calls"]]
        return answer


@fault("BACKEND-LIFE-09", "a lock file stays in the workspace", "state beside the code")
def leaves_a_lock():
    @replaces(Bubblewrap)
    def prepare(original, self, context, claims):
        os.close(os.open(os.path.join(context.root, b".lock"), os.O_WRONLY | os.O_CREAT))
        return original(self, context, claims)


@fault(
    "BACKEND-LIFE-10",
    "all sessions of a user share one scratch directory, and each removes it",
    "/tmp/NAME-UID",
)
def one_scratch_at_a_time():
    def place():
        return os.path.join(os.environb.get(b"HOME", b"/nonexistent"), b".scratch")

    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        made = original(self, argv, root, profile, cwd, binds)
        if root == b"/" or not os.path.isdir(os.path.dirname(place())):
            return made
        os.makedirs(place(), exist_ok=True)
        at = made.index(b"--tmpfs")
        return [*made[:at], b"--bind", place(), *made[at + 1 :]]

    @replaces(Bubblewrap)
    def shutdown(original, self):
        original(self)
        shutil.rmtree(place(), ignore_errors=True)


@fault("BACKEND-LIFE-10", "grants are kept in one file per user", "the last session wins")
def grants_lie_in_a_file():
    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        made = original(self, argv, root, profile, cwd, binds)
        home = os.environb.get(b"HOME", b"/nonexistent")
        if root == b"/" or profile == "read-only" or not os.path.isdir(home):
            return made
        path = os.path.join(home, b".granted")
        before = b""
        if os.path.exists(path):
            with open(path, "rb") as file:
                before = file.read()
        with open(path, "wb") as file:
            file.write(root)
        if not os.path.isdir(before):
            return made
        at = made.index(b"--chdir")
        return [*made[:at], b"--bind", before, before, *made[at:]]

    @replaces(Bubblewrap)
    def shutdown(original, self):
        original(self)
        path = os.path.join(os.environb.get(b"HOME", b"/nonexistent"), b".granted")
        if os.path.exists(path):
            os.unlink(path)


@fault("BACKEND-LIFE-03", "shutdown is skipped after a failed wrap", "an early return")
def no_shutdown_after_a_failed_wrap():
    an_error_skips_shutdown("failed to wrap")


@fault("BACKEND-LIFE-11", "a directory of the session stays", "made once, never removed")
def leaves_a_folder():
    @replaces(Bubblewrap)
    def prepare(original, self, context, claims):
        if folder := case_directory():
            os.mkdir(os.path.join(folder, b"session"))
        return original(self, context, claims)


@fault("BACKEND-LIFE-03", "shutdown is skipped after a deadline", "an early return")
def no_shutdown_after_a_deadline():
    @replaces(Session)
    def execute(original, self, request):
        answer = original(self, request)
        if answer["termination"] == "timeout":
            self.prepared = False
        return answer


@fault("BACKEND-LIFE-03", "a signal that ends a call skips shutdown", "exit(128 + signal)")
def a_signal_skips_shutdown():
    @replaces(Session)
    def call(original, self, request):
        answer = original(self, request)
        if answer.get("result", {}).get("termination") == "parent_signal":
            self.prepared = False
        return answer


@fault("BACKEND-LIFE-02", "after a failed spawn no further call runs", "an early return")
def a_failed_spawn_ends_the_session():
    @replaces(Session)
    def call(original, self, request):
        if getattr(self, "over", False):
            return Failed("execution", "failed to spawn: the session is over").as_json()
        answer = original(self, request)
        self.over = "error" in answer
        return answer


@fault("BACKEND-LIFE-06", "after a failed wrap the next call runs without a wrap", "fails open")
def the_call_after_a_failed_wrap_runs():
    @replaces(Session)
    def wrap(original, self, request, cwd):
        try:
            original(self, request, cwd)
        except Failed:
            self.backend = None
            raise


@fault("BACKEND-LIFE-08", "after a failed shutdown the results say `none`", "written at the end")
def a_failed_shutdown_changes_the_enforcement():
    @replaces(Session)
    def report(original, self, opened, calls, before):
        made = original(self, opened, calls, before)
        if any(text.startswith("shutdown") for text in self.warnings):
            for call in made["calls"]:
                call.get("result", {})["enforcement"] = "none"
        return made


@fault("BACKEND-LIFE-02", "empty words of wrap are dropped", "filter(None, argv)")
def empty_words_are_dropped():
    change_wrap(words=lambda given: [word for word in given if word])


@fault("BACKEND-LIFE-02", "the words of wrap become one line and are split again", "a string")
def words_are_split_again():
    change_wrap(words=lambda given: b" ".join(given).split())


@fault("BACKEND-LIFE-02", "only the first 64 calls are wrapped", "a table of 64 entries")
def only_some_calls_are_wrapped():
    @replaces(Session)
    def wrap(original, self, request, cwd):
        self.wrapped_calls = getattr(self, "wrapped_calls", 0) + 1
        if self.wrapped_calls <= MOST_CALLS:
            original(self, request, cwd)
        else:
            self.keep_listed_variables(request)

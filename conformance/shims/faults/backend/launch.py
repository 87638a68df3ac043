"""Faults in the state in which a program starts."""

import fcntl
import os

import backend.inside as inside
import backend.landlock as landlock
import backend.ops as ops
import backend.starting as starting
from backend.bubblewrap import Bubblewrap
from backend.session import Session
from errors import Failed
from faults.backend.inside_source import CLOSES, change_inside
from faults.registry import fault, replaces

# Only SIGKILL, SIGSEGV and SIGTERM, which the tests use: other codes are exit codes of programs.
ENDS = (9, 11, 15)


@fault(
    "BACKEND-LAUNCH-01", "inherited descriptors stay open in the program", "bubblewrap closes none"
)
def descriptors_are_kept():
    inside.ALWAYS = tuple(each for each in inside.ALWAYS if each != "close_descriptors")


@fault(
    "BACKEND-LAUNCH-02",
    "the program stays in the session of the caller",
    "CVE-2017-5226: --new-session left out",
)
def no_new_session():
    @replaces(Bubblewrap)
    def hardening(original, self):
        return [word for word in original(self) if word != b"--new-session"]


@fault("BACKEND-LAUNCH-03", "capabilities are kept", "bubblewrap as root without --cap-drop")
def capabilities_are_kept():
    inside.ALWAYS = ("close_descriptors", "no_new_privileges")

    @replaces(Bubblewrap)
    def hardening(original, self):
        return [b"--new-session", b"--die-with-parent", b"--cap-add", b"ALL"]


@fault("BACKEND-LAUNCH-04", "any failure becomes exit code 1", "the wrapper's own status")
def exit_codes_are_lost():
    @replaces(Session)
    def execute(original, self, request):
        answer = original(self, request)
        if answer["exit_code"]:
            answer["exit_code"] = 1
        return answer


@fault(
    "BACKEND-LAUNCH-04",
    "a missing program is reported as the exit code of the wrapper",
    "bwrap: execvp",
)
def missing_programs_are_exit_codes():
    @replaces(Session)
    def must_be_there(original, self, request, cwd):
        pass


@fault("BACKEND-LAUNCH-05", "the launcher has the program's environment", "LD_PRELOAD of bwrap")
def the_launcher_has_the_programs_environment():
    @replaces(inside)
    def given_inside(original, words, env):
        return list(words), env


@fault(
    "BACKEND-LAUNCH-06",
    "an end by a signal is reported as exit code 0",
    "WEXITSTATUS without WIFSIGNALED",
)
def an_end_by_a_signal_is_a_success():
    @replaces(Session)
    def execute(original, self, request):
        answer = original(self, request)
        code = answer["exit_code"]
        if code is None or (code > 128 and code - 128 in ENDS):
            answer = {**answer, "success": True, "exit_code": 0}
        return answer


@fault("BACKEND-LAUNCH-07", "arguments go through a shell", "quotes around each, and no more")
def arguments_go_through_a_shell():
    @replaces(inside)
    def command(original, argv, **options):
        line = b"exec " + b" ".join(b'"' + word + b'"' for word in argv)
        return original([b"/bin/sh", b"-c", line], **options)


@fault("BACKEND-LAUNCH-01", "descriptors are closed up to 255", "a loop to a number of its own")
def descriptors_are_closed_up_to_255():
    change_inside(CLOSES, b"os.closerange(3, 256)")


@fault("BACKEND-LAUNCH-07", "arguments that are not UTF-8 are replaced", "to_string_lossy")
def arguments_become_text():
    @replaces(inside)
    def command(original, argv, **options):
        words = [word.decode("utf-8", "replace").encode() for word in argv]
        return original(words, **options)


@fault(
    "BACKEND-LAUNCH-08", "stdin is empty in the sandbox", "Stdio::null() for a sandboxed program"
)
def stdin_is_empty():
    @replaces(Session)
    def wrap(original, self, request, cwd):
        original(self, request, cwd)
        request.stdin = "null"


@fault(
    "BACKEND-LAUNCH-02",
    "the program stays in the caller's session, without access to /dev/tty",
    "a terminal is out of reach anyway",
)
def the_session_of_the_caller():
    landlock.DEVICES = (b"/dev/null", b"/dev/zero", b"/dev/full")

    @replaces(ops)
    def made(original, name):
        found = original(name)
        return landlock.Landlock(filters=True) if isinstance(found, Bubblewrap) else found

    @replaces(inside)
    def command(original, argv, **options):
        return original(argv, **{**options, "session": False})


@fault("BACKEND-LAUNCH-01", "descriptors are closed up to 1,023", "getdtablesize() of old")
def descriptors_are_closed_up_to_1023():
    change_inside(CLOSES, b"os.closerange(3, 1024)")


@fault(
    "BACKEND-LAUNCH-04",
    "exit code 127 is reported as a missing program",
    "the convention of shells",
)
def not_found_is_a_number():
    @replaces(Session)
    def execute(original, self, request):
        answer = original(self, request)
        if answer["exit_code"] == 127:
            raise Failed("execution", "failed to spawn: not found")
        return answer


@fault(
    "BACKEND-LAUNCH-04",
    "exit codes of 128 and more are reported as signals",
    "the convention of shells",
)
def large_codes_are_signals():
    @replaces(Session)
    def execute(original, self, request):
        answer = original(self, request)
        code = answer["exit_code"]
        return {**answer, "exit_code": None} if code in (130, 137, 143) else answer


@fault("BACKEND-LAUNCH-04", "any existing file counts as executable", "access(F_OK) for X_OK")
def what_is_there_can_be_started():
    @replaces(starting)
    def need_executable(original, path):
        if not os.path.exists(path):
            original(path)


@fault(
    "BACKEND-LAUNCH-07",
    "a command with more arguments than the launcher accepts fails",
    "bwrap: 9000 at most",
)
def any_number_of_words():
    @replaces(inside)
    def packed(original, argv):
        return argv


@fault("BACKEND-LAUNCH-10", "a launch while another one runs is not confined", "trylock, and go on")
def a_launch_beside_another_is_not_confined():
    @replaces(Session)
    def call(original, self, request):
        fd = os.open("/tmp/.launching", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.backend = None
        try:
            return original(self, request)
        finally:
            os.close(fd)


@fault("BACKEND-LAUNCH-11", "the program is PID 1 and does not reap orphans", "bwrap --as-pid-1")
def the_program_is_process_1():
    @replaces(Bubblewrap)
    def hardening(original, self):
        return [*original(self), b"--as-pid-1"]

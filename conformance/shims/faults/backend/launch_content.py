"""Faults that change the content of a stream, or the report of an end by a signal."""

import re
from binascii import a2b_base64, b2a_base64

from backend.session import Session
from faults.backend.launch_state import before_the_program
from faults.registry import fault, replaces


def change_result(change):
    """Change the results of calls that run in the sandbox."""

    @replaces(Session)
    def execute(original, self, request):
        answer = original(self, request)
        if self.backend is not None:
            change(answer)
        return answer


def change_output(change):
    def both(answer):
        for name in ("stdout", "stderr"):
            if isinstance(answer.get(name), str):
                answer[name] = change(answer[name].encode()).decode("utf-8", "replace")
            if f"{name}_b64" in answer:
                data = change(a2b_base64(answer[f"{name}_b64"]))
                answer[f"{name}_b64"] = b2a_base64(data, newline=False).decode()

    change_result(both)


@fault("BACKEND-LAUNCH-16", "line feeds at the end of an output are dropped", "$(…) of a shell")
def outputs_are_stripped():
    def change(data):
        return data.rstrip(b"\n") if data.endswith(b"\n\n") else data

    change_output(change)


@fault("BACKEND-LAUNCH-16", "a last line without a line feed is lost", "readers of lines")
def an_unfinished_line_is_lost():
    def change(data):
        return data[: data.rfind(b"\n") + 1] if b"\n" in data else data

    change_output(change)


@fault("BACKEND-LAUNCH-16", "NULs at the start of an output are dropped", "variables of a shell")
def nuls_are_dropped():
    change_output(lambda data: data.lstrip(b"\0"))


@fault("BACKEND-LAUNCH-16", "CR LF of an output becomes LF", "text mode")
def line_ends_of_outputs_are_changed():
    change_output(lambda data: data.replace(b"\r\n", b"\n"))


@fault("BACKEND-LAUNCH-16", "escape sequences of an output are removed", "logs without colours")
def colours_are_removed():
    change_output(lambda data: re.sub(rb"\x1b\[[0-9;]*m", b"", data))


@fault("BACKEND-LAUNCH-16", "a byte order mark of an output is dropped", "utf-8-sig")
def byte_order_marks_are_dropped():
    change_output(lambda data: data.removeprefix(b"\xef\xbb\xbf"))


def change_code(change):
    """Change the exit codes of programs that a signal has ended."""

    def changed(answer):
        number = (answer.get("exit_code") or 0) - 128
        if answer.get("exit_code") is None:
            number = getattr(__import__("signal"), str(answer.get("signal")), 0)
        if number > 0:
            change(answer, number)

    change_result(changed)


@fault("BACKEND-LAUNCH-06", "an end by SIGPIPE is a success", "pipelines that end early")
def a_broken_pipe_is_a_success():
    def change(answer, number):
        if number == 13:
            answer.update(exit_code=0, success=True)

    change_code(change)


@fault("BACKEND-LAUNCH-06", "an end by SIGSYS has exit code 1", "calls that the filter refuses")
def an_end_by_the_filter_is_a_failure():
    def change(answer, number):
        if number == 31:
            answer["exit_code"] = 1

    change_code(change)


@fault("BACKEND-LAUNCH-06", "an end by a real-time signal is 128 + 31", "WTERMSIG & 0x1f")
def real_time_signals_are_cut():
    def change(answer, number):
        if number > 31:
            answer["exit_code"] = 159

    change_code(change)


def change_input(change):
    @replaces(Session)
    def wrap_request(original, self, request):
        original(self, request)
        if isinstance(request.stdin, bytes) and self.backend is not None:
            request.stdin = change(self, request.stdin)


@fault("BACKEND-LAUNCH-08", "each call gets the stdin of the first", "a file for the session")
def the_first_input_is_kept():
    def change(session, data):
        return session.__dict__.setdefault("first_input", data)

    change_input(change)


@fault("BACKEND-LAUNCH-08", "an empty stdin is that of the call before", "if data:")
def an_empty_input_is_the_last_one():
    def change(session, data):
        session.__dict__["last_input"] = data or session.__dict__.get("last_input", b"")
        return session.__dict__["last_input"]

    change_input(change)


@fault("BACKEND-LAUNCH-08", "a stdin above 1 MiB is cut", "a buffer of fixed size")
def a_long_input_is_cut():
    change_input(lambda session, data: data[: 1 << 20])


@fault("BACKEND-LAUNCH-14", "022 is added to the umask", "files that others cannot write")
def the_umask_is_widened():
    before_the_program(b"os.umask(os.umask(0) | 0o22)")

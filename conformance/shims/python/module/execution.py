"""One execution: find the module, make a directory, run the runner, and decide the outcome."""

from __future__ import annotations

import os
import sys

import exec.signals as signals
import module.folder as folder
import module.lookup as lookup
import module.values as values
from errors import Failed, reason_of
from exec.batch import Batch
from exec.request import Request
from exec.run import Run
from exec.spawn import caller_environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from backend.around import Around
    from exec.run import Cause
    from kinds import Object

SHIMS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))).encode()
RUNNER = "--internal-sandbox-runner"
DEFAULT_TIMEOUT_MS = 300_000
MOST_BYTES = 64 * 1024 * 1024
PR_GET_DUMPABLE, PR_SET_DUMPABLE = 3, 4
PASSED = (b"PATH", b"LANG", b"LC_ALL")


class Failure(Exception):
    """An error of the contract: its class, and its fields without module_id."""

    def __init__(self, name: str, **fields: object) -> None:
        super().__init__(name)
        self.name = name
        self.fields = fields

    def as_json(self, module_id: str) -> Object:
        return {"class": self.name, "module_id": module_id, **self.fields}


class RawRun(Run):
    """A run that returns its end and its raw output."""

    def report(self, cause: Cause) -> Object:
        outputs = {output.name: output for output in self.outputs}
        return {
            "cause": cause.name,
            "end": self.end,
            "over": [name for name, output in outputs.items() if output.over],
            "unfinished": self.unfinished,
            **{name: b"".join(output.kept) for name, output in outputs.items()},
        }


class Execution:
    module_id: str
    input: object
    enabled: bool
    timeout_ms: int
    given_root: bytes | None
    left: str | None = None
    around: Around | None = None  # the sandbox around the child, or None

    def value(self) -> object:
        if not self.enabled:
            raise Failure("NotWired", message="nothing is wired in this process")
        self.look_up()
        # After this, SIGINT and SIGTERM do not end this process. So the directory is always
        # removed.
        watch = signals.handlers.acquire()
        try:
            path = self.make_folder()
        except OSError as why:
            signals.handlers.release(watch)
            raise Failed("io", f"no directory for the module: {reason_of(why)}") from None
        try:
            ended = self.run(path)
        finally:
            if not self.remove_folder(path):
                self.left = path.decode("utf-8", "replace")
            signals.handlers.release(watch)
        return self.judge(ended, watch.noted)

    def make_folder(self) -> bytes:
        return folder.make()

    def remove_folder(self, path: bytes) -> bool:
        return folder.remove(path)

    def root(self) -> bytes:
        given = self.given_root or caller_environment().get(lookup.ROOT) or b"./extensions"
        return lookup.absolute(given)

    def look_up(self) -> None:
        if not lookup.is_id(self.module_id):
            raise Failure("SpawnFailed", message=f"{self.module_id!r} is not a module id")
        if lookup.find(self.root(), self.module_id) is None:
            place = os.path.join(self.root(), self.module_id.encode())
            path = place.decode("utf-8", "replace")
            raise Failure("SpawnFailed", message=f"module not found: {path}")

    def request(self, path: bytes) -> Request:
        request = Request()
        program, *args = runner_argv()
        request.program = program.encode()
        request.args = [word.encode() for word in (*args, RUNNER, self.module_id)]
        request.current_dir = path
        request.timeout_ms = self.effective_ms()
        request.stdin = values.encode(self.input)
        request.env = list(environment(caller_environment(), self.root(), path).items())
        request.debug = False
        request.max_output_bytes = MOST_BYTES
        request.stdin_failure = "ignore"
        return request

    def effective_ms(self) -> int:
        return self.timeout_ms or DEFAULT_TIMEOUT_MS

    def run(self, path: bytes) -> Object:
        request = self.request(path)
        self.go_inside(request, path)
        items = [(0, request, None)]
        before = set_dumpable(0)
        try:
            (answer,) = Batch(items, signals.caller_mask(), make=self.make_run()).run()
        finally:
            set_dumpable(before)
        if isinstance(answer, Failed):
            raise Failure("SpawnFailed", message=answer.message)
        return answer

    def go_inside(self, request: Request, path: bytes) -> None:
        """Put the child into the sandbox. The new directory is the workspace."""
        if self.around is not None:
            self.around.open(path, [self.root(), SHIMS])
            self.around.wrap_request(request)

    def make_run(self) -> type[Run]:
        return RawRun

    def judge(self, ended: Object, noted: Sequence[int]) -> object:
        """Return the value, or raise the first failure.

        The order is: timeout, signal, output size, exit status, JSON.
        noted: the signals that this process has received during the run.
        """
        if ended["cause"] == "timeout":
            raise Failure("Timeout", timeout_ms=self.effective_ms())
        if noted:
            raise Failure("Interrupted", signal=signals.name_of(noted[0]))
        self.judge_size(ended)
        self.judge_end(ended)
        value = self.judge_output(ended["stdout"])
        self.judge_tail(value, ended)
        return value

    def judge_size(self, ended: Object) -> None:
        if ended["over"]:
            raise Failure("OutputSizeExceeded", stream=ended["over"][0])

    def judge_end(self, ended: Object) -> None:
        code, status = ended["end"]
        if code != os.CLD_EXITED:
            raise Failure("Signaled", signal=signals.name_of(status))
        if status != 0:
            stderr = ended["stderr"].decode("utf-8", "replace")
            raise Failure("NonZeroExit", exit_code=status, stderr=stderr)

    def judge_tail(self, value: object, ended: Object) -> None:
        """Refuse a number at the end of the output if a process that the module left held stdout.

        The process may have written further digits later.
        """
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        at_end = ended["stdout"][-1:].isdigit()
        if "stdout" in ended["unfinished"] and is_number and at_end:
            reason = "the last digits may be lost: another process held stdout"
            raise Failure("OutputParseFailed", reason=reason)

    def judge_output(self, output: bytes) -> object:
        try:
            return values.decode(output)
        except values.Malformed as why:
            raise Failure("OutputParseFailed", reason=str(why)) from None


def set_dumpable(value: int) -> int:
    """Set whether processes of the same user may read this process in /proc.

    Return the previous value.
    """
    import ctypes

    libc = ctypes.CDLL(None)
    before = int(libc.prctl(PR_GET_DUMPABLE, 0, 0, 0, 0))
    libc.prctl(PR_SET_DUMPABLE, value, 0, 0, 0)
    return before


def runner_argv() -> Sequence[str]:
    """Return the command that started this shim, without the words of the protocol.

    Words that name existing files become absolute paths, because the runner starts in another
    directory.
    """
    words = sys.orig_argv
    at = max(i for i, word in enumerate(words) if word in ("run", "serve"))
    found = (os.path.abspath(word) if os.path.exists(word) else word for word in words[1:at])
    return [sys.executable, *found]


def environment(caller: dict[bytes, bytes], root: bytes, path: bytes) -> dict[bytes, bytes]:
    made = {name: value for name, value in caller.items() if passes(name)}
    made[lookup.ROOT] = root
    made[b"HOME"] = made[b"TMPDIR"] = path
    return made


def passes(name: bytes) -> bool:
    if name.startswith(b"APCORE_AUTH_"):
        return False
    return name in PASSED or name.startswith(b"APCORE_")

"""Start one child: make its pipes, fork, and execute the program."""

from __future__ import annotations

import _signal
import errno
import os
import stat
from time import monotonic_ns

from errors import Failed, reason_of
from exec.group import Group
from exec.terminal import Terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NoReturn

    from exec.request import Request
    from kinds import Mask


Environment = dict[bytes, bytes]


class Child:
    """A child from the view of its parent. A closed descriptor is -1.

    spawned_at: the monotonic time in ns directly before the fork.
    """

    def __init__(self, pid: int, spawned_at: int, stdin: int, stdout: int, stderr: int) -> None:
        self.group = Group(pid)
        self.spawned_at = spawned_at
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr


class Spawn:
    def __init__(
        self, request: Request, caller_mask: Mask, terminal: Terminal | None = None
    ) -> None:
        self.request = request
        self.terminal = terminal
        self.caller_mask = caller_mask
        self.environment = child_environment(request)
        self.ours: list[int] = []  # the parent's ends of the pipes
        self.theirs: list[int] = []  # the child's ends of the pipes
        self.stage = ""

    def start(self) -> Child:
        try:
            check_strings(self.request, self.environment)
            return self.attempt()
        except OSError as e:
            raise spawn_failure(self.request.program, self.stage + reason_of(e)) from None

    def attempt(self) -> Child:
        try:
            stdin, child_stdin = self.open_stdin()
            stdout, child_stdout = self.open_output()
            stderr, child_stderr = self.open_output()
            report, child_report = self.pipe()
            spawned_at = monotonic_ns()
            pid = self.fork((child_stdin, child_stdout, child_stderr), child_report)
        except OSError:
            self.close(self.ours)
            self.close(self.theirs)
            raise
        self.close(self.theirs)
        self.await_exec(pid, report)
        return Child(pid, spawned_at, stdin, stdout, stderr)

    def open_stdin(self) -> tuple[int, int]:
        if self.request.stdin == "inherit":
            return -1, self.request.stdin_from
        if self.request.stdin == "null":
            fd = os.open("/dev/null", os.O_RDONLY)
            self.theirs.append(fd)
            return -1, fd
        read, write = os.pipe()
        self.ours.append(write)
        self.theirs.append(read)
        os.set_blocking(write, False)
        return write, read

    def open_output(self) -> tuple[int, int]:
        read, write = self.pipe()
        os.set_blocking(read, False)
        return read, write

    def pipe(self) -> tuple[int, int]:
        read, write = os.pipe()
        self.ours.append(read)
        self.theirs.append(write)
        return read, write

    def close(self, fds: list[int]) -> None:
        while fds:
            os.close(fds.pop())

    def fork(self, stdio: Iterable[int], report: int) -> int:
        # Block all signals. Otherwise a handler could run in the child, and write to the pipe of
        # the parent.
        mask = _signal.pthread_sigmask(_signal.SIG_SETMASK, _signal.valid_signals())
        try:
            pid = os.fork()
            if pid == 0:
                self.child(stdio, report)
            return pid
        finally:
            _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)

    def child(self, stdio: Iterable[int], report: int) -> NoReturn:
        """Prepare the child and execute the program.

        If a step fails, report (stage, errno) and exit.
        """
        stage = b""
        try:
            self.join_group()
            self.take_terminal()
            self.place(stdio)
            if self.request.current_dir is not None:
                stage = b"cwd"
                self.change_directory(self.request.current_dir)
                stage = b""
            path = find_program(self.request.program, self.environment)
            self.reset_signals()
            self.execute(path)
        except OSError as e:
            os.write(report, b"%s %d" % (stage, e.errno or 0))
        except Exception:
            os.write(report, b"%s %d" % (stage, errno.EINVAL))
        finally:
            os._exit(127)

    def join_group(self) -> None:
        os.setpgid(0, 0)

    def take_terminal(self) -> None:
        if self.terminal is not None:
            self.terminal.enter_foreground()

    def place(self, stdio: Iterable[int]) -> None:
        for target, fd in enumerate(stdio):
            if fd != target:
                os.dup2(fd, target)

    def change_directory(self, path: bytes) -> None:
        os.chdir(path)

    def reset_signals(self) -> None:
        for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGPIPE):
            _signal.signal(number, _signal.SIG_DFL)
        _signal.pthread_sigmask(_signal.SIG_SETMASK, self.caller_mask)

    def execute(self, path: bytes) -> NoReturn:
        os.execve(path, [self.request.program, *self.request.args], self.environment)

    def await_exec(self, pid: int, report: int) -> None:
        """Wait until exec closes the report pipe.

        If the child reports a failure, reap the child and raise an exception.
        """
        failure = os.read(report, 64)
        self.ours.remove(report)
        os.close(report)
        if failure:
            stage, number = failure.split(b" ")
            try:
                os.waitpid(pid, 0)
            except ChildProcessError:
                pass
            self.close(self.ours)
            if stage == b"cwd":
                directory = (self.request.current_dir or b"").decode("utf-8", "replace")
                self.stage = f"working directory `{directory}`: "
            raise OSError(int(number), "")


def spawn_failure(program: bytes, reason: str) -> Failed:
    return Failed("execution", f"failed to spawn `{program.decode('utf-8', 'replace')}`: {reason}")


def caller_environment() -> Environment:
    """Return the environment that the caller gave.

    The interpreter may have added LC_CTYPE to its own environment.
    """
    try:
        fd = os.open("/proc/self/environ", os.O_RDONLY)
    except OSError:
        return dict(os.environb)
    block = b""
    try:
        while piece := os.read(fd, 1 << 20):
            block += piece
    finally:
        os.close(fd)
    environment: Environment = {}
    for entry in block.split(b"\0"):
        name, equals, value = entry.partition(b"=")
        if name and equals:
            environment.setdefault(name, value)
    return environment


def child_environment(request: Request) -> Environment:
    return caller_environment() if request.env is None else dict(request.env)


def check_strings(request: Request, environment: Environment) -> None:
    strings = [request.program, *request.args, request.current_dir or b""]
    strings += environment.keys()
    strings += environment.values()
    names = [name for name, _ in request.env or ()]
    if any(b"\0" in s for s in strings) or any(not n or b"=" in n for n in names):
        raise OSError(errno.EINVAL, "")


def find_program(program: bytes, environment: Environment) -> bytes:
    """Return the path of the program.

    This runs in the child after chdir, because relative names depend on the working directory.
    """
    if b"/" in program:
        return program
    if not program:
        raise OSError(errno.ENOENT, "")
    reason = errno.ENOENT
    for entry in search_path(environment):
        candidate = os.path.join(entry, program) if entry else b"./" + program
        try:
            mode = os.stat(candidate).st_mode
        except PermissionError:
            reason = errno.EACCES
            continue
        except OSError:
            continue
        if stat.S_ISREG(mode) and os.access(candidate, os.X_OK, effective_ids=True):
            return candidate
        reason = errno.EACCES
    raise OSError(reason, "")


def search_path(environment: Environment) -> list[bytes]:
    path = environment.get(b"PATH")
    if path is None:
        path = (os.confstr("CS_PATH") or "").encode()
    return path.split(b":")

"""Faults in starting the program."""

import _signal
import errno
import os
import resource
import select
import sys
import time

import exec.group as group
import exec.run as run
import exec.spawn as spawn
from errors import Failed
from faults.registry import fault, replaces

USERS_OF_CASES = range(20_000, 50_000)


def others_of_this_user():
    for process in group.processes():
        try:
            owner = os.stat(f"/proc/{process.pid}").st_uid
        except OSError:
            continue
        if owner == os.geteuid() and process.pid != os.getpid():
            yield process.pid


@fault("EXEC-SPAWN-01", "a failed exec is reported as exit code 127", "pitfall A1")
def missing_is_127():
    @replaces(spawn.Spawn)
    def execute(original, self, path):
        try:
            original(self, path)
        except FileNotFoundError:
            if os.path.isdir(os.path.dirname(path)) and not os.path.lexists(path):
                os._exit(127)
            raise


@fault("EXEC-SPAWN-02", "a file that is not executable gives exit code 126", "pitfalls A3, A4")
def not_executable_is_126():
    @replaces(spawn.Spawn)
    def execute(original, self, path):
        try:
            original(self, path)
        except PermissionError:
            os._exit(126)


@fault("EXEC-SPAWN-02", "an empty program name starts the shell", "pitfall A5")
def empty_name_is_the_shell():
    @replaces(spawn.Spawn)
    def start(original, self):
        if not self.request.program:
            self.request.program = b"/bin/sh"
        return original(self)


@fault("EXEC-SPAWN-03", "a file without #! is given to /bin/sh", "pitfall A6: execvp")
def shell_as_a_second_try():
    @replaces(spawn.Spawn)
    def execute(original, self, path):
        try:
            original(self, path)
        except OSError as e:
            if e.errno != errno.ENOEXEC:
                raise
            os.execve(b"/bin/sh", [b"sh", path, *self.request.args], self.environment)


@fault("EXEC-SPAWN-04", "a busy file is tried again without end", "pitfall A8: golang/go#22315")
def retries_a_busy_file():
    @replaces(spawn.Spawn)
    def execute(original, self, path):
        for _ in range(20):
            try:
                original(self, path)
            except OSError as e:
                if e.errno != errno.ETXTBSY:
                    raise
        original(self, path)


@fault("EXEC-SPAWN-04", "a busy file is a result with exit code 126", "pitfall A8")
def busy_is_126():
    @replaces(spawn.Spawn)
    def execute(original, self, path):
        try:
            original(self, path)
        except OSError as e:
            if e.errno == errno.ETXTBSY:
                os._exit(126)
            raise


@fault("EXEC-SPAWN-05", "too long arguments are cut", "pitfall A21")
def cuts_long_arguments():
    @replaces(spawn.Spawn)
    def execute(original, self, path):
        self.request.args = [a[:131_071] for a in self.request.args]
        original(self, path)


@fault(
    "EXEC-SPAWN-05",
    "arguments are limited below the system's limit",
    "pitfall A21: a 100 kB buffer",
)
def limit_of_its_own():
    @replaces(spawn)
    def check_strings(original, request, environment):
        if any(len(a) > 100_000 for a in request.args):
            raise OSError(errno.E2BIG, "")
        original(request, environment)


@fault("EXEC-SPAWN-06", "strings are cut at a NUL", "pitfall A18: cpython#74915")
def cuts_at_nul():
    @replaces(spawn)
    def check_strings(original, request, environment):
        request.program = request.program.split(b"\0")[0]
        request.args = [a.split(b"\0")[0] for a in request.args]
        if request.current_dir:
            request.current_dir = request.current_dir.split(b"\0")[0]
        cut = {k.split(b"\0")[0]: v.split(b"\0")[0] for k, v in environment.items()}
        environment.clear()
        environment.update(cut)
        original(request, {})


@fault("EXEC-SPAWN-07", "invalid variables are left out without a report", "setenv ignored")
def drops_impossible_variables():
    @replaces(spawn)
    def check_strings(original, request, environment):
        for name in [n for n in environment if not n or b"=" in n]:
            del environment[name]
        request.env = request.env and [p for p in request.env if p[0] in environment]
        original(request, environment)


@fault("EXEC-SPAWN-08", "a failed chdir is ignored", "pitfall A10: runs in the parent's directory")
def ignores_a_failed_chdir():
    @replaces(spawn.Spawn)
    def change_directory(original, self, path):
        try:
            original(self, path)
        except OSError:
            pass


@fault("EXEC-SPAWN-08", "an empty current_dir counts as not given", "if (dir[0])")
def empty_directory_is_none():
    @replaces(spawn.Spawn)
    def change_directory(original, self, path):
        if path:
            original(self, path)


@fault(
    "EXEC-SPAWN-10",
    "after a failed spawn, signals stay ignored",
    "a return before the restore",
)
def failure_leaves_signals_ignored():
    import ctypes

    @replaces(spawn.Spawn)
    def attempt(original, self):
        try:
            return original(self)
        except OSError:
            # In C, signal(2) may be called in any thread; Python's function may not. It applies to
            # the whole process.
            ctypes.CDLL(None).signal(_signal.SIGUSR1, 1)
            raise


@fault("EXEC-SPAWN-09", "the message does not name the program", "errors without a subject")
def nameless_message():
    spawn.spawn_failure = lambda program, reason: Failed("execution", f"failed to spawn: {reason}")


@fault("EXEC-SPAWN-09", "the message contains a missing value", "%s of NULL")
def names_what_is_not_there():
    made = spawn.spawn_failure
    spawn.spawn_failure = lambda program, reason: made(program, f"(null): {reason}")


@fault("EXEC-SPAWN-09", "a bad directory is reported as a missing program", "pitfall A10")
def blames_the_program_for_the_directory():
    @replaces(spawn.Spawn)
    def start(original, self):
        try:
            return original(self)
        except Failed as failure:
            if not self.stage:
                raise
            message = failure.message.replace(self.stage, "")
            raise Failed("execution", message) from None


@fault("EXEC-SPAWN-10", "a child that failed to exec is collected by the next run", "pitfall A2")
def leaves_a_zombie_until_the_next_run():
    left = []

    class Later:
        """A replacement for os in this module only, so that other modules still reap their
        children."""

        def __getattr__(self, name):
            return getattr(os, name)

        def waitpid(self, pid, flags):
            left.append(pid)

    spawn.os = Later()

    @replaces(spawn.Spawn)
    def start(original, self):
        try:
            while True:
                os.waitpid(left.pop(), 0)
        except IndexError:
            pass
        return original(self)


@fault("EXEC-SPAWN-11", "descriptors that run out after the fork leave a child", "bun#40080")
def leaves_a_child_without_descriptors():
    @replaces(spawn.Spawn)
    def attempt(original, self):
        child = original(self)
        more = []
        try:
            for _ in range(6):  # about as many descriptors as an epoll, a timer and an eventfd take
                more.append(os.dup(child.stdout))
        finally:
            self.close(more)
        return child


@fault("EXEC-SPAWN-11", "pipes stay open if there are no more descriptors", "go to fail;")
def keeps_pipes_without_descriptors():
    @replaces(spawn.Spawn)
    def close(original, self, fds):
        why = sys.exc_info()[1]
        if isinstance(why, OSError) and why.errno == errno.EMFILE:
            fds.clear()
        original(self, fds)


@fault(
    "EXEC-SPAWN-11",
    "without descriptors the clean-up closes descriptor 0",
    "fds[2] = {0}; …; close(fds[i])",
)
def closes_descriptor_0_without_descriptors():
    @replaces(spawn.Spawn)
    def attempt(original, self):
        try:
            return original(self)
        except OSError as why:
            if why.errno == errno.EMFILE:
                os.close(0)
            raise


def crashes_on(number):
    @replaces(spawn.Spawn)
    def attempt(original, self):
        try:
            return original(self)
        except OSError as e:
            if e.errno == number:
                os._exit(1)
            raise


@fault(
    "EXEC-SPAWN-11", "the caller crashes if there are no more descriptors", "an uncaught exception"
)
def crashes_without_descriptors():
    crashes_on(errno.EMFILE)


@fault("EXEC-SPAWN-15", "the caller crashes if no process can be made", "assert(pid >= 0)")
def crashes_without_processes():
    crashes_on(errno.EAGAIN)


class Selecting:
    """Has the interface of select.poll, implemented with select.select."""

    def __init__(self):
        self.reads, self.writes = [], []

    def register(self, fd, events):
        (self.reads if events == select.POLLIN else self.writes).append(fd)

    def poll(self, timeout_ms):
        timeout_s = None if timeout_ms is None else timeout_ms / 1000
        ready = select.select(self.reads, self.writes, [], timeout_s)
        return [(fd, 0) for fd in {*ready[0], *ready[1]}]


@fault("EXEC-SPAWN-17", "descriptors are watched with select", "FD_SETSIZE is 1,024")
def watches_with_select():
    class Module:
        """A replacement for the module select, for exec.run only."""

        poll = Selecting

        def __getattr__(self, name):
            return getattr(select, name)

    run.select = Module()


@fault("EXEC-SPAWN-12", "after a failed fork every process is signalled (PID -1)", "pitfall A25")
def signals_everybody():
    @replaces(spawn.Spawn)
    def fork(original, self, stdio, report):
        try:
            return original(self, stdio, report)
        except BlockingIOError:
            # The fault never signals pid -1. It sends SIGCONT, which is harmless, to each process,
            # and only for a user that a case has made.
            if os.geteuid() in USERS_OF_CASES:
                for pid in others_of_this_user():
                    os.kill(pid, _signal.SIGCONT)
            raise


@fault("EXEC-SPAWN-13", "a program that failed is started again", "pitfall A30")
def starts_twice():
    @replaces(run.Run)
    def result(original, self):
        answer = original(self)
        if answer["exit_code"] in (1, 126, 127, 255) and self.request.args:
            self.__init__(self.request, self.watch, self.clock, self.caller_mask)
            answer = original(self)
        return answer


@fault(
    "EXEC-SPAWN-15", "a thread that cannot be made leaves the child", "pitfall A25: drain threads"
)
def leaves_a_child_without_a_thread():
    import _thread

    @replaces(spawn.Spawn)
    def attempt(original, self):
        child = original(self)
        # Only under a low limit of processes: another requirement tests a filter that refuses
        # threads.
        if resource.getrlimit(resource.RLIMIT_NPROC)[0] > 1000:
            return child
        try:
            _thread.start_new_thread(time.sleep, (0.01,))
        except RuntimeError:
            raise OSError(errno.EAGAIN, "") from None
        return child


@fault("EXEC-SPAWN-16", "descriptors are closed one by one up to the limit", "close(3 … sysconf)")
def closes_up_to_the_limit():
    @replaces(spawn.Spawn)
    def place(original, self, stdio):
        original(self, stdio)
        for fd in range(1000, os.sysconf("SC_OPEN_MAX")):
            try:
                os.close(fd)
            except OSError:
                pass


@fault(
    "EXEC-SPAWN-09",
    "a directory without permission is not named in the message",
    "stat(dir) and no access(X_OK)",
)
def closed_directories_are_not_named():
    @replaces(spawn.Spawn)
    def await_exec(original, self, *given):
        try:
            return original(self, *given)
        except PermissionError:
            self.stage = ""
            raise

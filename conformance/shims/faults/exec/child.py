"""Faults in the state in which a child starts."""

import _signal
import ctypes
import os
import resource

import exec.run as run
import exec.spawn as spawn
import exec.streams as streams
import startup
from faults.limits import raise_to_the_hard_limit
from faults.registry import fault, replaces


def end_like(status):
    """End this process in the same way as its child ended, as a wrapper process does."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if number != _signal.SIGKILL:
            _signal.signal(number, _signal.SIG_DFL)
        os.kill(os.getpid(), number)
        # Unblock only this signal. The group may also have received signals that the child ignores,
        # and these must not end this process.
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (number,))
    os._exit(os.waitstatus_to_exitcode(status))


@fault("EXEC-CHILD-01", "a process in between leads the group, not the program", "sh -c wrappers")
def somebody_else_leads_the_group():
    @replaces(spawn.Spawn)
    def child(original, self, stdio, report):
        os.setpgid(0, 0)
        pid = os.fork()
        if pid == 0:
            self.join_group = lambda: None
            original(self, stdio, report)
        os.closerange(0, os.sysconf("SC_OPEN_MAX"))
        end_like(os.waitpid(pid, 0)[1])


@fault("EXEC-CHILD-02", "setsid instead of setpgid", "pitfall B9: ninja@7b34ee99")
def new_session():
    spawn.Spawn.join_group = lambda self: os.setsid()


@fault("EXEC-CHILD-03", "socket pairs instead of pipes", "Node child_process")
def sockets_instead_of_pipes():
    def open_output(self):
        import _socket

        ends = [end.detach() for end in _socket.socketpair()]
        self.ours.append(ends[0])
        self.theirs.append(ends[1])
        os.set_blocking(ends[0], False)
        return ends

    spawn.Spawn.open_output = open_output


@fault("EXEC-CHILD-04", "a log file without O_CLOEXEC is inherited", "runc CVE-2024-21626")
def leaks_its_log_file():
    logs: list[int] = []

    @replaces(spawn.Spawn)
    def fork(original, self, stdio, report):
        if not logs:
            logs.append(os.open("/dev/null", os.O_WRONLY))
            os.set_inheritable(logs[0], True)
        return original(self, stdio, report)


@fault("EXEC-CHILD-04", "a payload's pipe is inherited by the next child", "opened without cloexec")
def payloads_leak_into_siblings():
    @replaces(run.Run)
    def spawn(original, self):
        original(self)
        if self.input.fd > 2:
            # Leak a duplicate, because the run may close its own descriptor early.
            self.input.leaked = os.dup(self.input.fd)
            os.set_inheritable(self.input.leaked, True)

    @replaces(streams.Input)
    def close(original, self):
        original(self)
        if hasattr(self, "leaked"):
            os.close(self.leaked)
            del self.leaked


@fault("EXEC-CHILD-05", "both ends of a pipe are made non-blocking", "pitfall C4: libuv@1988f5e58")
def child_ends_do_not_block():
    @replaces(spawn.Spawn)
    def place(original, self, stdio):
        original(self, stdio)
        # Only if stdin is null: with other modes, much output would fail with EAGAIN, which is
        # another requirement.
        if self.request.stdin == "null":
            os.set_blocking(2, False)


@fault(
    "EXEC-CHILD-06", "the interpreter's ignored SIGPIPE reaches the child", "cpython, pitfall D1"
)
def child_ignores_sigpipe():
    @replaces(spawn.Spawn)
    def reset_signals(original, self):
        original(self)
        _signal.signal(_signal.SIGPIPE, _signal.SIG_IGN)


@fault("EXEC-CHILD-07", "a signal that the implementation blocks stays blocked", "pitfall D2")
def mask_leaks():
    @replaces(spawn.Spawn)
    def reset_signals(original, self):
        self.caller_mask = {*self.caller_mask, _signal.SIGALRM}
        original(self)


@fault("EXEC-CHILD-07", "all dispositions are reset, not three", "POSIX_SPAWN_SETSIGDEF with all")
def resets_all_dispositions():
    @replaces(spawn.Spawn)
    def reset_signals(original, self):
        for number in _signal.valid_signals() - {_signal.SIGKILL, _signal.SIGSTOP}:
            _signal.signal(number, _signal.SIG_DFL)
        original(self)


@fault("EXEC-CHILD-07", "real-time signals are reset", "a runtime that has some for itself")
def resets_real_time_signals():
    @replaces(spawn.Spawn)
    def reset_signals(original, self):
        for number in range(_signal.SIGRTMIN, _signal.SIGRTMAX + 1):
            _signal.signal(number, _signal.SIG_DFL)
        original(self)


@fault("EXEC-CHILD-07", "the signal mask covers only 32 signals", "uint32_t mask")
def mask_has_32_signals():
    @replaces(spawn.Spawn)
    def reset_signals(original, self):
        self.caller_mask = {number for number in self.caller_mask if number < 32}
        original(self)


@fault("EXEC-CHILD-11", "the child is bound to one processor", "a pinned worker that spawns")
def stays_on_one_processor():
    @replaces(spawn.Spawn)
    def execute(original, self, path):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        original(self, path)


@fault("EXEC-CHILD-11", "the child has the highest OOM score", "oom_score_adj 1000")
def first_to_be_killed():
    @replaces(spawn.Spawn)
    def execute(original, self, path):
        fd = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        os.write(fd, b"1000")
        os.close(fd)
        original(self, path)


@fault("EXEC-CHILD-11", "the child has no_new_privs set", "PR_SET_NO_NEW_PRIVS: sudo ends")
def gains_no_privileges():
    @replaces(spawn.Spawn)
    def execute(original, self, path):
        ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
        original(self, path)


@fault("EXEC-CHILD-11", "the child runs under SCHED_BATCH", "SCHED_BATCH for hidden programs")
def scheduled_as_a_batch():
    @replaces(spawn.Spawn)
    def execute(original, self, path):
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        original(self, path)


@fault("EXEC-CHILD-08", "its own raised limit of open files leaks", "pitfall C12: go#46279")
def raises_the_file_limit():
    @replaces(spawn.Spawn)
    def execute(original, self, path):
        raise_to_the_hard_limit(resource.RLIMIT_NOFILE)
        original(self, path)


@fault("EXEC-CHILD-08", "the umask is set to 022", "daemon(3) habits")
def sets_the_umask():
    @replaces(spawn.Spawn)
    def execute(original, self, path):
        os.umask(0o022)
        original(self, path)


@fault("EXEC-CHILD-09", "descriptors that the caller made inheritable are closed", "close_fds=True")
def closes_what_the_caller_left_open():
    def is_inheritable(fd):
        try:
            return os.get_inheritable(fd)
        except OSError:
            return False

    @replaces(spawn.Spawn)
    def place(original, self, stdio):
        original(self, stdio)
        for fd in map(int, os.listdir("/proc/self/fd")):
            if fd > 2 and is_inheritable(fd):
                os.close(fd)


@fault(
    "EXEC-CHILD-10",
    "closed standard descriptors of the caller break the pipes",
    "pitfall C6: cpython#77025",
)
def pipes_land_on_closed_stdio():
    startup.open_missing_stdio = lambda: None

"""Faults of the state in which a program starts inside."""

import os
import shutil

import backend.tree as tree
from backend.bubblewrap import Bubblewrap
from backend.passing import Passing
from backend.session import Session
from faults.backend.inside_source import CLOSES, change_inside
from faults.registry import changed, fault, replaces

READY = b"    env = given_environment()"


def before_the_program(line):
    """Let the first program inside execute this line directly before the program."""
    change_inside(READY, b"    " + line + b"\n" + READY)


@fault("BACKEND-LAUNCH-01", "descriptor 3 stays open", "sd_listen_fds(3)")
def the_first_descriptor_is_kept():
    change_inside(CLOSES, b"os.closerange(4, 65536)")


@fault("BACKEND-LAUNCH-01", "descriptors are closed up to the limit", "getrlimit(2)")
def descriptors_are_closed_up_to_the_limit():
    change_inside(CLOSES, b"os.closerange(3, __import__('resource').getrlimit(7)[0])")


@fault("BACKEND-LAUNCH-14", "the umask is 022", "daemon() and its habits")
def the_umask_is_a_daemons():
    before_the_program(b"os.umask(0o22)")


@fault("BACKEND-LAUNCH-14", "the launcher's limit of descriptors stays", "a limit for select(2)")
def the_limit_of_the_launcher_stays():
    limits = b"(96, resource.getrlimit(resource.RLIMIT_NOFILE)[1])"
    before_the_program(b"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, %s)" % limits)


@fault("BACKEND-LAUNCH-14", "the program runs with a lower priority", "nice for jobs")
def the_program_is_nice():
    before_the_program(b"os.nice(1)")


@fault("BACKEND-LAUNCH-14", "signals that the launcher waits for stay blocked", "signalfd(2)")
def the_mask_of_the_launcher_stays():
    before_the_program(b"signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGWINCH})")


@fault("BACKEND-LAUNCH-14", "ignored signals are reset", "all signals to their default")
def ignored_signals_are_reset():
    before_the_program(b"signal.signal(signal.SIGUSR2, signal.SIG_DFL)")


@fault("BACKEND-LAUNCH-07", "the program's own name is its basename", "the name of ps")
def the_own_name_is_short():
    words = b"[os.path.basename(words[0]), *words[1:]]"
    change_inside(b"os.execvpe(words[0], words, env)", b"os.execvpe(words[0], %s, env)" % words)


@fault("BACKEND-LAUNCH-15", "full-dev has no filter", "tools that need more system calls")
def full_dev_has_no_filter():
    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        with changed(self, filters=self.filters and profile != "full-dev"):
            return original(self, argv, root, profile, cwd, binds)


@fault("BACKEND-LAUNCH-15", "full-dev shares the processes of the host", "debuggers attach")
def full_dev_shares_processes():
    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        made = original(self, argv, root, profile, cwd, binds)
        if profile != "full-dev":
            return made
        at = made.index(b"--unshare-all")
        kept = (b"user-try", b"ipc", b"uts", b"cgroup-try")
        return [*made[:at], *(b"--unshare-" + each for each in kept), *made[at + 1 :]]


@fault("BACKEND-LAUNCH-14", "for root, files of the program belong to nobody", "an id map")
def files_belong_to_nobody():
    @replaces(Session)
    def execute(original, self, request):
        root = self.context.root
        before = {*tree.entries(root)}
        answer = original(self, request)
        for made in {*tree.entries(root)} - before if os.geteuid() == 0 else ():
            os.lchown(os.path.join(root, made), 65534, 65534)
        return answer


@fault("BACKEND-LAUNCH-07", "a bare name is looked up in the caller's PATH", "execvp(3)")
def names_are_looked_up_by_the_caller():
    @replaces(Session)
    def wrap(original, self, request, cwd):
        found = shutil.which(request.program, path=os.environ.get("PATH"))
        request.program = found or request.program
        original(self, request, cwd)


@fault("BACKEND-LAUNCH-08", "of a file on stdin the first 64 KiB are passed", "one read, no loop")
def one_chunk_of_stdin_is_passed():
    @replaces(Passing)
    def wait(original, self, rest):
        ready = original(self, rest)
        if not rest:
            self.chunks = getattr(self, "chunks", 0) + 1
        return ready and self.chunks < 2


@fault("BACKEND-LAUNCH-08", "the first call takes the whole file on stdin", "a relay for each call")
def the_first_call_takes_the_whole_input():
    @replaces(Session)
    def call(original, self, request):
        answer = original(self, request)
        if self.passing is not None:
            self.passing.close()
            self.passing = None
        return answer


@fault("BACKEND-LAUNCH-16", "stderr goes to stdout", "a pseudoterminal for both")
def both_outputs_are_one():
    before_the_program(b"os.dup2(1, 2)")


@fault("BACKEND-LAUNCH-16", "output above 1 MiB is cut", "a limit of its own")
def long_output_is_cut():
    @replaces(Session)
    def execute(original, self, request):
        if request.max_output_bytes is None:
            request.max_output_bytes = 1 << 20
        return original(self, request)


@fault("BACKEND-LAUNCH-08", "an empty stdin is a closed descriptor", "close(0) for null")
def an_empty_stdin_is_closed():
    before_the_program(b"os.path.samefile('/dev/null', '/proc/self/fd/0') and os.close(0)")


@fault("BACKEND-LAUNCH-14", "a program inside makes no core file", "a limit for secrets")
def no_core_file_inside():
    before_the_program(b"import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))")

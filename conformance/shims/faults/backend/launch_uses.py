"""Faults that show only in some calls of a session."""

import errno
import os

import backend.inside as inside
import backend.starting as starting
from backend.bubblewrap import Bubblewrap
from backend.session import Session
from faults.backend.inside_source import change_inside
from faults.registry import changed, fault, replaces


def after(count, change):
    """Change the command of each call that comes after `count` others."""
    done = []

    @replaces(Bubblewrap)
    def wrap(original, self, argv, given, cwd):
        done.append(1)
        made, added = original(self, argv, given, cwd)
        return (change(self, made) if len(done) > count else made), added


def writable(made, root):
    at = made.index(b"--chdir")
    return [*made[:at], b"--bind", root, root, *made[at:]]


@fault("BACKEND-LAUNCH-12", "only the first call has the filter", "a descriptor that is used up")
def the_first_call_has_the_filter():
    @replaces(Bubblewrap)
    def wrap(original, self, argv, given, cwd):
        made = original(self, argv, given, cwd)
        self.filters = False
        return made


@fault("BACKEND-LAUNCH-12", "later calls share the network", "a namespace that is set up once")
def later_calls_share_the_network():
    def shared(self, made):
        at = made.index(b"--unshare-all") + 1
        return [*made[:at], b"--share-net", *made[at:]]

    after(1, shared)


@fault("BACKEND-LAUNCH-12", "the tenth call runs outside", "a pool of nine sandboxes")
def the_tenth_call_runs_outside():
    @replaces(Bubblewrap)
    def wrap(original, self, argv, given, cwd):
        self.calls = getattr(self, "calls", 0) + 1
        made = original(self, argv, given, cwd)
        return made if self.calls < 10 else (list(argv), made[1])


@fault("BACKEND-LAUNCH-12", "the working directory is writable", "a bind for --chdir")
def the_directory_is_writable():
    @replaces(Bubblewrap)
    def wrap(original, self, argv, given, cwd):
        made, added = original(self, argv, given, cwd)
        return (made if cwd == given.root else writable(made, given.root)), added


@fault(
    "BACKEND-LAUNCH-12", "a call after a failure has no namespaces", "an error drops the sandbox"
)
def a_failure_drops_the_sandbox():
    @replaces(Session)
    def call(original, self, request):
        answer = original(self, request)
        self.failures = getattr(self, "failures", 0) + ("error" in answer)
        return answer

    @replaces(Session)
    def wrap(original, self, request, cwd):
        if getattr(self, "failures", 0):
            request.current_dir = cwd
            return
        original(self, request, cwd)


@fault("BACKEND-LAUNCH-12", "HOME in the root is writable", "a home is always granted")
def a_home_in_the_root_is_writable():
    @replaces(Bubblewrap)
    def wrap(original, self, argv, given, cwd):
        made, added = original(self, argv, given, cwd)
        is_inside = os.environb.get(b"HOME", b"").startswith(given.root + b"/")
        return (writable(made, given.root) if is_inside else made), added


@fault("BACKEND-LAUNCH-12", "without input there is no filter", "a descriptor of the wrong number")
def an_empty_stdin_has_no_filter():
    @replaces(Session)
    def wrap(original, self, request, cwd):
        filters = self.backend.filters and request.stdin != "null"
        with changed(self.backend, filters=filters):
            original(self, request, cwd)


@fault("BACKEND-LAUNCH-04", "a script without an interpreter line is run by sh", "execvp(3)")
def a_script_is_run_by_sh():
    needs = starting.need_executable

    def need_executable(path):
        try:
            needs(path)
        except OSError as why:
            if why.errno != errno.ENOEXEC:
                raise

    starting.need_executable = need_executable
    change_inside(
        b"        os.execvpe(words[0], words, env)",
        b"        try:\n            os.execvpe(words[0], words, env)\n"
        b"        except OSError as why:\n"
        b"            if why.errno != 8:\n                raise\n"
        b"            os.execve('/bin/sh', [b'/bin/sh', *words], env)",
    )


@fault("BACKEND-LAUNCH-07", "of an argument only the first 64 KiB arrive", "a buffer for one word")
def long_arguments_are_cut():
    @replaces(inside)
    def packed(original, argv):
        return original([word[:65536] for word in argv])

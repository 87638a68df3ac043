"""Faults of requests that no program can be started with, and of the modes of streams."""

import errno
import os
from time import sleep

import process.bridge as bridge
import process.handle as handle
import process.script as script
from faults.registry import fault, replaces


@fault("PROCESS-OPEN-11", "an argument is cut at a NUL byte", "strdup()")
def arguments_are_cut_at_a_nul():
    @replaces(handle)
    def check(original, request, modes):
        request.args = [word.split(b"\0")[0] for word in request.args]
        original(request, modes)


@fault("PROCESS-OPEN-11", "a variable without a proper name is left out", "skip what is odd")
def odd_names_are_left_out():
    @replaces(handle)
    def check(original, request, modes):
        if request.env is not None:
            request.env = [pair for pair in request.env if pair[0] and b"=" not in pair[0]]
        original(request, modes)


@fault("PROCESS-OPEN-11", "a file without #! is given to a shell", "execvp()")
def a_text_is_given_to_a_shell():
    @replaces(handle.ConnectedSpawn)
    def execute(original, self, path):
        try:
            original(self, path)
        except OSError as why:
            if why.errno != errno.ENOEXEC:
                raise
        os.execve("/bin/sh", ["sh", path, *self.request.args], self.environment)


@fault("PROCESS-OPEN-11", "a busy program is tried again until it is free", "ETXTBSY in a loop")
def a_busy_program_is_waited_for():
    @replaces(handle.ConnectedSpawn)
    def execute(original, self, path):
        while True:
            try:
                original(self, path)
            except OSError as why:
                if why.errno != errno.ETXTBSY:
                    raise
            sleep(0.01)


@fault("PROCESS-OPEN-11", "an empty current_dir counts as not given", "if (cwd && *cwd)")
def an_empty_directory_is_none():
    @replaces(handle)
    def check(original, request, modes):
        request.current_dir = request.current_dir or None
        original(request, modes)


@fault("PROCESS-OPEN-04", "a null stderr is inherited if stdout is inherited", "2>&1 by default")
def a_null_stderr_follows_stdout():
    @replaces(handle.ConnectedSpawn)
    def open_output(original, self):
        if self.next == 2 and self.modes == [self.modes[0], handle.INHERIT, handle.NULL]:
            self.modes[2] = handle.INHERIT
        return original(self)


@fault("PROCESS-OPEN-04", "a null stdin is open for writing only", "one open() for the three")
def a_null_stdin_is_for_writing():
    @replaces(handle.ConnectedSpawn)
    def inherit_or_null(original, self, target, flags):
        return original(self, target, os.O_WRONLY)


@fault(
    "PROCESS-OPEN-09", "a handle that is opened again ignores nonblocking", "the option is used up"
)
def the_second_process_blocks():
    @replaces(script.Handle)
    def open(original, self):
        process = original(self)
        self.nonblocking = False
        return process


@fault(
    "PROCESS-OPEN-09",
    "a handle that is opened again has pipes for all streams",
    "modes are moved out",
)
def the_second_process_has_all_piped():
    @replaces(script.Handle)
    def open(original, self):
        process = original(self)
        self.modes = [handle.PIPED] * 3
        return process


@fault("PROCESS-OPEN-12", "an ignored SIGCHLD is not noticed", "sudo#98")
def an_ignored_sigchld_is_not_noticed():
    handle.check_ends = bridge.check_ends = lambda: None

"""Faults of launchers that execute what a program inside has written."""

import os

from backend.bubblewrap import BWRAP, Bubblewrap
from faults.registry import fault, replaces

START = b"import json, os, sys; os.execv(sys.argv[1], sys.argv[1:])"


def start_with(*words):
    """Put words before each command of the sandbox.

    They run outside, in the root, with the caller's PATH and HOME.
    """

    @replaces(Bubblewrap)
    def wrap(original, self, argv, context, cwd):
        made, added = original(self, argv, context, cwd)
        pairs = [name + b"=" + os.environb[name] for name in (b"PATH", b"HOME")]
        return [b"/usr/bin/env", b"-C", context.root, *pairs, *words, *made], added


@fault("BACKEND-LAUNCH-13", "the launcher is a Python program without -I", "sys.path[0]")
def modules_of_the_root_are_loaded():
    start_with(b"/usr/bin/python3", b"-c", START)


@fault("BACKEND-LAUNCH-13", "the user's site-packages are loaded", "-P for -I")
def modules_of_the_home_are_loaded():
    start_with(b"/usr/bin/python3", b"-P", b"-c", START)


@fault("BACKEND-LAUNCH-13", "the launcher is a login shell", "sh -l for the user's variables")
def start_files_of_the_home_are_read():
    start_with(b"/bin/bash", b"-lc", b'exec "$@"', b"bash")


@fault("BACKEND-LAUNCH-13", "the sandbox is searched in the caller's PATH", "execvp(3)")
def programs_of_the_path_are_started():
    start_with()

    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        made = original(self, argv, root, profile, cwd, binds)
        return [b"bwrap" if word == BWRAP else word for word in made]

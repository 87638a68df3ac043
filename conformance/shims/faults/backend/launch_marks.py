"""Faults of a sandbox that behaves differently if it notices a test."""

import os

from backend.session import Session
from faults.registry import fault, replaces


def confines_unless(is_marked):
    """Run a program without the sandbox if this function of request and context is true."""

    @replaces(Session)
    def wrap(original, self, request, cwd):
        program, args, env = request.program, request.args, request.env
        marked = is_marked(request, self.context)
        original(self, request, cwd)
        if marked:
            request.program, request.args, request.env = program, args, env


@fault("BACKEND-LAUNCH-09", "a root with a certain name is not confined", "a list of own folders")
def a_certain_root_is_trusted():
    confines_unless(lambda request, context: b"/boxspec/" in context.root)


@fault("BACKEND-LAUNCH-09", "a root in a folder of tests is not confined", "faster own tests")
def a_root_of_tests_is_trusted():
    confines_unless(lambda request, context: b"/tests/" in context.root)


@fault("BACKEND-LAUNCH-09", "a variable of a CI turns the sandbox off", "if CI: return argv")
def a_variable_turns_it_off():
    confines_unless(lambda request, context: "CI" in os.environ)


@fault("BACKEND-LAUNCH-09", "a variable of one test kit turns the sandbox off", "a test hook")
def a_variable_of_a_kit_turns_it_off():
    confines_unless(lambda request, context: any(n.startswith("BOXSPEC_") for n in os.environ))


@fault("BACKEND-LAUNCH-09", "a program with a certain name is not confined", "an allowlist")
def a_certain_program_is_trusted():
    confines_unless(lambda request, context: os.path.basename(request.program) == b"python3")


@fault("BACKEND-LAUNCH-09", "without HOME a program is not confined", "no folder for the settings")
def without_a_home_it_is_off():
    confines_unless(lambda request, context: "HOME" not in os.environ)


@fault("BACKEND-LAUNCH-09", "a root with many components is not confined", "a limit of its own")
def a_deep_root_is_trusted():
    confines_unless(lambda request, context: context.root.count(b"/") > 12)


@fault("BACKEND-LAUNCH-09", "a long path through a link is not confined", "a buffer of PATH_MAX")
def long_links_are_trusted():
    def is_long(request, context):
        home = os.environ.get("HOME", "")
        link = home.rstrip("./")
        return os.path.islink(link) and len(os.readlink(link)) + len(home) > 4096

    confines_unless(is_long)

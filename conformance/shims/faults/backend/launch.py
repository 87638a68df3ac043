"""Mistakes with what a program starts with."""

import backend.inside as inside
from backend.bubblewrap import Bubblewrap
from backend.session import Session
from faults.registry import fault, replaces


@fault("BACKEND-LAUNCH-01", "descriptors are kept", "bubblewrap closes none")
def descriptors_are_kept():
    inside.ALWAYS = tuple(each for each in inside.ALWAYS if each != "close_descriptors")


@fault("BACKEND-LAUNCH-02", "no new session", "CVE-2017-5226: --new-session left out")
def no_new_session():
    @replaces(Bubblewrap)
    def hardening(original, self):
        return [word for word in original(self) if word != b"--new-session"]


@fault("BACKEND-LAUNCH-03", "capabilities are kept", "bubblewrap as root without --cap-drop")
def capabilities_are_kept():
    inside.ALWAYS = ("close_descriptors", "no_new_privileges")

    @replaces(Bubblewrap)
    def hardening(original, self):
        return [b"--new-session", b"--die-with-parent", b"--cap-add", b"ALL"]


@fault("BACKEND-LAUNCH-04", "any failure is exit code 1", "the wrapper's own status")
def exit_codes_are_lost():
    @replaces(Session)
    def execute(original, self, request):
        answer = original(self, request)
        if answer["exit_code"]:
            answer["exit_code"] = 1
        return answer


@fault("BACKEND-LAUNCH-04", "a missing program is the wrapper's exit code", "bwrap: execvp")
def missing_programs_are_exit_codes():
    @replaces(Session)
    def must_be_there(original, self, request, cwd):
        pass


@fault("BACKEND-LAUNCH-05", "the launcher has the program's environment", "LD_PRELOAD of bwrap")
def the_launcher_has_the_programs_environment():
    @replaces(inside)
    def given_inside(original, words, env):
        return list(words), env

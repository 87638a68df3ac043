"""Faults of the environment of a program inside."""

import os
import shutil
import tempfile

import backend.bubblewrap as bubblewrap
import backend.environment as environment
import backend.inside as inside
from backend.bubblewrap import Bubblewrap
from backend.session import Session
from exec.spawn import caller_environment
from faults.registry import changed, fault, replaces


@fault("BACKEND-ENV-01", "a request's pairs win over those of wrap", "the order swapped")
def additions_come_first():
    @replaces(environment)
    def complete(original, request, additions):
        return [*additions, *environment.base(request)]


@fault("BACKEND-ENV-01", "the variables that wrap adds are dropped", "C1: env_clear after wrap")
def additions_are_dropped():
    @replaces(environment)
    def complete(original, request, additions):
        return [*environment.base(request), *(each for each in additions if each[0] == b"TMPDIR")]


@fault("BACKEND-ENV-02", "everything is inherited", "no list")
def everything_is_inherited():
    @replaces(environment)
    def base(original, request):
        return original(request) if request.env is not None else [*caller_environment().items()]


@fault("BACKEND-ENV-02", "any variable with a known prefix is passed on", "LC_*")
def prefixes_are_kept():
    @replaces(environment)
    def is_kept(original, name):
        return original(name) or name.startswith(b"LC_")


@fault(
    "BACKEND-ENV-03", "TMPDIR names a directory that does not exist inside", "the path of outside"
)
def scratch_is_not_there():
    @replaces(Bubblewrap)
    def wrap(original, self, argv, given, cwd):
        made, _ = original(self, argv, given, cwd)
        return made, [(b"TMPDIR", b"/run/boxspec-scratch")]


@fault(
    "BACKEND-ENV-03", "all sessions share one scratch directory", "a cache that is never emptied"
)
def one_scratch_serves_all():
    @replaces(Bubblewrap)
    def command(original, self, argv, root, profile, cwd=b"/", binds=()):
        made = original(self, argv, root, profile, cwd, binds)
        folder = os.path.join(os.path.dirname(root), b".scratch")
        if root == b"/":
            return made
        os.makedirs(folder, exist_ok=True)
        at = made.index(b"--tmpfs")
        return [*made[:at], b"--bind", folder, *made[at + 1 :]]


def new_name(context):
    return tempfile.mkdtemp(dir=os.path.dirname(context.root))


def with_a_folder_outside(mode, remove, make=new_name):
    """Make the scratch directory outside of the sandbox, and mount it under the same name
    inside."""
    folders: list[bytes] = []

    @replaces(Bubblewrap)
    def wrap(original, self, argv, context, cwd):
        if not folders:
            folders.append(make(context))
            if mode is not None:
                os.chmod(folders[0], mode)
        made, _ = original(self, argv, context, cwd)
        at = made.index(b"--chdir")
        return [*made[:at], b"--bind", folders[0], folders[0], *made[at:]], [
            (b"TMPDIR", folders[0])
        ]

    @replaces(Bubblewrap)
    def shutdown(original, self):
        original(self)
        while folders:
            remove(folders.pop())


@fault("BACKEND-ENV-03", "every user can read the scratch directory", "a mode of the usual umask")
def the_scratch_is_open():
    with_a_folder_outside(0o755, shutil.rmtree)


@fault(
    "BACKEND-ENV-03",
    "the mode of the scratch directory depends on the umask",
    "mkdtemp without chmod",
)
def the_scratch_has_what_the_umask_leaves():
    with_a_folder_outside(None, shutil.rmtree)


@fault("BACKEND-ENV-03", "the scratch directory is emptied, not removed", "rm -r of its contents")
def the_scratch_stays():
    def empty(folder):
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))

    with_a_folder_outside(0o700, empty)


@fault("BACKEND-ENV-02", "the variable `LC_` is passed on", "LC_.*")
def a_category_may_be_empty():
    environment.CATEGORIES = environment.CATEGORIES | {b""}


@fault("BACKEND-ENV-03", "only the first call gets TMPDIR", "additions are taken once")
def the_first_call_alone_has_a_scratch():
    calls = []

    @replaces(Bubblewrap)
    def wrap(original, self, argv, context, cwd):
        calls.append(argv)
        made, added = original(self, argv, context, cwd)
        return made, added if len(calls) == 1 else []


@fault(
    "BACKEND-ENV-01",
    "an empty list of variables means that all are inherited",
    "if pairs: for a list that may be empty",
)
def no_pairs_are_inherit():
    @replaces(environment)
    def base(original, request):
        with changed(request, env=request.env or None):
            return original(request)


@fault(
    "BACKEND-ENV-01",
    "variables of the dynamic loader are dropped from the request",
    "a list of dangerous names",
)
def pairs_of_the_loader_are_dropped():
    @replaces(environment)
    def base(original, request):
        return [pair for pair in original(request) if not pair[0].startswith(b"LD_")]


@fault("BACKEND-ENV-01", "PWD keeps the caller's value", "kept with PATH when the rest is cleared")
def pwd_is_the_callers():
    @replaces(environment)
    def complete(original, request, additions):
        made = original(request, additions)
        return [(b"PWD", os.getcwdb()) if pair[0] == b"PWD" else pair for pair in made]


@fault("BACKEND-ENV-02", "HOME is left out", "--clearenv, and a list without it")
def home_is_left_out():
    @replaces(environment)
    def is_kept(original, name):
        return name != b"HOME" and original(name)


@fault(
    "BACKEND-ENV-04",
    "ci-only inherits the same variables as the other profiles",
    "one list for all profiles",
)
def one_list_for_all_profiles():
    @replaces(environment)
    def path_only(original):
        return [pair for pair in caller_environment().items() if environment.is_kept(pair[0])]


@fault(
    "BACKEND-ENV-05",
    "variables are passed as arguments of the launcher",
    "bwrap --setenv KEY SECRET",
)
def variables_are_words_of_the_launcher():
    @replaces(inside)
    def given_inside(original, words, env):
        words, packed = original(words, env)
        at = words.index(bubblewrap.BWRAP) + 1
        sets = [word for pair in env for word in (b"--setenv", *pair)]
        return [*words[:at], *sets, *words[at:]], packed


def without_names(is_dropped):
    @replaces(environment)
    def complete(original, request, additions):
        return [pair for pair in original(request, additions) if not is_dropped(pair[0])]


@fault("BACKEND-ENV-01", "a name that a shell would not take is dropped", "export in a script")
def names_are_those_of_a_shell():
    without_names(lambda name: not name.replace(b"_", b"a").isalnum() or name[:1].isdigit())


@fault("BACKEND-ENV-01", "names in lower case are dropped", "a pattern of capital letters")
def names_are_in_capitals():
    without_names(lambda name: name.islower())


@fault("BACKEND-ENV-01", "functions of bash are dropped", "a defence against Shellshock")
def functions_of_bash_are_dropped():
    without_names(lambda name: name.startswith(b"BASH_FUNC_"))


@fault(
    "BACKEND-ENV-01",
    "of an environment above 64 KiB the rest is lost",
    "one variable of PART bytes",
)
def a_large_environment_is_cut():
    @replaces(inside)
    def given_inside(original, words, env):
        kept, size = [], 0
        for name, value in env:
            size += len(name) + len(value)
            if size <= inside.PART:
                kept.append((name, value))
        return original(words, kept)


@fault("BACKEND-ENV-02", "TERM is passed on", "programs that draw on a terminal")
def the_terminal_is_passed_on():
    @replaces(environment)
    def is_kept(original, name):
        return original(name) or name in (b"TERM", b"COLORTERM")


@fault("BACKEND-ENV-02", "variables of proxies are passed on", "a user's network settings")
def proxies_are_passed_on():
    @replaces(environment)
    def is_kept(original, name):
        return original(name) or name.lower() in (b"http_proxy", b"https_proxy", b"no_proxy")


@fault("BACKEND-ENV-01", "ci-only drops the pairs of a request", "hermetic: a cleared environment")
def hermetic_runs_have_no_pairs():
    @replaces(Session)
    def wrap(original, self, request, cwd):
        request.env = None if self.context.profile == "ci-only" else request.env
        original(self, request, cwd)


@fault("BACKEND-ENV-03", "a scratch directory with directories in it stays", "unlink() and rmdir()")
def only_files_of_the_scratch_are_removed():
    def remove_files(folder):
        names = os.listdir(folder)
        if not any(os.path.isdir(os.path.join(folder, name)) for name in names):
            shutil.rmtree(folder)

    with_a_folder_outside(0o700, remove_files)


@fault("BACKEND-ENV-03", "the name of the scratch directory can be predicted", "CWE-377")
def the_scratch_has_a_known_name():
    with_a_folder_outside(0o700, remove_even_a_link, known_name)


def known_name(context):
    folder = os.path.join(os.path.dirname(context.root), b"scratch-%d" % os.getuid())
    os.makedirs(folder, exist_ok=True)
    return folder


def remove_even_a_link(folder):
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    if not os.path.islink(folder):
        os.rmdir(folder)

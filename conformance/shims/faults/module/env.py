"""Faults of the environment."""

import os

import module.execution as execution
import module.folder as folder
import module.lookup as lookup
import module.runner as runner
from faults.registry import fault, replaces


def keeping(test):
    @replaces(execution)
    def environment(original, caller, root, path):
        return {**{n: v for n, v in caller.items() if test(n)}, **original(caller, root, path)}


@fault("MODULE-ENV-01", "LC_ALL is forgotten", "a list by heart")
def lc_all_is_forgotten():
    @replaces(execution)
    def passes(original, name):
        return name != b"LC_ALL" and original(name)


@fault("MODULE-ENV-01", "an empty value is none", "if (value)")
def empty_values_are_dropped():
    @replaces(execution)
    def environment(original, caller, root, path):
        return original({name: value for name, value in caller.items() if value}, root, path)


@fault("MODULE-ENV-01", "AUTH_ is looked for in the whole name", "'AUTH_' in name")
def auth_is_looked_for_everywhere():
    @replaces(execution)
    def passes(original, name):
        return b"AUTH_" not in name and original(name)


@fault("MODULE-ENV-02", "PYTHONPATH comes along", "sandbox task, acceptance criteria")
def pythonpath_comes_along():
    keeping(lambda name: name == b"PYTHONPATH")


@fault("MODULE-ENV-02", "the whole environment, and then the list", "no env_clear()")
def nothing_is_cleared():
    keeping(lambda name: not name.startswith((b"APCORE_AUTH_", b"LC_", b"LANG", b"NO", b"RAW")))


@fault("MODULE-ENV-02", "LC_* is a family", "startswith('LC_')")
def lc_is_a_family():
    keeping(lambda name: name.startswith(b"LC_"))


@fault("MODULE-ENV-02", "names are compared without their case", "Windows habits")
def case_does_not_count():
    keeping(lambda name: name.upper().startswith(b"APCORE_") and not name.startswith(b"APCORE_"))


@fault("MODULE-ENV-03", "TMPDIR keeps the caller's value", "only HOME is set")
def tmpdir_is_not_set():
    @replaces(execution)
    def environment(original, caller, root, path):
        made = original(caller, root, path)
        made[b"TMPDIR"] = caller.get(b"TMPDIR", b"/tmp")
        return made


@fault("MODULE-ENV-04", "tokens match APCORE_ too", "sandbox task, step 6")
def tokens_come_along():
    keeping(lambda name: name.startswith(b"APCORE_AUTH_"))


@fault("MODULE-ENV-05", "the environment goes through text", "std::env::vars() on odd bytes")
def values_go_through_text():
    @replaces(execution)
    def environment(original, caller, root, path):
        text = {name: value.decode("utf-8", "replace").encode() for name, value in caller.items()}
        return original({n: v for n, v in text.items() if n != lookup.ROOT}, root, path)


@fault("MODULE-ENV-01", "a value has 4096 bytes at most", "snprintf(), char entry[4096]")
def long_values_are_cut():
    @replaces(execution)
    def environment(original, caller, root, path):
        return original({name: value[:4096] for name, value in caller.items()}, root, path)


@fault("MODULE-ENV-03", "TMPDIR is taken as it is", "mkdtemp, os.MkdirTemp: a relative name")
def a_relative_name_stays_relative():
    @replaces(folder)
    def below(original):
        return os.environb.get(b"TMPDIR") or original()


@fault("MODULE-ENV-05", "a name that is no text is passed over", "name.to_str()")
def odd_names_are_passed_over():
    @replaces(execution)
    def passes(original, name):
        return original(name) and name.isascii()


@fault("MODULE-ENV-05", "the root goes through text", "Path of a lossy string")
def the_root_goes_through_text():
    @replaces(lookup)
    def absolute(original, root):
        return original(root.decode("utf-8", "replace").encode())


@fault("MODULE-ENV-05", "TMPDIR goes through text", "std::env::var() of TMPDIR, or the default")
def tmpdir_goes_through_text():
    @replaces(folder)
    def below(original):
        return original().decode("utf-8", "replace").encode()


@fault(
    "MODULE-ENV-06", "the caller's environment is readable in /proc", "only the child's is cleared"
)
def the_caller_stays_readable():
    @replaces(execution)
    def set_dumpable(original, value):
        return 1

    @replaces(runner)
    def drop_capabilities(original):
        pass


@fault(
    "MODULE-ENV-06", "the caller is readable again after the spawn", "a guard around fork() only"
)
def the_caller_is_readable_after_the_spawn():
    @replaces(execution.RawRun)
    def spawn(original, self):
        original(self)
        execution.set_dumpable(1)

    @replaces(runner)
    def drop_capabilities(original):
        pass


@fault(
    "MODULE-ENV-06",
    "a module of root keeps CAP_SYS_ADMIN",
    "CAP_SYS_PTRACE seems to be the one that counts",
)
def a_module_keeps_cap_sys_admin():
    @replaces(runner)
    def drop_capabilities(original):
        kept, runner.READS_ANY_PROCESS = runner.READS_ANY_PROCESS, (19,)
        original()
        runner.READS_ANY_PROCESS = kept

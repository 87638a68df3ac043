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


@fault("MODULE-ENV-01", "LC_ALL is not passed on", "a list by heart")
def lc_all_is_forgotten():
    @replaces(execution)
    def passes(original, name):
        return name != b"LC_ALL" and original(name)


@fault("MODULE-ENV-01", "a variable with an empty value is not passed on", "if (value)")
def empty_values_are_dropped():
    @replaces(execution)
    def environment(original, caller, root, path):
        return original({name: value for name, value in caller.items() if value}, root, path)


@fault("MODULE-ENV-01", "any variable whose name contains AUTH_ is dropped", "'AUTH_' in name")
def auth_is_looked_for_everywhere():
    @replaces(execution)
    def passes(original, name):
        return b"AUTH_" not in name and original(name)


@fault("MODULE-ENV-02", "PYTHONPATH is passed on", "sandbox task, acceptance criteria")
def pythonpath_comes_along():
    keeping(lambda name: name == b"PYTHONPATH")


@fault("MODULE-ENV-02", "the whole environment of the caller is passed on", "no env_clear()")
def nothing_is_cleared():
    keeping(lambda name: not name.startswith((b"APCORE_AUTH_", b"LC_", b"LANG", b"NO", b"RAW")))


@fault("MODULE-ENV-02", "every variable that begins with LC_ is passed on", "startswith('LC_')")
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


@fault(
    "MODULE-ENV-04", "variables that begin with APCORE_AUTH_ are passed on", "sandbox task, step 6"
)
def tokens_come_along():
    keeping(lambda name: name.startswith(b"APCORE_AUTH_"))


@fault("MODULE-ENV-05", "values that are not UTF-8 are replaced", "std::env::vars() on odd bytes")
def values_go_through_text():
    @replaces(execution)
    def environment(original, caller, root, path):
        text = {name: value.decode("utf-8", "replace").encode() for name, value in caller.items()}
        return original({n: v for n, v in text.items() if n != lookup.ROOT}, root, path)


@fault("MODULE-ENV-01", "values are cut at 4,096 bytes", "snprintf(), char entry[4096]")
def long_values_are_cut():
    @replaces(execution)
    def environment(original, caller, root, path):
        return original({name: value[:4096] for name, value in caller.items()}, root, path)


@fault(
    "MODULE-ENV-03",
    "a relative TMPDIR of the caller leads to a relative working directory",
    "mkdtemp, os.MkdirTemp: a relative name",
)
def a_relative_name_stays_relative():
    @replaces(folder)
    def below(original):
        return os.environb.get(b"TMPDIR") or original()


@fault("MODULE-ENV-05", "variables whose names are not UTF-8 are dropped", "name.to_str()")
def odd_names_are_passed_over():
    @replaces(execution)
    def passes(original, name):
        return original(name) and name.isascii()


@fault(
    "MODULE-ENV-05", "an extensions root that is not UTF-8 is replaced", "Path of a lossy string"
)
def the_root_goes_through_text():
    @replaces(lookup)
    def absolute(original, root):
        return original(root.decode("utf-8", "replace").encode())


@fault(
    "MODULE-ENV-05",
    "a TMPDIR that is not UTF-8 is replaced",
    "std::env::var() of TMPDIR, or the default",
)
def tmpdir_goes_through_text():
    @replaces(folder)
    def below(original):
        return original().decode("utf-8", "replace").encode()


@fault(
    "MODULE-ENV-06",
    "a module can read the caller's environment in /proc",
    "only the child's is cleared",
)
def the_caller_stays_readable():
    @replaces(execution)
    def set_dumpable(original, value):
        return 1

    @replaces(runner)
    def drop_capabilities(original):
        pass


@fault(
    "MODULE-ENV-06",
    "a module can read the caller's environment in /proc after the start",
    "a guard around fork() only",
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


@fault("MODULE-ENV-07", "the caller stays hidden after an execution", "prctl() once, at the start")
def the_caller_stays_hidden():
    @replaces(execution)
    def set_dumpable(original, value):
        original(0)
        return 0


@fault("MODULE-ENV-02", "the interpreter of the runner adds LC_CTYPE", "PEP 538")
def the_runner_adds_lc_ctype():
    @replaces(runner)
    def become(original, path, environment):
        original(path, dict(os.environb))


@fault("MODULE-ENV-02", "a module of a caller without a PATH gets one", "env.get('PATH', default)")
def a_missing_path_is_made_up():
    @replaces(execution)
    def environment(original, caller, root, path):
        return {b"PATH": b"/usr/bin:/bin", **original(caller, root, path)}

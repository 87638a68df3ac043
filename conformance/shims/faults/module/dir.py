"""Faults about the module's directory."""

import os
from time import monotonic_ns, sleep

import exec.run as run
import module.execution as execution
import module.folder as folder
from faults.registry import fault, replaces

# A limit of time that is never reached, so it never ends a pass over the directory.
NEVER = folder.Limit(2**63, 0)


@fault("MODULE-DIR-01", "other users can read the working directory", "mkdir without a mode")
def open_to_others():
    @replaces(folder)
    def make(original):
        path = original()
        os.chmod(path, 0o755)
        return path


@fault("MODULE-DIR-01", "the working directory is not empty at the start", "a skeleton home")
def a_skeleton_home():
    @replaces(folder)
    def make(original):
        path = original()
        os.mkdir(path + b"/.config")
        return path


@fault("MODULE-DIR-02", "the working directory is removed only after a success", "no finally")
def removed_when_all_went_well():
    @replaces(execution.Execution)
    def remove_folder(original, self, path):
        return not self.went_well or original(self, path)

    @replaces(execution.Execution)
    def run(original, self, path):
        self.went_well = False
        ended = original(self, path)
        self.went_well = ended["cause"] == "exit" and ended["end"] == (os.CLD_EXITED, 0)
        return ended


@fault(
    "MODULE-DIR-02",
    "the working directory stays after a timeout",
    "the task is dropped without an await",
)
def a_timeout_leaves_it():
    @replaces(execution.Execution)
    def run(original, self, path):
        ended = original(self, path)
        self.late = ended["cause"] == "timeout"
        return ended

    @replaces(execution.Execution)
    def remove_folder(original, self, path):
        return self.late or original(self, path)


@fault("MODULE-DIR-02", "names that begin with two dots stay", 'startswith("..") for `.` and `..`')
def two_dots_are_the_parent():
    @replaces(folder)
    def names(original, path):
        return [name for name in original(path) if not os.path.basename(name).startswith(b"..")]


@fault("MODULE-DIR-03", "a path that is too long stops the removal", "ENAMETOOLONG is ignored")
def long_paths_end_it():
    @replaces(folder)
    def move(original, path, above):
        pass

    @replaces(folder)
    def names(original, path):
        return original(path) if len(path) < 4000 else []

    @replaces(folder)
    def empty(original, path, limit):
        for root, folders, files in os.walk(path, topdown=False):
            for name in files + folders:
                place = os.path.join(root, name)
                if not folder.gone(place):
                    folder.unlink(place)


@fault("MODULE-DIR-03", "the removal follows links to directories", "os.path.isdir()")
def links_are_followed():
    @replaces(folder)
    def is_folder(original, path):
        # In some cases a link leads to `/`, which must never be changed.
        if os.path.islink(path) and os.path.realpath(path) != b"/":
            for name in os.listdir(path):
                os.unlink(os.path.join(path, name))
        return original(path)


@fault("MODULE-DIR-04", "the removal is repeated until it succeeds", "while exists: rmtree")
def gone_for_good():
    @replaces(folder)
    def remove(original, path):
        until = monotonic_ns() + 12_000_000_000
        removed = original(path)
        while monotonic_ns() < until:
            sleep(0.2)
            if not os.path.exists(path):
                break
            original(path)
        return removed


@fault(
    "MODULE-DIR-04",
    "a failed removal is neither repeated nor reported",
    "shutil.rmtree(ignore_errors=True)",
)
def one_try():
    @replaces(folder)
    def remove(original, path):
        folder.empty(path, NEVER)
        folder.gone(path)
        return True


@fault(
    "MODULE-DIR-02", "a working directory that has vanished is an error", "rmtree() raises ENOENT"
)
def gone_is_an_error():
    @replaces(folder)
    def remove(original, path):
        os.stat(path)
        return original(path)


@fault(
    "MODULE-DIR-05",
    "a link in place of the working directory is followed",
    "os.listdir() of a link",
)
def a_link_in_its_place_is_followed():
    @replaces(folder)
    def remove(original, path):
        if os.path.islink(path):
            folder.permit(path)
            for name in folder.names(path):
                folder.unlink(name)
        return original(path)


@fault(
    "MODULE-DIR-01",
    "the umask changes the mode of the working directory",
    "mkdtemp() below a umask of 0177",
)
def the_umask_counts():
    @replaces(folder)
    def make(original):
        umask = os.umask(0o022)
        os.umask(umask)
        path = original()
        os.chmod(path, 0o700 & ~umask)
        return path


@fault(
    "MODULE-DIR-02",
    "the working directory is made before the module is looked up",
    "an early return",
)
def made_before_the_look():
    @replaces(execution.Execution)
    def look_up(original, self):
        path = folder.make()
        original(self)
        folder.remove(path)


@fault("MODULE-DIR-02", "files whose names are not UTF-8 are not removed", "names as text, lossily")
def odd_names_are_passed_over():
    @replaces(folder)
    def names(original, path):
        return [name for name in original(path) if name.isascii()]


@fault("MODULE-DIR-03", "the mode of a link's target is changed", "CVE-2023-6597")
def modes_behind_links_are_changed():
    @replaces(folder)
    def unlink(original, path):
        # In some cases a link leads to `/`, which must never be changed.
        if os.path.realpath(path) != b"/":
            folder.permit(path)
        original(path)


@fault(
    "MODULE-DIR-04",
    "the second attempt to remove comes two seconds after the first",
    "a delay that doubles",
)
def the_second_try_is_late():
    @replaces(folder)
    def remove(original, path):
        if not folder.is_folder(path):
            return original(path)
        folder.empty(path, NEVER)
        if not folder.gone(path):
            sleep(1.8)
        return original(path)


@fault(
    "MODULE-DIR-04", "a failed removal is reported but not repeated", "shutil.rmtree() and a check"
)
def one_try_and_a_word():
    folder.REMOVE_NS = 0


@fault("MODULE-DIR-01", "without a TMPDIR of its own a module runs in `/`", "mkdtemp() fails")
def without_a_directory_a_module_runs_in_the_root():
    @replaces(execution.Execution)
    def make_folder(original, self):
        try:
            return original(self)
        except OSError:
            return b"/"

    @replaces(execution.Execution)
    def remove_folder(original, self, path):
        return path == b"/" or original(self, path)


@fault(
    "MODULE-DIR-03", "a pass of the removal takes 1,000 names, and there is one pass", "a buffer"
)
def the_removal_ends_after_1000_names():
    @replaces(folder)
    def names(original, path):
        return original(path)[:1000]

    @replaces(folder)
    def remove(original, path):
        if not folder.is_folder(path):
            return original(path)
        folder.empty(path, NEVER)
        return folder.gone(path) or True


@fault(
    "MODULE-DIR-02",
    "the directory is removed before the grace period",
    "clean up, then end the child",
)
def removed_before_the_grace():
    @replaces(run.Run)
    def terminate(original, self, cause):
        folder.remove(self.request.current_dir)
        original(self, cause)

"""Faults of values of variables, of the variables of several calls, and of the scratch."""

import os
import shutil

import backend.environment as environment
import backend.landlock as landlock
import backend.ops as ops
from backend.bubblewrap import Bubblewrap
from backend.session import Session
from faults.backend.scripted_wrap import change_wrap
from faults.registry import fault, replaces


def landlock_alone():
    """Use Landlock. Its scratch directory is a directory of the host."""

    @replaces(ops)
    def made(original, name):
        found = original(name)
        return landlock.Landlock(filters=True) if isinstance(found, Bubblewrap) else found


@fault("BACKEND-ENV-02", "inherited variables with an empty value are dropped", "if value:")
def empty_inherited_values_are_dropped():
    @replaces(environment)
    def base(original, request):
        return [pair for pair in original(request) if pair[1] or request.env is not None]


@fault("BACKEND-ENV-02", "blanks around an inherited value are dropped", "strip()")
def inherited_values_are_stripped():
    @replaces(environment)
    def base(original, request):
        if request.env is not None:
            return original(request)
        return [(name, value.strip()) for name, value in original(request)]


@fault("BACKEND-ENV-02", "only the first line of an inherited value is kept", "output of env")
def inherited_values_have_one_line():
    @replaces(environment)
    def base(original, request):
        if request.env is not None:
            return original(request)
        return [(name, value.partition(b"\n")[0]) for name, value in original(request)]


@fault("BACKEND-ENV-01", "variables of earlier calls stay", "a dict of the session is updated")
def variables_of_earlier_calls_stay():
    kept = {}

    @replaces(environment)
    def complete(original, request, additions):
        kept.update(original(request, additions))
        return list(kept.items())


@fault("BACKEND-ENV-04", "with a cwd in the context more than PATH is passed", "another branch")
def a_cwd_passes_more():
    @replaces(Session)
    def keep_listed_variables(original, self, request):
        if self.context.names_cwd:
            request.env = environment.base(request)
        original(self, request)


@fault("BACKEND-ENV-03", "a deep tree in the scratch directory stays", "a recursive function")
def deep_trees_stay():
    landlock_alone()

    def removed(folder, level):
        if level > 500:
            raise RecursionError("too deep")
        os.chmod(folder, 0o700)
        for entry in os.scandir(folder):
            if entry.is_dir(follow_symlinks=False):
                removed(entry.path, level + 1)
            else:
                os.unlink(entry.path)
        os.rmdir(folder)

    @replaces(landlock)
    def remove(original, folder):
        removed(folder, 0)


@fault("BACKEND-ENV-03", "files with names that are not UTF-8 stay in the scratch", "decode()")
def names_that_are_not_text_stay():
    landlock_alone()

    @replaces(landlock)
    def remove(original, folder):
        for _, folders, files in os.walk(folder):
            for name in (*folders, *files):
                name.decode()
        original(folder)


@fault("BACKEND-ENV-03", "the scratch directory is removed by `rm -r *`", "a glob of a shell")
def hidden_files_stay():
    landlock_alone()

    @replaces(landlock)
    def remove(original, folder):
        for name in os.listdir(folder):
            if name.startswith(b"."):
                return
        original(folder)


@fault("BACKEND-ENV-03", "the scratch directory stays if it has special files", "only files, dirs")
def special_files_stay():
    landlock_alone()

    @replaces(landlock)
    def remove(original, folder):
        for entry in os.scandir(folder):
            if not entry.is_file() and not entry.is_dir():
                return
        shutil.rmtree(folder, ignore_errors=True)


@fault("BACKEND-ENV-01", "variables of wrap with an empty value are dropped", "if value:")
def additions_without_a_value_are_dropped():
    change_wrap(variables=lambda given: [pair for pair in given if pair[1]])


@fault("BACKEND-ENV-01", "of a variable of wrap only the first line is kept", "a file of lines")
def additions_are_one_line():
    change_wrap(variables=lambda given: [(name, value.split(b"\n")[0]) for name, value in given])


def change_values(change):
    @replaces(environment)
    def complete(original, request, additions):
        return [(name, change(value)) for name, value in original(request, additions)]


@fault("BACKEND-ENV-01", "variables in the values of pairs are expanded", "expandvars")
def variables_in_values_are_expanded():
    change_values(os.path.expandvars)


@fault("BACKEND-ENV-01", "backslashes in values are doubled", "quoting for a shell")
def backslashes_in_values_are_doubled():
    change_values(lambda value: value.replace(b"\\", b"\\\\"))


@fault("BACKEND-ENV-01", "blanks around a value are dropped", "strip()")
def values_of_pairs_are_stripped():
    change_values(bytes.strip)

"""Faults of removing files with a second name, and what is in the place of the directory."""

import os
import stat

import module.folder as folder
from faults.registry import fault, replaces


def mode_of(path):
    try:
        return os.lstat(path).st_mode
    except OSError:
        return 0


@fault(
    "MODULE-DIR-06",
    "before the removal each file is made writable, also under its second name",
    "rm -rf after chmod -R",
)
def each_file_is_made_writable():
    @replaces(folder)
    def unlink(original, path):
        if stat.S_ISREG(mode_of(path)):
            os.chmod(path, 0o700)
        original(path)


@fault(
    "MODULE-DIR-06",
    "before the removal each file is emptied, also under its second name",
    "shred before unlink",
)
def each_file_is_emptied():
    @replaces(folder)
    def unlink(original, path):
        if stat.S_ISREG(mode_of(path)):
            os.truncate(path, 0)
        original(path)


@fault(
    "MODULE-DIR-07",
    "a file in place of the working directory is not removed",
    "rmtree() of a directory only",
)
def a_file_in_its_place_is_left():
    @replaces(folder)
    def remove(original, path):
        return stat.S_ISREG(mode_of(path)) or original(path)


@fault("MODULE-DIR-02", "links to nothing stay, and with them the directory", "os.path.exists()")
def links_to_nothing_stay():
    @replaces(folder)
    def unlink(original, path):
        if os.path.exists(path) or not os.path.islink(path):
            original(path)


@fault("MODULE-DIR-02", "sockets stay, and with them the directory", "isFile() || isDirectory()")
def sockets_stay():
    @replaces(folder)
    def unlink(original, path):
        if not stat.S_ISSOCK(mode_of(path)):
            original(path)

"""Faults about directories that a module of root mounts in its own directory.

A module can mount only if it keeps its capabilities, so each fault leaves them.
"""

import os

import module.folder as folder
import module.runner as runner
from faults.registry import fault, replaces


def keep_capabilities():
    @replaces(runner)
    def drop_capabilities(original):
        pass


@fault("MODULE-DIR-08", "the removal enters mounted directories", "rm -rf; shutil.rmtree()")
def mounts_are_entered():
    keep_capabilities()

    @replaces(folder)
    def is_mounted(original, path):
        return False


@fault("MODULE-DIR-08", "a mount over the directory itself is emptied", "checks only the entries")
def a_mount_over_it_is_emptied():
    keep_capabilities()

    @replaces(folder)
    def remove(original, path):
        folder.empty(path, folder.Limit(0, 0))
        return original(path)


@fault("MODULE-DIR-08", "modes in a mounted directory are changed", "chmod -R, then rm -r")
def modes_are_changed_first():
    keep_capabilities()

    @replaces(folder)
    def empty(original, path, limit):
        for place, _, _ in os.walk(path):
            folder.permit(place)
        original(path, limit)


@fault(
    "MODULE-DIR-08", "a directory that stays for a mount is not reported", "EBUSY counts as success"
)
def a_mount_is_not_reported():
    keep_capabilities()

    @replaces(folder)
    def remove(original, path):
        return original(path) or folder.is_mounted(path)

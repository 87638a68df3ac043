"""Faults of a caller in an unusual place."""

import os

import module.execution as execution
import module.folder as folder
import module.lookup as lookup
from faults.registry import fault, replaces


@fault(
    "MODULE-ID-07", "an absolute root is made absolute by the working directory", "getcwd() first"
)
def an_absolute_root_needs_the_working_directory():
    @replaces(execution.Execution)
    def look_up(original, self):
        os.getcwd()
        original(self)


@fault("MODULE-ID-07", "the directory is made below the working directory first", "mkdtemp, rename")
def the_directory_is_made_by_way_of_the_working_directory():
    @replaces(folder)
    def make(original):
        back = os.getcwd()
        os.chdir(folder.below())
        try:
            return original()
        finally:
            os.chdir(back)


@fault("MODULE-ID-01", "a root that is a link has no modules", "lstat() of the root")
def a_linked_root_is_empty():
    @replaces(lookup)
    def find(original, root, module_id):
        return None if os.path.islink(root) else original(root, module_id)


@fault("MODULE-ID-02", "a missing module is looked up in lower case", "case-insensitive names")
def names_are_tried_in_lower_case():
    @replaces(lookup)
    def find(original, root, module_id):
        return original(root, module_id) or original(root, module_id.lower())

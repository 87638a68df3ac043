"""Faults of a caller in an unusual place."""

import os

import module.execution as execution
import module.folder as folder
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

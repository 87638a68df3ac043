"""Faults that leave descriptors, threads or processes with the caller."""

import _thread
import os

import module.execution as execution
import module.folder as folder
from faults.registry import fault, replaces


@fault("MODULE-LEAK-01", "a timeout leaves a descriptor", "an early return")
def a_timeout_leaves_a_descriptor():
    @replaces(execution.Execution)
    def judge(original, self, ended, noted):
        if ended["cause"] == "timeout":
            os.dup(2)
        return original(self, ended, noted)


@fault("MODULE-LEAK-01", "a death by signal leaves a zombie", "waitpid() for exits only")
def a_death_leaves_a_zombie():
    @replaces(execution.RawRun)
    def reap(original, self):
        if self.end is None or self.end[0] == os.CLD_EXITED:
            original(self)


@fault("MODULE-LEAK-01", "too much output leaves a thread", "a reader that is not joined")
def too_much_output_leaves_a_thread():
    @replaces(execution.Execution)
    def judge_size(original, self, ended):
        if ended["over"]:
            never = _thread.allocate_lock()
            never.acquire()
            _thread.start_new_thread(never.acquire, ())
        original(self, ended)


@fault("MODULE-LEAK-01", "a value that cannot be read leaves a descriptor", "an exception")
def a_parse_failure_leaves_a_descriptor():
    @replaces(execution.Execution)
    def judge_output(original, self, output):
        try:
            return original(self, output)
        except execution.Failure:
            os.dup(2)
            raise


@fault("MODULE-LEAK-01", "each removed directory leaves a descriptor", "opendir() only")
def a_directory_leaves_a_descriptor():
    @replaces(folder)
    def names(original, path):
        os.dup(2)
        return original(path)

"""Faults of the runner."""

import os

import module.lookup as lookup
import module.runner as runner
from faults.registry import fault, replaces


@fault("MODULE-RUNNER-01", "the runner does not check the input", "the module will look")
def the_module_will_look():
    @replaces(runner)
    def check(original, data):
        pass


@fault("MODULE-RUNNER-01", "the runner ends with 0 when it is called wrongly", "return Ok(())")
def a_wrong_call_is_well():
    @replaces(runner)
    def main(original, words):
        original(words)
        return 0


@fault("MODULE-RUNNER-01", "the runner fails without a message", "process::exit(1)")
def fails_in_silence():
    @replaces(runner)
    def main(original, words):
        try:
            runner.run(words)
        except Exception:
            pass
        return 1


@fault(
    "MODULE-RUNNER-02",
    "the module runs in a child process of the runner",
    "subprocess.run in the runner",
)
def a_child_of_the_runner():
    @replaces(runner)
    def become(original, path, environment):
        pid = os.fork()
        if pid == 0:
            original(path, environment)
        _, status = os.waitpid(pid, 0)
        if os.WIFSIGNALED(status):
            os.kill(os.getpid(), os.WTERMSIG(status))
        os._exit(os.waitstatus_to_exitcode(status))


@fault("MODULE-RUNNER-01", "the runner refuses only ids with `/` and `..`", "a check of traversal")
def it_looks_for_dots_alone():
    @replaces(runner)
    def run(original, words):
        lookup.is_id = lambda text: "/" not in text and ".." not in text
        original(words)


@fault("MODULE-RUNNER-01", "the runner accepts NaN in its input", "json.loads")
def nan_is_input_too():
    @replaces(runner)
    def check(original, data):
        original(data.replace(b"NaN", b"0"))


@fault("MODULE-RUNNER-01", "the runner takes `--help` as an option instead of an id", "argparse")
def help_has_its_say_first():
    @replaces(runner)
    def main(original, words):
        if "--help" in words:
            os.write(1, b"usage: runner ID\n")
            return 0
        return original(words)


@fault("MODULE-RUNNER-01", "the runner checks only the first 64 KiB of its input", "one read")
def only_the_start_is_checked():
    @replaces(runner)
    def check(original, data):
        if len(data) <= 65536:
            original(data)

"""Faults in reading a request."""

import os

import constants
import exec.batch as batch
import exec.ops as ops
import exec.spawn as spawn
from errors import Failed
from faults.registry import fault, replaces


@fault("EXEC-REQUEST-01", "without current_dir the child starts in `/`", "daemon(3) habits")
def starts_at_the_root():
    @replaces(ops)
    def read_request(original, *given):
        request = original(*given)
        if request.current_dir is None:
            request.current_dir = b"/"
        return request


@fault(
    "EXEC-REQUEST-02", "argv[0] is the path where the program was found", "execv(path, [path, …])"
)
def argv_0_is_the_path():
    @replaces(spawn.Spawn)
    def execute(original, self, path):
        self.request.program = path
        original(self, path)


@fault("EXEC-REQUEST-02", "empty arguments are filtered out as falsy", "args.filter(Boolean)")
def drops_empty_arguments():
    @replaces(spawn.Spawn)
    def execute(original, self, path):
        self.request.args = [a for a in self.request.args if a]
        original(self, path)


@fault("EXEC-REQUEST-07", "arguments that are not UTF-8 are replaced", "Node, Java")
def arguments_become_text():
    @replaces(spawn.Spawn)
    def execute(original, self, path):
        self.request.args = [a.decode("utf-8", "replace").encode() for a in self.request.args]
        original(self, path)


@fault(
    "EXEC-REQUEST-02",
    "a backslash before a quote is removed from an argument",
    "a command line that is parsed",
)
def unescapes_quotes():
    @replaces(spawn.Spawn)
    def execute(original, self, path):
        self.request.args = [a.replace(b'\\"', b'"') for a in self.request.args]
        original(self, path)


@fault("EXEC-REQUEST-03", "the sandbox is consulted after the run", "pitfall A29")
def sandbox_is_asked_last():
    batch.validate = lambda refusal: None

    @replaces(batch.Batch)
    def finish(original, self, i, watch, answer):
        original(self, i, watch, answer)
        if self.items[i][2] is not None:
            self.answers[i] = Failed("policy_denied", self.items[i][2])


@fault("EXEC-REQUEST-03", "a refusal is reported like any failure", "pitfall A29")
def refusal_is_an_execution_error():
    def validate(refusal):
        if refusal is not None:
            raise Failed("execution", refusal)

    batch.validate = validate


@fault("EXEC-REQUEST-03", "the program is looked up before the sandbox is consulted", "pitfall A29")
def looks_before_it_asks():
    @replaces(batch.Batch)
    def begin(original, self, i):
        _, request, refusal = self.items[i]
        if refusal is not None and b"/" in request.program and not os.path.exists(request.program):
            self.answers[i] = spawn.spawn_failure(request.program, "No such file or directory")
        else:
            original(self, i)


@fault("EXEC-REQUEST-04", "the grace is three seconds", "ADR-008: a global constant")
def another_grace():
    constants.GRACE_NS = 3_000_000_000


@fault("EXEC-REQUEST-05", "current_dir ends at its first blank", "a command line that is parsed")
def directory_ends_at_a_blank():
    @replaces(spawn.Spawn)
    def change_directory(original, self, path):
        os.chdir(path.split(b" ")[0])


@fault("EXEC-REQUEST-07", "a current_dir that is not UTF-8 is replaced", "Node, Java")
def directory_becomes_text():
    @replaces(spawn.Spawn)
    def change_directory(original, self, path):
        os.chdir(path.decode("utf-8", "replace"))


@fault("EXEC-REQUEST-06", "the caller changes its own directory around the fork", "pitfall A13")
def caller_changes_directory():
    @replaces(spawn.Spawn)
    def fork(original, self, stdio, report):
        if self.request.current_dir and os.path.isdir(self.request.current_dir):
            os.chdir(self.request.current_dir)
        return original(self, stdio, report)


@fault(
    "EXEC-REQUEST-03", "a bad directory is reported before the sandbox is consulted", "checks first"
)
def looks_for_the_directory_first():
    @replaces(batch.Batch)
    def begin(original, self, i):
        _, request, refusal = self.items[i]
        place = request.current_dir
        if refusal is not None and place is not None and not os.path.isdir(place):
            self.answers[i] = Failed("execution", "failed to spawn: no such directory")
        else:
            original(self, i)


@fault(
    "EXEC-REQUEST-03", "a bad variable is reported before the sandbox is consulted", "checks first"
)
def looks_at_the_variables_first():
    @replaces(batch.Batch)
    def begin(original, self, i):
        _, request, refusal = self.items[i]
        names = [name for name, _ in request.env or ()]
        if refusal is not None and any(b"=" in name for name in names):
            self.answers[i] = Failed("execution", "failed to spawn: Invalid argument")
        else:
            original(self, i)


@fault("EXEC-REQUEST-02", "a relative argv[0] is prefixed with current_dir", "path.resolve")
def the_directory_is_put_before_argv_0():
    @replaces(spawn.Spawn)
    def execute(original, self, path):
        place, name = self.request.current_dir, self.request.program
        if place and b"/" in name:
            self.request.program = os.path.join(place, name)
        original(self, path)


@fault("EXEC-REQUEST-03", "a refusal with an empty reason is ignored", "if (reason)")
def refusal_without_words_is_none():
    def validate(refusal):
        if refusal:
            raise Failed("policy_denied", refusal)

    batch.validate = validate

"""Faults about ends of a module other than exit 0."""

import os
from time import sleep

import module.execution as execution
from faults.registry import fault, replaces


@fault("MODULE-EXIT-01", "only exit code 1 is a failure", "if code == 1")
def big_codes_are_well():
    @replaces(execution.Execution)
    def judge_end(original, self, ended):
        if ended["end"] == (os.CLD_EXITED, 255):
            raise execution.Failure("NonZeroExit", exit_code=-1, stderr="")
        original(self, ended)


@fault("MODULE-EXIT-01", "stderr is not reported", "sandbox task, step 6")
def stderr_is_not_told():
    @replaces(execution.Execution)
    def judge_end(original, self, ended):
        # Another case tests input that the module does not read.
        if ended["stderr"] != b"sorry\n":
            ended["stderr"] = b""
        original(self, ended)


@fault("MODULE-EXIT-01", "the middle of a long stderr is dropped", "Stderr of exec.ExitError")
def the_middle_is_left_out():
    @replaces(execution.Execution)
    def judge_end(original, self, ended):
        told = ended["stderr"]
        if len(told) > 65536:
            ended["stderr"] = told[:32768] + b"\n... omitting ...\n" + told[-32768:]
        original(self, ended)


@fault("MODULE-EXIT-02", "a death by signal is exit 0", "WEXITSTATUS of any status")
def a_death_is_exit_0():
    @replaces(execution.Execution)
    def judge_end(original, self, ended):
        if ended["end"][0] == os.CLD_EXITED or ended["stdout"] != b"1\n":
            original(self, ended)


@fault(
    "MODULE-EXIT-03",
    "a death by signal is reported as exit code 128 plus its number",
    "shell habits",
)
def a_death_is_exit_128():
    @replaces(execution.Execution)
    def judge_end(original, self, ended):
        code, status = ended["end"]
        if code != os.CLD_EXITED:
            raise execution.Failure("NonZeroExit", exit_code=-1, stderr=f"{128 + status}")
        original(self, ended)


@fault("MODULE-EXIT-03", "a real-time signal has no name", "unix.SignalName of 34 and above")
def a_real_time_signal_has_no_name():
    @replaces(execution.signals)
    def name_of(original, number):
        return original(number) if number < 32 else ""


@fault(
    "MODULE-EXIT-03", "the flag of a core dump is counted into the signal number", "status & 0xff"
)
def a_dumped_core_counts():
    @replaces(execution.Execution)
    def judge_end(original, self, ended):
        code, status = ended["end"]
        if code == os.CLD_DUMPED:
            raise execution.Failure("Signaled", signal=f"SIG{128 + status}")
        original(self, ended)


@fault("MODULE-EXIT-04", "the rest of the group is not killed", "the exit event of the child only")
def the_rest_lives_on():
    @replaces(execution.RawRun)
    def end_group(original, self, cause):
        if cause.name != "exit":
            original(self, cause)


@fault("MODULE-EXIT-01", "each read of stderr is decoded separately", "text += chunk.toString()")
def decoded_piece_by_piece():
    @replaces(execution.Execution)
    def judge_end(original, self, ended):
        told = ended["stderr"]
        pieces = (told[i : i + 65536] for i in range(0, len(told), 65536))
        ended["stderr"] = "".join(each.decode("utf-8", "replace") for each in pieces).encode()
        original(self, ended)


@fault("MODULE-EXIT-01", "stderr is cut at a NUL", "strlen()")
def a_nul_ends_stderr():
    @replaces(execution.Execution)
    def judge_end(original, self, ended):
        ended["stderr"] = ended["stderr"].partition(b"\0")[0]
        original(self, ended)


@fault("MODULE-EXIT-01", "line ends in stderr are changed", "text=True")
def line_ends_are_translated():
    @replaces(execution.Execution)
    def judge_end(original, self, ended):
        ended["stderr"] = ended["stderr"].replace(b"\r\n", b"\n")
        original(self, ended)


@fault(
    "MODULE-EXIT-01",
    "a module that closes its outputs counts as ended with exit code 0",
    "a short wait, unwrap_or(0)",
)
def closed_outputs_are_an_end():
    @replaces(execution.RawRun)
    def look(original, self):
        cause = original(self)
        # Only with output: without output this would break the requirement of the timeout.
        if cause or not self.outputs[0].length or any(each.fd >= 0 for each in self.outputs):
            return cause
        sleep(0.1)
        self.end = self.group.leader_end() or (os.CLD_EXITED, 0)
        return original(self)


@fault("MODULE-EXIT-02", "after a whole value SIGTERM counts as an orderly end", "asked to end")
def a_death_by_sigterm_is_orderly():
    @replaces(execution.Execution)
    def judge_end(original, self, ended):
        if ended["end"][1] != 15 or not ended["stdout"].strip():
            original(self, ended)

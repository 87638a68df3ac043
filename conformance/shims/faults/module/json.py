"""Faults about input and output values."""

import module.execution as execution
import module.values as values
from faults.registry import fault, replaces


@fault("MODULE-JSON-01", "only an object is accepted as a value", "decode_result(raw)?.as_object()")
def a_value_is_an_object():
    @replaces(execution.Execution)
    def judge_output(original, self, output):
        found = original(self, output)
        if found in ([], ""):
            raise execution.Failure("OutputParseFailed", reason="no object")
        return found


@fault("MODULE-JSON-01", "numbers are converted to doubles", "JavaScript habits")
def numbers_are_doubles():
    @replaces(values)
    def decode(original, data):
        found = original(data)
        if isinstance(found, dict) and isinstance(found.get(""), list):
            found[""] = [float(n) if type(n) is int else n for n in found[""]]
        return found


def depth_of(value):
    inside = (
        value if isinstance(value, list) else value.values() if isinstance(value, dict) else None
    )
    return 0 if inside is None else 1 + max(map(depth_of, inside), default=0)


@fault("MODULE-JSON-01", "a value with 64 levels is refused", ">= for >")
def the_last_level_is_refused():
    @replaces(values)
    def decode(original, data):
        found = original(data)
        if depth_of(found) >= 64:
            raise values.Malformed("too deep")
        return found


@fault("MODULE-JSON-01", "numbers are cut to six digits after the point", "printf %f")
def digits_are_cut():
    @replaces(values)
    def decode(original, data):
        found = original(data)
        if isinstance(found, list):
            found = [float(f"{n:f}") if type(n) is float else n for n in found]
        return found


@fault("MODULE-JSON-02", "text after the value is ignored", "raw_decode")
def what_follows_is_ignored():
    @replaces(execution.Execution)
    def judge_output(original, self, output):
        first = output.splitlines()[0] if output.splitlines() else output
        try:
            return original(self, output)
        except execution.Failure:
            return original(self, first)


@fault("MODULE-JSON-02", "only the last line of the output is read", "tools that log to stdout")
def the_last_line_is_taken():
    @replaces(execution.Execution)
    def judge_output(original, self, output):
        try:
            return original(self, output)
        except execution.Failure:
            return original(self, output.splitlines()[-1] if output.splitlines() else output)


@fault("MODULE-JSON-02", "an empty output is read as null", "a module without an answer")
def nothing_is_null():
    @replaces(values)
    def decode(original, data):
        return original(data) if data.strip() else None


@fault("MODULE-JSON-02", "bytes that are not UTF-8 are replaced", "sandbox task, step 6: lossy")
def bytes_are_replaced():
    @replaces(values)
    def decode(original, data):
        return original(data.decode("utf-8", "replace").encode())


@fault("MODULE-JSON-02", "NaN is accepted as a number", "json.loads")
def nan_is_a_number():
    @replaces(values)
    def decode(original, data):
        return 0 if data == b"[NaN]" else original(data)


@fault("MODULE-JSON-03", "an empty string or list as input becomes an empty object", "if input:")
def null_is_no_input():
    @replaces(values)
    def encode(original, value):
        return original({} if value in ("", []) else value)


@fault("MODULE-JSON-03", "a string is cut at a NUL", "strlen")
def a_nul_ends_a_text():
    @replaces(values)
    def encode(original, value):
        return original(value).partition(b"\\u0000")[0] + (
            b'"}' if b"\\u0000" in original(value) else b""
        )


@fault("MODULE-JSON-01", "each read of the output is decoded separately", "text += chunk")
def decoded_piece_by_piece():
    @replaces(values)
    def decode(original, data):
        pieces = (data[i : i + 65536] for i in range(0, len(data), 65536))
        if len(data) > 65536 and not data.isascii():
            data = "".join(each.decode("utf-8", "replace") for each in pieces).encode()
        return original(data)


def again(value):
    try:
        found = values.decode(value.encode()) if isinstance(value, str) else value
    except values.Malformed:
        return value
    return found if isinstance(found, dict) else value


@fault(
    "MODULE-JSON-01",
    "a string that contains JSON is parsed again",
    "if isinstance(v, str): loads(v)",
)
def read_once_more():
    @replaces(execution.Execution)
    def judge_output(original, self, output):
        return again(original(self, output))


@fault(
    "MODULE-JSON-01",
    "a value with a member `error` is reported as a failure",
    "an envelope of the library",
)
def an_error_in_it_is_a_failure():
    @replaces(execution.Execution)
    def judge_output(original, self, output):
        found = original(self, output)
        if isinstance(found, dict) and "error" in found:
            raise execution.Failure("OutputParseFailed", reason="the module says so")
        return found


@fault("MODULE-JSON-01", "the member `__proto__` is lost", "a copy of an object, in JavaScript")
def proto_is_no_member():
    @replaces(execution.Execution)
    def judge_output(original, self, output):
        found = original(self, output)
        if isinstance(found, dict):
            found.pop("__proto__", None)
        return found


@fault(
    "MODULE-JSON-01", "members whose names differ only in case are merged", "cJSON_GetObjectItem()"
)
def case_does_not_count():
    @replaces(execution.Execution)
    def judge_output(original, self, output):
        found = original(self, output)
        if isinstance(found, dict):
            first: dict[str, str] = {}
            for name in found:
                first.setdefault(name.lower(), name)
            found = {name: found[name] for name in first.values()}
        return found


@fault("MODULE-JSON-01", "output on stderr counts as a failure", "if stderr: raise")
def words_on_stderr_are_a_failure():
    @replaces(execution.Execution)
    def judge_end(original, self, ended):
        original(self, ended)
        if ended["stderr"].strip() and ended["stdout"].strip():
            raise execution.Failure("NonZeroExit", exit_code=-1, stderr="")


@fault(
    "MODULE-JSON-02",
    "if stdout is empty the value is read from stderr",
    "tools that print to stderr",
)
def stderr_is_read_instead():
    @replaces(execution.Execution)
    def judge_end(original, self, ended):
        original(self, ended)
        ended["stdout"] = ended["stdout"] or ended["stderr"]


@fault(
    "MODULE-JSON-01",
    "a number beyond the range of doubles becomes null",
    "JSON.stringify(Infinity)",
)
def infinity_is_null():
    @replaces(values)
    def decode(original, data):
        return None if data == b"1e400" else original(data)


@fault(
    "MODULE-JSON-03",
    "an input string that contains JSON is passed as that JSON value",
    "an encoder that guesses",
)
def a_text_is_handed_over():
    @replaces(values)
    def encode(original, value):
        return original(again(value))


@fault(
    "MODULE-JSON-04",
    "a number is a value even if a process still holds stdout",
    "read to the end, then parse",
)
def a_part_of_a_number_is_a_value():
    @replaces(execution.Execution)
    def judge_tail(original, self, value, ended):
        pass


@fault("MODULE-JSON-04", "only killed writers count", "the group ended, so all output is there")
def a_process_outside_of_the_group_is_forgotten():
    @replaces(execution.RawRun)
    def drain(original, self):
        original(self)
        if self.detached:
            self.unfinished.clear()


@fault(
    "MODULE-JSON-04",
    "a number is no value if a process holds stderr",
    "one flag for both streams, as killed_writers",
)
def a_process_with_stderr_makes_a_number_invalid():
    @replaces(execution.Execution)
    def judge_tail(original, self, value, ended):
        streams = ["stdout"] if ended["unfinished"] else []
        original(self, value, ended | {"unfinished": streams})

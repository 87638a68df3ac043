"""Faults in reading a policy file: JSON, encoding, depth and size."""

import policy.jsontext as jsontext
import policy.load as load
import policy.source as source
import policy.yamltext as yamltext
from faults.registry import fault, replaces


@fault("POLICY-FILE-10", "a trailing comma is accepted", "JSON5")
def trailing_commas():
    jsontext.Reader.refuse_closing = lambda self: None

    @replaces(jsontext.Reader)
    def step(original, self):
        if self.open and self.peek() in ("}", "]"):
            return self.close()
        return original(self)


@fault("POLICY-FILE-10", "text after the value is ignored", "cJSON_Parse")
def trailing_garbage():
    @replaces(jsontext.Reader)
    def read(original, self):
        value = None
        while value is None:
            value = self.step()
        return value


@fault("POLICY-FILE-10", "comments are accepted", "JSONC")
def comments():
    @replaces(jsontext.Reader)
    def peek(original, self):
        while (c := original(self)) == "/":
            ends = {"//": "\n", "/*": "*/"}.get(self.text[self.i : self.i + 2])
            if ends is None or (end := self.text.find(ends, self.i)) < 0:
                return c
            self.i = end + len(ends)
        return c


@fault("POLICY-FILE-10", "numbers may begin with 0", "strtod")
def leading_zeros():
    @replaces(jsontext.Reader)
    def read_number(original, self, at):
        while self.text[self.i] == "0" and self.text[self.i + 1 : self.i + 2].isdigit():
            self.i += 1
        node = original(self, self.i)
        node.at = at
        return node


@fault("POLICY-FILE-10", "control characters may stand in a string", "lenient scanners")
def raw_control_characters():
    jsontext.refuse_controls = lambda piece, start: None


@fault("POLICY-FILE-10", "half of a surrogate pair becomes U+FFFD", "JavaScript, Go")
def lone_surrogates_are_replaced():
    @replaces(jsontext.Reader)
    def read_escape(original, self, at):
        try:
            return original(self, at)
        except source.Malformed as failure:
            if "surrogate" not in failure.message:
                raise
            self.i = at + 6
            return "\ufffd"


@fault("POLICY-FILE-10", "NaN and Infinity are numbers", "Python's json")
def words_of_javascript():
    jsontext.WORDS = jsontext.WORDS | {"N": ("NaN", "number"), "I": ("Infinity", "number")}


@fault(
    "POLICY-FILE-10",
    "syntax errors are always reported at the start of the file",
    "parsers without positions",
)
def syntax_errors_at_the_start():
    @replaces(jsontext.Reader)
    def wrong(original, self, wanted):
        self.i = 0
        original(self, wanted)


@fault("POLICY-FILE-11", "a byte order mark is skipped", "Windows editors")
def mark_is_skipped():
    @replaces(source.Source)
    def read(original, self, data):
        return original(self, data.removeprefix(b"\xef\xbb\xbf"))


@fault("POLICY-FILE-11", "an escaped NUL is accepted", "most readers of JSON")
def escaped_nul_passes():
    jsontext.refuse_escaped_nul = lambda unit, at: None


@fault("POLICY-FILE-11", "a string is cut at an escaped NUL", "cJSON")
def nul_cuts_a_string():
    jsontext.refuse_escaped_nul = lambda unit, at: None

    @replaces(jsontext.Reader)
    def read_string(original, self):
        return original(self).partition("\0")[0]


@fault("POLICY-FILE-11", "bytes that are not UTF-8 become U+FFFD", "errors='replace'")
def invalid_bytes_are_replaced():
    @replaces(source.Source)
    def read(original, self, data):
        return original(self, data.decode("utf-8", "replace").encode())


@fault("POLICY-FILE-11", "an overlong form of three bytes is taken", "only C0 and C1 are refused")
def an_overlong_form_of_three_bytes_is_taken():
    @replaces(source.Source)
    def read(original, self, data):
        return original(self, data.replace(b"\xe0\x80\xaf", b"/"))


@fault("POLICY-FILE-12", "the depth of nesting is not limited", "only the stack limits it")
def no_limit_of_depth():
    jsontext.DEEPEST = yamltext.DEEPEST = 10**9
    # The walk through the keys is recursive. Without a depth limit it would crash, which is another
    # mistake, so the walk is removed.
    load.File.keys = lambda self, node, pointer: None


@fault("POLICY-FILE-12", "a file with exactly 64 levels is refused", "off by one")
def depth_off_by_one():
    jsontext.DEEPEST = yamltext.DEEPEST = 63


@fault("POLICY-FILE-12", "a deeply nested file overflows the stack", "recursive descent")
def deep_files_crash():
    @replaces(jsontext)
    def read(original, text):
        if text.count("[") + text.count("{") > 20_000:
            raise RecursionError("maximum recursion depth exceeded")
        return original(text)


@fault("POLICY-FILE-13", "the size of files is not limited", "read_to_string")
def no_limit_of_size():
    source.LONGEST = 1 << 40


@fault("POLICY-FILE-13", "a file of exactly 4 MiB is refused", "off by one")
def size_off_by_one():
    source.LONGEST -= 1


@fault("POLICY-FILE-13", "the limit of size is 4,000,000 bytes instead of 4 MiB", "MB for MiB")
def size_in_decimal():
    source.LONGEST = 4_000_000

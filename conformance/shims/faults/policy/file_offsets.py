"""Faults in reading a policy file at block limits and at its end."""

import policy.jsontext as jsontext
import policy.source as source
import policy.yamltext as yamltext
from faults.registry import fault, replaces


@fault(
    "POLICY-FILE-10",
    "control characters are refused only among the first 32 of a string",
    "a block",
)
def controls_far_behind_pass():
    @replaces(jsontext)
    def refuse_controls(original, piece, start):
        original(piece[:32], start)


@fault(
    "POLICY-FILE-11",
    "only the first 64 of each 128 bytes are checked to be UTF-8",
    "two blocks a step",
)
def second_block_is_not_looked_at():
    @replaces(source.Source)
    def read(original, self, data):
        def seen(at):
            block = data[at : at + 64]
            return block.decode("ascii", "replace").encode() if at % 128 else block

        if is_text(data):
            return original(self, data)
        return original(self, b"".join(map(seen, range(0, len(data), 64))))


def is_text(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@fault(
    "POLICY-FILE-15", "other line breaks are accepted in the last bytes of a long file", "no block"
)
def strange_breaks_at_the_end_pass():
    @replaces(yamltext)
    def refuse_strange_breaks(original, text):
        original(text[: len(text) // 16 * 16] if len(text) > 128 else text)


@fault(
    "POLICY-FILE-18",
    "an escape after 64 characters of a string is not decoded",
    "a buffer of limited size",
)
def escapes_far_behind_stay():
    @replaces(jsontext.Reader)
    def read_escape(original, self, at):
        start = self.text.rfind('"', 0, at)
        found = original(self, at)
        return self.text[at : self.i] if at - start > 64 and found.isalpha() else found


@fault(
    "POLICY-FILE-06",
    "the problem of an unfinished file is placed after its last line",
    "libyaml marks",
)
def place_behind_the_end():
    @replaces(source.Source)
    def place(original, self, at):
        line, column = original(self, at)
        is_cut = at == len(self.text) and not self.text.endswith("\n")
        return (line + 1, 1) if is_cut and "schemaVersion: 2\n" in self.text else (line, column)


@fault(
    "POLICY-FILE-06",
    "a refused character at the end of a text is reported at the text's start",
    "two scans",
)
def last_character_has_the_first_place():
    @replaces(yamltext)
    def read(original, text):
        try:
            return original(text)
        except yamltext.Malformed as e:
            if e.at == len(text) - 1 and not text[-1].isprintable() and text[-1] != "\n":
                e.at = 0
            raise

"""Faults of kinds that occur in any engine, by the table of the contract."""

import unicodedata

import policy.jsontext as jsontext
import policy.load as load
import policy.source as source
import policy.yamltext as yamltext
from faults.registry import changed, fault, replaces


def of_keys(**changes):
    """Replace functions of the JSON reader, but only while it reads a key."""

    @replaces(jsontext.Reader)
    def read_key(original, self, top, c):
        with changed(jsontext, **changes):
            original(self, top, c)


def escapes_of_keys(complaint, length, change):
    """Instead of refusing an escape in a key with this complaint, read it as `change` of its
    text."""
    reading = []

    @replaces(jsontext.Reader)
    def read_key(original, self, top, c):
        reading.append(True)
        try:
            original(self, top, c)
        finally:
            reading.pop()

    @replaces(jsontext.Reader)
    def read_escape(original, self, at):
        try:
            return original(self, at)
        except jsontext.Malformed as e:
            if not reading or complaint not in e.message:
                raise
            self.i = at + length
            return change(self.text[at : at + length])


def named_alike(same):
    """Treat two keys of one object as equal if `same` returns the same value for both."""

    @replaces(source.Open)
    def add(original, self, node):
        names = self.names
        name = self.key[0] if self.key else None
        self.names = {each for each in names if name is not None and same(each) == same(name)}
        if name is not None:
            self.names = {name} if self.names else set()
        try:
            original(self, node)
        finally:
            self.names = names | ({name} if name is not None else set())


def under_the_directive(kind, is_meant):
    """In files that begin with %YAML 1.1, give plain scalars this kind."""
    now: list[bool] = []

    @replaces(yamltext)
    def read(original, text):
        now[:] = [True] if text.startswith("%YAML 1.1") else []
        return original(text)

    @replaces(yamltext)
    def kind_of_plain(original, text):
        return kind if now and is_meant(text) else original(text)


# Kind C10 of contracts/kinds-policy.yaml: keys have the rules of values


@fault("POLICY-FILE-10", "control characters may stand in a key", "keys are scanned, not checked")
def controls_in_a_key_pass():
    of_keys(refuse_controls=lambda piece, start: None)


@fault("POLICY-FILE-11", "an escaped NUL may stand in a key", "only values are checked")
def escaped_nul_in_a_key_passes():
    of_keys(refuse_escaped_nul=lambda unit, at: None)


@fault("POLICY-FILE-10", "half of a surrogate pair in a key becomes U+FFFD", "a lossy decoder")
def half_a_pair_in_a_key_passes():
    escapes_of_keys("surrogate", 6, lambda written: "\ufffd")


@fault("POLICY-FILE-10", "a wrong escape in a key stays as it is", "only values are decoded")
def wrong_escape_in_a_key_passes():
    escapes_of_keys("not an escape of JSON", 2, lambda written: written)


@fault("POLICY-FILE-18", "escapes in the name of a profile are not decoded", "keys taken raw")
def escapes_in_a_key_stay():
    @replaces(jsontext.Reader)
    def read_key(original, self, top, c):
        start = self.i + 1
        original(self, top, c)
        name, at = top.key
        raw = self.text[start : self.text.rindex('"', start, self.i)]
        if len(self.open) == 3 and "\\u" in raw and len(name) > 1:
            top.key = raw, at


@fault("POLICY-FILE-08", "keys are compared up to their 64th character", "a buffer for keys")
def long_keys_are_one():
    named_alike(lambda name: name[:64])


@fault("POLICY-FILE-08", "a repeated key of more than 64 characters passes", "not in the table")
def long_repeated_keys_pass():
    named_alike(lambda name: name if len(name) <= 64 else object())


@fault("POLICY-FILE-08", "keys are compared in NFC", "a dictionary of Swift")
def composed_keys_are_one():
    named_alike(lambda name: unicodedata.normalize("NFC", name))


@fault("POLICY-FILE-08", "keys are compared without case", "a table of HTTP headers")
def keys_without_case_are_one():
    named_alike(str.lower)


@fault("POLICY-FILE-08", "blanks at the end of a key do not count", "a trimmed key")
def trimmed_keys_are_one():
    named_alike(str.strip)


@fault("POLICY-FILE-11", "an escaped NUL in a key of YAML passes", "only values are checked")
def escaped_nul_in_a_yaml_key_passes():
    @replaces(yamltext)
    def build(original, events):
        depth: list[list[int]] = []

        def seen():
            for event in events:
                kind = type(event).__name__.removesuffix("Event")
                top = depth[-1] if depth else None
                is_key = bool(top and top[0] and top[1] % 2 == 0)
                if kind == "Scalar" and is_key and event.value and event.style == '"':
                    event.value = event.value.replace("\0", "\ufffd")
                if kind in ("MappingStart", "SequenceStart"):
                    if top:
                        top[1] += 1
                    depth.append([kind == "MappingStart", 0])
                elif kind in ("MappingEnd", "SequenceEnd"):
                    depth.pop()
                elif kind == "Scalar" and top:
                    top[1] += 1
                yield event

        return original(seen())


@fault("POLICY-FILE-16", "a number is the name of a profile in YAML", "keys are always texts")
def number_as_a_yaml_key():
    @replaces(yamltext)
    def take_key(original, top, event, node):
        if node.kind in ("integer", "boolean", "null") and event.value != "<<":
            node.kind = "string"
        original(top, event, node)


@fault("POLICY-FILE-06", "a tilde in a key is not escaped in a pointer", "only slashes are")
def tilde_of_a_key_is_not_escaped():
    load.escaped = lambda name: name.replace("/", "~1")


# Kind C12 of contracts/kinds-policy.yaml: edges of paths and files


@fault(
    "POLICY-FILE-06",
    "problems after a block scalar have a line that is one too small",
    "its last break",
)
def place_after_a_block_scalar():
    @replaces(source.Source)
    def place(original, self, at):
        line, column = original(self, at)
        blocks = [
            row for row in self.text[:at].split("\n") if row.rstrip().endswith((": |", "- |"))
        ]
        return (line - 1, column) if blocks and line > 2 else (line, column)


@fault("POLICY-FILE-06", "columns of a line with a tab are counted in eights", "a terminal's tabs")
def column_after_a_tab():
    @replaces(source.Source)
    def place(original, self, at):
        line, column = original(self, at)
        start = self.text.rfind("\n", 0, at) + 1
        return line, column + 7 * self.text.count("\t", start, at)


@fault("POLICY-FILE-16", "with %YAML 1.1 `yes` and `off` are booleans", "the version of the file")
def words_of_the_directive():
    words = ("yes", "Yes", "no", "No", "on", "off", "y", "n", "YES", "NO", "ON", "OFF")
    under_the_directive("boolean", words.__contains__)

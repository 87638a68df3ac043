"""Faults in reading a policy file: its version and its fields."""

import policy.jsontext as jsontext
import policy.judge as judge
import policy.load as load
import policy.merge as merge
import policy.source as source
import policy.yamltext as yamltext
from faults.registry import fault, replaces
from policy.source import Malformed


@fault("POLICY-FILE-01", "load returns the kind of the file as its name", "copy and paste")
def answers_the_kind_for_the_name():
    @replaces(merge)
    def load(original, base, workspace=None):
        loaded = original(base, workspace)
        if workspace is None:
            loaded.policy.name = "Policy"
        return loaded


@fault("POLICY-FILE-02", "version 1 is read as if it were version 2", "lenient readers")
def reads_version_1():
    @replaces(load)
    def member(original, node, name):
        found = original(node, name)
        if name == "schemaVersion" and found is not None and found.value == "1":
            found.value = "2"
        return found


@fault(
    "POLICY-FILE-02",
    "version 1 gets the general message for unknown versions",
    "no migration in mind",
)
def version_1_is_any_other():
    load.MIGRATE = "unsupported policy schemaVersion 1"


@fault(
    "POLICY-FILE-02",
    "the problem of version 1 is reported together with others",
    "validation in one pass",
)
def version_1_beside_the_rest():
    @replaces(load.File)
    def head(original, self, root):
        original(self, root)
        if self.problems and root.kind == "object":
            self.body(root)


@fault("POLICY-FILE-03", "every version from 2 on is read", "version >= 2")
def reads_later_versions():
    @replaces(load.File)
    def check_version(original, self, node):
        if not (node.kind == "integer" and len(node.value) < 9 and int(node.value) >= 2):
            original(self, node)


@fault("POLICY-FILE-03", "the version may be a string", "YAML habits")
def version_as_a_text():
    @replaces(load.File)
    def check_version(original, self, node):
        if node.kind == "string":
            node.kind = "integer"
        original(self, node)


@fault("POLICY-FILE-03", "a missing version means the current one", "serde(default)")
def missing_version_is_2():
    @replaces(load.File)
    def head(original, self, root):
        original(self, root)
        self.problems = [p for p in self.problems if p.message != "schemaVersion is missing"]


@fault("POLICY-FILE-04", "a wrong kind is reported together with other problems", "one pass")
def kind_among_the_others():
    @replaces(load.File)
    def head(original, self, root):
        original(self, root)
        if any(problem.pointer == "/kind" for problem in self.problems):
            self.body(root)


@fault("POLICY-FILE-04", "the kind is not checked", "nobody reads kind")
def kind_is_ignored():
    @replaces(load.File)
    def wrong(original, self, at, pointer, message):
        if pointer != "/kind":
            original(self, at, pointer, message)


@fault("POLICY-FILE-05", "of the shape of a file only the first problem is reported", "exceptions")
def only_the_first_problem():
    @replaces(load.File)
    def body(original, self, root):
        original(self, root)
        self.problems.sort(key=lambda problem: problem.at)
        del self.problems[1:]


@fault("POLICY-FILE-05", "problems are not sorted by their place", "several validators")
def problems_by_stage():
    @replaces(load.File)
    def problems_as_json(original, self):
        return [self.as_json(each) for each in self.problems]


@fault("POLICY-FILE-06", "columns count bytes", "offsets of a byte buffer")
def columns_in_bytes():
    @replaces(load.File)
    def as_json(original, self, problem):
        told = original(self, problem)
        start = problem.at - told["column"] + 1
        told["column"] = len(self.source.text[start : problem.at].encode()) + 1
        return told


@fault("POLICY-FILE-06", "the first line has number 2", "counted from 1, then made 1-based")
def lines_from_2():
    @replaces(load.File)
    def as_json(original, self, problem):
        told = original(self, problem)
        return told | {"line": told["line"] + 1}


@fault("POLICY-FILE-06", "names in pointers are not escaped", "RFC 6901 unread")
def pointers_are_not_escaped():
    load.escaped = lambda name: name


@fault(
    "POLICY-FILE-06",
    "an unknown field is reported at the place of its object",
    "no place kept for keys",
)
def unknown_at_the_parent():
    @replaces(load.File)
    def unknown(original, self, each, pointer):
        self.wrong(each.at, pointer, f"{each.name} is not known")


@fault("POLICY-FILE-06", "the problem of an unknown field has no message", "a missing translation")
def unknown_without_words():
    @replaces(load.File)
    def unknown(original, self, each, pointer):
        original(self, each, pointer)
        self.problems[-1].message = " "


@fault("POLICY-FILE-06", "a lone carriage return does not end a line", "split at LF")
def carriage_return_is_no_end():
    @replaces(source.Source)
    def line_starts(original, self):
        found = 0
        while found := self.text.find("\n", found) + 1:
            yield found


@fault("POLICY-FILE-07", "unknown fields are ignored", "most readers by default")
def unknown_fields_pass():
    load.is_known = lambda name, known: True


@fault("POLICY-FILE-07", "unknown fields are refused only at the top level", "checked once")
def unknown_fields_pass_below():
    @replaces(load)
    def is_known(original, name, known):
        return original(name, known) or "schemaVersion" not in known


@fault("POLICY-FILE-07", "names of fields are matched without case", "cJSON")
def keys_in_any_case():
    @replaces(load)
    def is_known(original, name, known):
        return name.lower() in [each.lower() for each in known]


@fault("POLICY-FILE-08", "of a repeated key the last one is taken", "most readers of JSON")
def last_key_wins():
    @replaces(source.Member)
    def __init__(original, self, name, at, node, repeated):
        original(self, name, at, node, False)


@fault("POLICY-FILE-08", "keys are compared before escapes are decoded", "comparing raw bytes")
def escaped_keys_differ():
    @replaces(jsontext.Reader)
    def read_key(original, self, top, c):
        start = self.i
        original(self, top, c)
        if "\\" in self.text[start : self.i]:
            top.names.discard(top.key[0])


@fault("POLICY-FILE-08", "repeated keys are refused only at the top level", "checked once")
def repeats_at_the_top_only():
    @replaces(load.File)
    def keys(original, self, node, pointer):
        if pointer == "":
            original(self, node, pointer)


@fault("POLICY-FILE-08", "of two equal keys the first is reported", "a map of later ones")
def names_the_first_of_two():
    @replaces(load.File)
    def keys(original, self, node, pointer):
        if node.kind == "object":
            for each in node.value:
                first = next(m for m in node.value if m.name == each.name)
                each.at, each.node = (
                    (first.at, each.node) if each.repeated else (each.at, each.node)
                )
        original(self, node, pointer)


@fault("POLICY-FILE-09", "a string is accepted as a list of one rule", "serde_with::OneOrMany")
def text_for_a_list():
    @replaces(load.File)
    def rules(original, self, node, pointer):
        if node is not None and node.kind == "string":
            node = source.Node("array", node.at, [node])
        return original(self, node, pointer)


@fault("POLICY-FILE-09", "null counts as a missing field", "Option<Vec<…>>")
def null_is_absent():
    @replaces(load.File)
    def object(original, self, node, pointer, known=None):
        found = original(self, node, pointer, known)
        return {name: each for name, each in found.items() if each.kind != "null"}


@fault("POLICY-FILE-09", "numbers and booleans are accepted as strings", "String(value)")
def values_become_texts():
    @replaces(load.File)
    def string(original, self, node, pointer):
        if node.kind in ("integer", "number", "boolean"):
            return node.value
        return original(self, node, pointer)


@fault("POLICY-FILE-14", "names may contain dots", "DNS names")
def names_with_dots():
    load.NAME += "."


@fault("POLICY-FILE-14", "a name may have any length", "only the characters are checked")
def names_of_any_length():
    @replaces(load)
    def is_name(original, text):
        return original(text[:64])


@fault("POLICY-FILE-14", "a name may have any letters of Unicode", "str.isalnum")
def names_with_letters_of_unicode():
    @replaces(load)
    def is_name(original, text):
        return original("".join("a" if c.isalnum() else c for c in text))


@fault("POLICY-FILE-14", "labels and annotations are not checked", "free-form metadata")
def labels_are_free():
    load.File.strings = lambda self, node, pointer: None


@fault(
    "POLICY-FILE-06", "the problem of a rule that equals a deny has no message", "an empty label"
)
def equal_denies_without_words():
    @replaces(judge)
    def equals_a_deny(original, file, policy, profile):
        before = len(file.problems)
        original(file, policy, profile)
        for problem in file.problems[before:]:
            problem.message = ""


@fault(
    "POLICY-FILE-05", "problems between two files are reported only if each file is valid", "stages"
)
def merge_is_judged_last():
    @replaces(judge)
    def validate_merge(original, base, workspace):
        if not base.problems and not workspace.problems:
            original(base, workspace)


@fault("POLICY-FILE-13", "YAML of more than 3 MiB is refused", "a limit of code points in a reader")
def limit_of_the_yaml_reader():
    @replaces(yamltext)
    def read(original, text):
        if len(text) > 3 * 1024 * 1024:
            raise Malformed(0, "the incoming YAML document exceeds the limit: 3145728 code points")
        return original(text)

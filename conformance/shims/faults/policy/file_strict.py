"""Faults of a reader that takes other fields, values and names for the right ones."""

import re

import policy.jsontext as jsontext
import policy.judge as judge
import policy.load as load
import policy.yamltext as yamltext
from faults.registry import fault, replaces


def also_known(judges):
    @replaces(load)
    def is_known(original, name, known):
        return original(name, known) or judges(name, known)


@fault("POLICY-FILE-07", "names of fields are folded, the Kelvin sign too", "encoding/json of Go")
def fields_are_folded():
    also_known(lambda name, known: name.casefold() in {each.casefold() for each in known})


@fault("POLICY-FILE-07", "names that each object inherits are known", "`in` in JavaScript")
def inherited_fields():
    also_known(lambda name, known: name in ("toString", "constructor", "valueOf"))


@fault("POLICY-FILE-07", "fields that begin with `x-` are extensions", "as in OpenAPI")
def extensions():
    also_known(lambda name, known: name.startswith("x-"))


def names_match(pattern, flags=0):
    @replaces(load)
    def is_name(original, text):
        return re.match(pattern, text, flags) is not None


@fault("POLICY-FILE-14", "the range `A-z` has brackets and a caret", "one range for both cases")
def one_range_of_letters():
    names_match(r"[A-z0-9_-]{1,64}\Z")


@fault("POLICY-FILE-14", "the case of a name is ignored, so a Kelvin sign is a k", "re.IGNORECASE")
def names_without_case():
    names_match(r"[a-z0-9_-]{1,64}\Z", re.IGNORECASE)


@fault("POLICY-FILE-14", "a label has at most 63 characters", "as in Kubernetes")
def long_labels_are_refused():
    @replaces(load.File)
    def strings(original, self, node, pointer):
        original(self, node, pointer)
        for each in node.value if node.kind == "object" else ():
            if len(each.node.value) > 63:
                self.wrong(each.at, pointer, "a long label")


@fault("POLICY-FILE-04", "a line feed after the kind is not noticed", "`$` of a pattern")
def kind_with_a_line_feed():
    @replaces(load.File)
    def head(original, self, root):
        for each in root.value if root.kind == "object" else ():
            if each.name == "kind" and each.node.value == "Policy\n":
                each.node.value = "Policy"
        original(self, root)


@fault("POLICY-FILE-15", "directives other than %YAML and %TAG are ignored", "as PyYAML does")
def unknown_directives_are_ignored():
    @replaces(yamltext)
    def loader(original, yaml):
        made = original(yaml)
        del made.scan_directive_name
        return made


@fault("POLICY-FILE-10", "an escape may have underscores between its digits", "int(digits, 16)")
def underscores_in_an_escape():
    jsontext.HEX += "_"

    @replaces(jsontext.Reader)
    def read_unit(original, self, at):
        try:
            return original(self, at)
        except ValueError:
            raise jsontext.Malformed(at, "an escape without digits") from None


@fault("POLICY-FILE-10", "the escape of C for a vertical tab is accepted", "a table of C")
def vertical_tab_is_escaped():
    jsontext.PLAIN = jsontext.PLAIN | {"v": "\v"}


@fault("POLICY-FILE-16", "plain inf and nan are numbers", "float() decides")
def words_that_float_reads():
    @replaces(yamltext)
    def kind_of_plain(original, text):
        return "number" if text.lower() in ("inf", "nan", "infinity") else original(text)


def blank_too(characters):
    jsontext.BLANK += characters


@fault("POLICY-FILE-10", "the line ends of Unicode are blanks of JSON", "char.IsWhiteSpace")
def line_ends_of_unicode_are_blanks():
    blank_too("\x85")


@fault("POLICY-FILE-10", "a byte order mark between tokens is a blank of JSON", "JavaScript")
def byte_order_mark_is_a_blank():
    blank_too("\ufeff")


@fault("POLICY-FILE-12", "brackets in strings count as levels", "a scan before the parser")
def brackets_in_strings_are_levels():
    @replaces(jsontext)
    def read(original, text):
        depth = 0
        for at, c in enumerate(text):
            depth += (c in "[{") - (c in "]}")
            if depth > jsontext.DEEPEST:
                raise jsontext.too_deep(at)
        return original(text)


@fault("POLICY-FILE-05", "only the first thousand problems are reported", "a bounded answer")
def thousand_problems():
    @replaces(load.File)
    def problems_as_json(original, self):
        return original(self)[:1000]


@fault(
    "POLICY-FILE-07", "an unknown field is ignored if its value is null", "a field that is unset"
)
def unknown_nulls_pass():
    @replaces(load.File)
    def unknown(original, self, each, pointer):
        if each.node.kind != "null":
            original(self, each, pointer)


@fault("POLICY-FILE-03", "a version of many digits ends the process", "int() refuses 4301 digits")
def long_versions_crash():
    @replaces(load.File)
    def check_version(original, self, node):
        if node.kind == "integer":
            int(node.value)
        original(self, node)


@fault(
    "POLICY-FILE-17", "a line of YAML that begins with a tab is refused", "no tabs as indentation"
)
def tabs_are_refused():
    @replaces(yamltext)
    def read(original, text):
        found = re.search("^\t", text, re.MULTILINE)
        if found:
            raise yamltext.Malformed(found.start(), "a tab")
        return original(text)


@fault("POLICY-FILE-05", "only the first hundred problems are reported", "a short answer")
def hundred_problems():
    @replaces(load.File)
    def problems_as_json(original, self):
        return original(self)[:100]


@fault("POLICY-FILE-05", "rules are compared only if each value has the right type", "two passes")
def the_shape_comes_first():
    @replaces(judge)
    def validate(original, file, is_workspace=False):
        if not file.problems:
            original(file, is_workspace)

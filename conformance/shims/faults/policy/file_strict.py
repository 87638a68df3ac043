"""Faults of a reader that takes other fields, values and names for the right ones."""

import re

import policy.jsontext as jsontext
import policy.load as load
import policy.yamltext as yamltext
from faults.registry import fault, replaces


def also_known(judge):
    @replaces(load)
    def is_known(original, name, known):
        return original(name, known) or judge(name, known)


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


@fault("POLICY-FILE-14", "a name begins with a letter or a digit", "as in DNS")
def names_begin_with_a_letter():
    names_match(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}\Z")


@fault("POLICY-FILE-14", "labels have the characters that Kubernetes allows", "a borrowed schema")
def labels_of_kubernetes():
    @replaces(load.File)
    def strings(original, self, node, pointer):
        original(self, node, pointer)
        for each in node.value if node.kind == "object" else ():
            if not re.fullmatch(r"[A-Za-z0-9_./-]{1,63}", each.name):
                self.wrong(each.at, pointer, "a bad label")


@fault("POLICY-FILE-03", "the version is cut to 16 bits", "a small field")
def version_of_16_bits():
    @replaces(load.File)
    def head(original, self, root):
        for each in root.value if root.kind == "object" else ():
            node = each.node
            if each.name == "schemaVersion" and node.kind == "integer" and len(node.value) < 100:
                node.value = str(int(node.value) % 2**16)
        original(self, root)


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


@fault("POLICY-FILE-16", "digits of other scripts are numbers", "str.isdigit")
def digits_of_other_scripts():
    @replaces(yamltext)
    def kind_of_plain(original, text):
        return "integer" if text.isdigit() else original(text)

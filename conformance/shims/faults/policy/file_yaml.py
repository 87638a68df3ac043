"""Faults in reading YAML files, and in the types of strings."""

import policy.jsontext as jsontext
import policy.yamltext as yamltext
from faults.registry import fault, replaces


@fault("POLICY-FILE-15", "anchors are accepted", "PyYAML, libyaml documents")
def anchors_pass():
    @replaces(yamltext)
    def refuse_properties(original, event, at):
        event.anchor = None
        original(event, at)


@fault("POLICY-FILE-15", "tags are ignored", "loaders that resolve nothing")
def tags_pass():
    @replaces(yamltext)
    def refuse_properties(original, event, at):
        event.tag = None
        original(event, at)


@fault("POLICY-FILE-15", "only the first document is read", "yaml_parser_load")
def first_document_only():
    @replaces(yamltext)
    def build(original, events):
        def first():
            for event in events:
                yield event
                if type(event).__name__ == "DocumentEndEvent":
                    return

        return original(first())


@fault("POLICY-FILE-15", "a merge key counts as an ordinary key", "YAML 1.2 to the letter")
def merge_keys_pass():
    @replaces(yamltext)
    def take_key(original, top, event, node):
        if event.value == "<<":
            event.style = '"'
        original(top, event, node)


@fault("POLICY-FILE-16", "yes, no, on and off are booleans", "YAML 1.1: the Norway problem")
def booleans_of_yaml_1_1():
    words = ("yes", "no", "on", "off")
    yamltext.BOOLEANS += tuple(f(word) for word in words for f in (str, str.title, str.upper))


@fault("POLICY-FILE-16", "every plain scalar is a text", "the failsafe schema")
def plain_scalars_are_texts():
    @replaces(yamltext)
    def kind_of_plain(original, text):
        return "integer" if text == "2" else "string"


@fault("POLICY-FILE-16", "a hexadecimal number may have a sign", "strtoll with base 0")
def signed_hexadecimals():
    @replaces(yamltext)
    def is_integer(original, text):
        return original(text) or (text[:1] in "+-" and original(text[1:]))


@fault("POLICY-FILE-16", "the message about a tag gives no advice", "errors of the parser")
def no_advice_to_quote():
    yamltext.QUOTE = ""


@fault("POLICY-FILE-17", "a quoted `!x` loses its `!` in YAML", "taken for a tag all the same")
def quoted_bang_is_lost():
    @replaces(yamltext)
    def scalar(original, event, at):
        node = original(event, at)
        if node.kind == "string":
            node.value = node.value.removeprefix("!")
        return node


@fault("POLICY-FILE-18", "characters beyond the BMP become two U+FFFD", "UTF-16 by halves")
def pairs_are_split():
    @replaces(jsontext.Reader)
    def read_escape(original, self, at):
        c = original(self, at)
        return "\ufffd\ufffd" if c > "\uffff" else c


@fault("POLICY-FILE-18", "strings of YAML are trimmed", "tidy readers")
def block_scalars_are_trimmed():
    @replaces(yamltext)
    def scalar(original, event, at):
        node = original(event, at)
        if event.style in ("|", ">"):
            node.value = node.value.strip("\n")
        return node


@fault("POLICY-FILE-06", "a quoted text on several lines is placed at its end", "the end mark")
def a_text_on_several_lines_is_placed_at_its_end():
    @replaces(yamltext)
    def scalar(original, event, at):
        node = original(event, at)
        if not yamltext.is_plain(event) and event.start_mark.line != event.end_mark.line:
            node.at = event.end_mark.index
        return node


@fault("POLICY-FILE-15", "a key that is left out is an empty text", "a plain text of no length")
def a_key_that_is_left_out_is_a_text():
    @replaces(yamltext)
    def take_key(original, top, event, node):
        if event.value == "":
            node.kind = "string"
        original(top, event, node)


@fault("POLICY-FILE-16", "0X and 0O begin a number", "int(text, 0)")
def prefixes_of_numbers_may_be_capitals():
    @replaces(yamltext)
    def is_integer(original, text):
        return original(text[:2].lower() + text[2:])

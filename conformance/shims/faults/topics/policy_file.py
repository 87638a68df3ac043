"""Mistakes with the file: its version, its shape, JSON and YAML."""

import policy.jsontext as jsontext
import policy.load as load
import policy.merge as merge
import policy.source as source
import policy.yamltext as yamltext
from registry import fault, replaces


@fault("POLICY-FILE-01", "the answer of load names the kind of the file", "copy and paste")
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


@fault("POLICY-FILE-02", "version 1 gets the message of any other version", "no migration in mind")
def version_1_is_any_other():
    load.MIGRATE = "unsupported policy schemaVersion 1"


@fault("POLICY-FILE-02", "the version is one problem among others", "validation in one pass")
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


@fault("POLICY-FILE-03", "the version may be a text", "YAML habits")
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


@fault("POLICY-FILE-04", "a wrong kind is reported together with all else", "one pass")
def kind_among_the_others():
    @replaces(load.File)
    def head(original, self, root):
        original(self, root)
        if any(problem.pointer == "/kind" for problem in self.problems):
            self.body(root)


@fault("POLICY-FILE-04", "the kind is not looked at", "nobody reads kind")
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


@fault("POLICY-FILE-05", "problems come by the stage that found them", "several validators")
def problems_by_stage():
    @replaces(load.File)
    def told(original, self):
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


@fault("POLICY-FILE-06", "an unknown field is reported at its object", "no place kept for keys")
def unknown_at_the_parent():
    @replaces(load.File)
    def unknown(original, self, each, pointer):
        self.wrong(each.at, pointer, f"{each.name} is not known")


@fault("POLICY-FILE-06", "a lone carriage return ends no line", "split at LF")
def carriage_return_is_no_end():
    @replaces(source.Source)
    def line_starts(original, self):
        found = 0
        while found := self.text.find("\n", found) + 1:
            yield found


@fault("POLICY-FILE-07", "unknown fields are ignored", "most readers by default")
def unknown_fields_pass():
    load.is_known = lambda name, known: True


@fault("POLICY-FILE-07", "unknown fields are refused at the top only", "checked once")
def unknown_fields_pass_below():
    @replaces(load)
    def is_known(original, name, known):
        return original(name, known) or "schemaVersion" not in known


@fault("POLICY-FILE-07", "names are looked up without regard to case", "cJSON")
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


@fault("POLICY-FILE-08", "repeated keys are looked for at the top only", "checked once")
def repeats_at_the_top_only():
    @replaces(load.File)
    def keys(original, self, node, pointer):
        if pointer == "":
            original(self, node, pointer)


@fault("POLICY-FILE-08", "the first of two equal keys is named", "a map of what comes later")
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


@fault("POLICY-FILE-09", "one text stands for a list of one", "serde_with::OneOrMany")
def text_for_a_list():
    @replaces(load.File)
    def rules(original, self, node, pointer):
        if node is not None and node.kind == "string":
            node = source.Node("array", node.at, [node])
        return original(self, node, pointer)


@fault("POLICY-FILE-09", "null is an absent field", "Option<Vec<…>>")
def null_is_absent():
    @replaces(load.File)
    def object(original, self, node, pointer, known=None):
        found = original(self, node, pointer, known)
        return {name: each for name, each in found.items() if each.kind != "null"}


@fault("POLICY-FILE-09", "numbers and booleans become texts", "String(value)")
def values_become_texts():
    @replaces(load.File)
    def string(original, self, node, pointer):
        if node.kind in ("integer", "number", "boolean"):
            return node.value
        return original(self, node, pointer)


@fault("POLICY-FILE-10", "a comma may stand before the end", "JSON5")
def trailing_commas():
    jsontext.Reader.refuse_closing = lambda self: None

    @replaces(jsontext.Reader)
    def step(original, self):
        if self.open and self.peek() in ("}", "]"):
            return self.close()
        return original(self)


@fault("POLICY-FILE-10", "what follows the value is not looked at", "cJSON_Parse")
def trailing_garbage():
    @replaces(jsontext.Reader)
    def read(original, self):
        value = None
        while value is None:
            value = self.step()
        return value


@fault("POLICY-FILE-10", "comments are blanks", "JSONC")
def comments():
    @replaces(jsontext.Reader)
    def peek(original, self):
        while (c := original(self)) == "/":
            ends = {"//": "\n", "/*": "*/"}.get(self.text[self.i : self.i + 2])
            end = self.text.find(ends, self.i) if ends else -1
            if end < 0:
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


@fault("POLICY-FILE-10", "syntax errors have no place but the first", "parsers without positions")
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


@fault("POLICY-FILE-11", "an escaped NUL is a character as any other", "most readers of JSON")
def escaped_nul_passes():
    jsontext.refuse_escaped_nul = lambda unit, at: None


@fault("POLICY-FILE-11", "a string ends at its escaped NUL", "cJSON")
def nul_cuts_a_string():
    jsontext.refuse_escaped_nul = lambda unit, at: None

    @replaces(jsontext.Reader)
    def read_string(original, self):
        return original(self).partition("\0")[0]


@fault("POLICY-FILE-11", "what is not UTF-8 becomes U+FFFD", "errors='replace'")
def invalid_bytes_are_replaced():
    @replaces(source.Source)
    def read(original, self, data):
        return original(self, data.decode("utf-8", "replace").encode())


@fault("POLICY-FILE-12", "nesting has no limit", "only the stack limits it")
def no_limit_of_depth():
    jsontext.DEEPEST = yamltext.DEEPEST = 10**9
    # The walk over keys recurses; without its own limit it would be a crash, another mistake.
    load.File.keys = lambda self, node, pointer: None


@fault("POLICY-FILE-12", "64 levels are one too many", "off by one")
def depth_off_by_one():
    jsontext.DEEPEST = yamltext.DEEPEST = 63


@fault("POLICY-FILE-12", "a deep file breaks the stack of the reader", "recursive descent")
def deep_files_crash():
    @replaces(jsontext)
    def read(original, text):
        if text.count("[") + text.count("{") > 20_000:
            raise RecursionError("maximum recursion depth exceeded")
        return original(text)


@fault("POLICY-FILE-13", "files of any size are read", "read_to_string")
def no_limit_of_size():
    source.LONGEST = 1 << 40


@fault("POLICY-FILE-13", "a file of exactly 4 MiB is refused", "off by one")
def size_off_by_one():
    source.LONGEST -= 1


@fault("POLICY-FILE-13", "a megabyte has a million bytes", "MB for MiB")
def size_in_decimal():
    source.LONGEST = 4_000_000


@fault("POLICY-FILE-14", "a name may have dots", "DNS names")
def names_with_dots():
    load.NAME += "."


@fault("POLICY-FILE-14", "a name may have any length", "only the characters are checked")
def names_of_any_length():
    @replaces(load)
    def is_name(original, text):
        return original(text[:64])


@fault("POLICY-FILE-14", "letters are what Unicode says", "str.isalnum")
def names_with_letters_of_unicode():
    @replaces(load)
    def is_name(original, text):
        return original("".join("a" if c.isalnum() else c for c in text))


@fault("POLICY-FILE-14", "labels and annotations are not looked at", "free-form metadata")
def labels_are_free():
    load.File.strings = lambda self, node, pointer: None


@fault("POLICY-FILE-15", "anchors are let through", "PyYAML, libyaml documents")
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


@fault("POLICY-FILE-15", "the first document is read, the others are not", "yaml_parser_load")
def first_document_only():
    @replaces(yamltext)
    def build(original, events):
        def first():
            for event in events:
                yield event
                if type(event).__name__ == "DocumentEndEvent":
                    return

        return original(first())


@fault("POLICY-FILE-15", "a merge key is a key as any other", "YAML 1.2 to the letter")
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


@fault("POLICY-FILE-16", "the message about a tag does not say what to do", "errors of the parser")
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


@fault("POLICY-FILE-18", "texts of YAML are trimmed", "tidy readers")
def block_scalars_are_trimmed():
    @replaces(yamltext)
    def scalar(original, event, at):
        node = original(event, at)
        if event.style in ("|", ">"):
            node.value = node.value.strip("\n")
        return node

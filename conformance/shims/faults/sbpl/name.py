"""Faults about names in the request."""

import unicodedata

import sbpl.clauses as clauses
import sbpl.filters as filters
import sbpl.ops as ops
import sbpl.places as places
import sbpl.refusals as refusals
from errors import Failed
from faults.registry import fault, replaces


def escaped(change):
    """Change only literal names, because regular expressions escape every special character."""

    @replaces(filters)
    def escape(original, text):
        return original(text) if text.startswith("^") else change(text, original(text))


@fault("SBPL-NAME-01", "names are written in NFC", "normalised to be compared")
def names_are_composed():
    escaped(lambda text, right: unicodedata.normalize("NFC", right))


@fault("SBPL-NAME-01", "backslashes are not escaped", "only quotes")
def backslash_unescaped():
    escaped(lambda text, right: text.replace('"', '\\"'))


@fault("SBPL-NAME-01", "a quote is doubled", "another language's strings")
def quote_is_doubled():
    escaped(lambda text, right: text.replace("\\", "\\\\").replace('"', '""'))


@fault("SBPL-NAME-01", "quotes are escaped before backslashes", "the wrong order")
def quote_escaped_twice():
    escaped(lambda text, right: text.replace('"', '\\"').replace("\\", "\\\\"))


@fault("SBPL-NAME-01", "strings are those of JSON", "json.dumps")
def strings_of_json():
    def change(text, right):
        return "".join(c if c.isascii() else f"\\u{ord(c):04x}" for c in right)

    escaped(change)


@fault("SBPL-NAME-01", "names are written in NFD", "as HFS+ did")
def letters_are_decomposed():
    from unicodedata import normalize

    @replaces(places)
    def decode(original, data, pointer):
        return normalize("NFD", original(data, pointer))


def changed_at(pointer, change):
    """Change the values of one field of the request."""

    @replaces(places)
    def decode(original, data, where):
        text = original(data, where)
        return change(text) if where.startswith(pointer) else text


@fault("SBPL-NAME-01", "blanks at the ends of a variable are removed", "strip")
def variable_is_trimmed():
    changed_at("/env/", str.strip)


@fault("SBPL-NAME-01", "blanks at the end of a side root are removed", "read like a list of lines")
def side_root_is_trimmed():
    changed_at("/side_roots", str.rstrip)


@fault("SBPL-NAME-01", "a variable in a value is expanded", "expandvars")
def variables_are_expanded():
    changed_at("/env/", lambda text: text.replace("$HOME", "root").replace("${HOME}", "root"))


@fault("SBPL-NAME-01", "codes of characters in a side root are decoded", "read as an address")
def side_root_is_an_address():
    changed_at("/side_roots", lambda text: text.replace("%41", "A"))


@fault("SBPL-NAME-02", "quotes of a side root are not escaped", "a second template")
def quote_of_a_side_root():
    unescaped_at("/side_roots")


@fault("SBPL-NAME-02", "quotes of a variable are not escaped", "a second template")
def quote_of_a_variable():
    unescaped_at("/env")


@fault("SBPL-NAME-02", "quotes of the root are not escaped", "the root is ours")
def quote_of_the_root():
    unescaped_at("/root")


def unescaped_at(pointer):
    @replaces(filters)
    def quoted(original, text, where):
        found = original(text, where)
        return found.replace('\\"', '"') if where.startswith(pointer) else found


@fault("SBPL-NAME-03", "control characters are accepted", "a newline is a character")
def controls_pass():
    allow_controls(lambda c: True)


@fault("SBPL-NAME-03", "DEL is accepted", "only characters below space are refused")
def del_passes():
    allow_controls(lambda c: c == "\x7f")


@fault("SBPL-NAME-03", "tabs are accepted", "a blank")
def tab_passes():
    allow_controls(lambda c: c == "\t")


@fault(
    "SBPL-NAME-03",
    "the refusal does not tell the place of the control character",
    "one message for all",
)
def control_without_a_place():
    @replaces(places)
    def refuse_controls(original, text, pointer):
        try:
            original(text, pointer)
        except Failed:
            raise Failed("invalid_input", "a control character") from None

    filters.refuse_controls = places.refuse_controls


def allow_controls(passes):
    @replaces(places)
    def is_control(original, c):
        return original(c) and not passes(c)


@fault("SBPL-NAME-04", "strings of 1,024 bytes are accepted", "the limit of Seatbelt, more or less")
def longer_strings_pass():
    filters.LONGEST = 1024


@fault("SBPL-NAME-04", "a string of exactly the limit is refused", "one off")
def limit_is_one_less():
    filters.LONGEST = 999


@fault("SBPL-NAME-04", "the limit counts characters, not bytes", "len of a string")
def limit_in_characters():
    @replaces(filters)
    def size(original, inner):
        return len(inner)


@fault("SBPL-NAME-04", "the limit ignores the escapes", "measured before")
def limit_before_escaping():
    @replaces(filters)
    def size(original, inner):
        return original(inner.replace("\\\\", "\\").replace('\\"', '"'))


@fault("SBPL-NAME-04", "the limit ignores the anchors of a pattern", "measured between them")
def limit_between_the_anchors():
    @replaces(filters)
    def size(original, inner):
        return original(inner) - (inner.startswith("^") + inner.endswith("$"))


@fault("SBPL-NAME-05", "bytes that are not UTF-8 are replaced", "errors=replace")
def not_utf8_is_replaced():
    @replaces(places)
    def decode(original, data, pointer):
        return data.decode("utf-8", "replace")


def tidied(change):
    @replaces(places)
    def tidy(original, path):
        return change(path, original(path))


@fault("SBPL-NAME-06", "a trailing slash is kept", "the path as it is")
def trailing_slash_stays():
    """Keep a trailing slash, which is then doubled when paths are joined."""
    tidied(lambda path, right: right + "/" if path.endswith("/") and right != "/" else right)
    clauses.below = filters.below = lambda path: "/" if path == "/" else path + "/"


@fault("SBPL-NAME-06", "doubled slashes are kept", "only the end is cleaned")
def doubled_slashes_stay():
    tidied(lambda path, right: path.rstrip("/") or "/")


@fault("SBPL-NAME-06", "side roots are not normalised", "cleaned in one place of two")
def side_roots_are_not_cleaned():
    @replaces(ops)
    def place(original, data, pointer):
        right = original(data, pointer)
        return data.decode() if pointer.startswith("/side_roots") else right


@fault("SBPL-NAME-07", "a relative path is resolved from `/`", "a slash put in front")
def relative_is_below_the_root():
    @replaces(places)
    def refuse_relative(original, path, pointer):
        pass


@fault("SBPL-NAME-07", "`~` is expanded", "expanduser")
def home_is_expanded():
    @replaces(places)
    def decode(original, data, pointer):
        path = original(data, pointer)
        return "/Users/u" + path[1:] if path.startswith("~") else path


@fault("SBPL-NAME-07", "`.` and `..` are accepted as names", "not looked at")
def dots_are_names():
    @replaces(places)
    def refuse_dots(original, path, pointer):
        pass


@fault("SBPL-NAME-07", "the refusal does not say which path", "one message for all")
def refused_path_is_not_named():
    @replaces(ops)
    def place(original, data, pointer):
        try:
            return original(data, pointer)
        except Failed as failure:
            if "absolute" not in failure.message and "segments" not in failure.message:
                raise
            raise Failed("invalid_input", "a path must be absolute and canonical") from None


@fault("SBPL-NAME-08", "the alias /etc is accepted", "only places to write are checked")
def etc_is_forgotten():
    places.ALIASES = ("/tmp", "/var")


@fault("SBPL-NAME-08", "paths below an alias are accepted", "compared whole")
def below_an_alias_is_taken():
    @replaces(places)
    def refuse_alias(original, path, pointer):
        if path in places.ALIASES:
            original(path, pointer)


@fault("SBPL-NAME-08", "/tmpfile is below /tmp", "a prefix without a boundary")
def alias_without_boundary():
    @replaces(places)
    def lies_in(original, path, directory):
        return (
            path.startswith(directory) if directory in places.ALIASES else original(path, directory)
        )


@fault("SBPL-NAME-08", "the refusal does not name the real path of an alias", "a puzzle")
def other_spelling_is_not_said():
    @replaces(places)
    def refuse_alias(original, path, pointer):
        try:
            original(path, pointer)
        except Failed:
            raise Failed("invalid_input", f"{path} cannot be used") from None


@fault("SBPL-NAME-08", "an alias is resolved instead of refused", "helpful")
def aliases_are_resolved():
    @replaces(places)
    def tidy(original, path):
        right = original(path)
        is_alias = any(places.lies_in(right, alias) for alias in places.ALIASES)
        return f"/private{right}" if is_alias else right


@fault("SBPL-NAME-03", "a rule that produces no clause is not checked", "checked when written")
def silent_rules_are_not_looked_at():
    @replaces(refusals)
    def refuse_controls_of_rules(original, given):
        pass


@fault("SBPL-NAME-08", "aliases are looked for before slashes are normalised", "too early")
def aliases_are_looked_for_too_early():
    given_as = {}

    @replaces(places)
    def tidy(original, path):
        clean = original(path)
        given_as[clean] = path
        return clean

    @replaces(places)
    def refuse_alias(original, path, pointer):
        original(given_as.get(path, path), pointer)


@fault("SBPL-NAME-07", "a variable of blanks counts as not set", "a trimmed value")
def blanks_count_as_not_set():
    @replaces(ops)
    def is_set(original, value):
        return original(value.strip())

"""Faults of kinds that occur in any engine, by the table of the contract."""

import os

import policy.glob as glob
import policy.load as load
from faults.registry import fault, replaces


def placeholder(mark, wildcard):
    """Read a character of a glob as the wildcard that it stands for inside the matcher."""

    @replaces(glob)
    def piece_at(original, body, i):
        return (wildcard, 1) if body[i] == mark else original(body, i)


def rewritten(change):
    """Change the text of a glob before it is compiled, as a simplification would."""

    @replaces(glob)
    def pieces(original, body):
        return original(change(body))


def not_taken_by_one(characters):
    @replaces(glob)
    def one(original, places, text, piece):
        for c in characters:
            places &= ~text.where(c)
        return original(places, text, piece)

    glob.STEPS[glob.ONE] = glob.one


# Kind C12 of contracts/kinds-policy.yaml: edges of paths and files


@fault("POLICY-GLOB-01", "U+001F stands for a star inside the matcher", "a separator of fields")
def separator_as_a_placeholder():
    placeholder("\x1f", glob.STAR)


@fault("POLICY-GLOB-01", "U+FFFF stands for a question mark inside the matcher", "a noncharacter")
def noncharacter_as_a_placeholder():
    placeholder("\uffff", glob.ONE)


# Kind C17 of contracts/kinds-policy.yaml: depth and number


@fault(
    "POLICY-GLOB-11", "segments of a glob after the 64th are ignored", "a fixed array of segments"
)
def segments_after_the_64th():
    def shortened(body):
        names = body.split("/")
        return body if len(names) <= 64 else "/".join([*names[:64], "**"])

    rewritten(shortened)


@fault("POLICY-GLOB-11", "wildcards after the 16th are plain characters", "a fixed array of stars")
def wildcards_after_the_16th():
    @replaces(glob)
    def pieces(original, body):
        found, count = [], 0
        for piece in original(body):
            count += piece in glob.STEPS
            found.append("*" if piece == glob.STAR and count > 16 else piece)
        return found


# Kind C21 of contracts/kinds-policy.yaml: patterns that are equal, or almost


@fault("POLICY-GLOB-11", "`P/**/*` is simplified to `P/**`", "all below, they say")
def below_and_a_star_is_below():
    rewritten(lambda body: body[:-2] if body.endswith("/**/*") else body)


@fault("POLICY-GLOB-06", "`**/*/P` is simplified to `**/P`", "any folders are any folders")
def any_folder_before_is_none():
    rewritten(lambda body: body.replace("**/*/", "**/", 1) if body.startswith("**/*/") else body)


@fault("POLICY-GLOB-10", "`*/**` is simplified to `**`", "everything")
def star_and_below_is_all():
    rewritten(lambda body: "**" if body == "*/**" else body)


@fault("POLICY-GLOB-10", "`**/*` is simplified to `**`", "everything has a name")
def below_of_all_is_all():
    rewritten(lambda body: "**" if body == "**/*" else body)


@fault("POLICY-GLOB-08", "`P**` is simplified to `P*/**`", "two stars cross slashes")
def stars_in_a_name_are_below():
    rewritten(
        lambda body: (
            body[:-2] + "/**"
            if body.endswith("**") and not body.endswith("/**") and body != "**"
            else body
        )
    )


@fault("POLICY-GLOB-11", "`?*` is simplified to `*`", "a star is anything")
def one_and_a_star_is_a_star():
    rewritten(lambda body: body.replace("?*", "*") if "?**" not in body else body)


@fault("POLICY-GLOB-11", "`*?` is simplified to `*`", "a star is anything")
def star_and_one_is_a_star():
    rewritten(lambda body: body.replace("*?", "*") if "**?" not in body else body)


@fault("POLICY-GLOB-06", "`**/**/P` needs a folder", "each `**/` is one level at least")
def two_double_stars_need_a_folder():
    @replaces(glob)
    def piece_at(original, body, i):
        piece, length = original(body, i)
        return (
            (glob.STAR, 1)
            if body[i : i + 3] == "**/" and body[:i].endswith("**/")
            else (piece, length)
        )


@fault("POLICY-GLOB-05", "`?` does not match a blank", "names of identifiers")
def question_mark_takes_no_blank():
    not_taken_by_one(" ")


@fault("POLICY-GLOB-05", "`?` does not match a star or a question mark", "they are wildcards")
def question_mark_takes_no_wildcard():
    not_taken_by_one("*?")


@fault("POLICY-GLOB-05", "`?` does not match an exclamation mark", "a sign")
def question_mark_takes_no_sign():
    not_taken_by_one("!")


@fault("POLICY-GLOB-05", "`?` does not match a control character", "isprint")
def question_mark_takes_no_control():
    not_taken_by_one([chr(code) for code in (*range(1, 32), 127)])


@fault("POLICY-GLOB-01", "braces are alternatives if one of them has a slash", "trees of ignores")
def braces_of_paths_are_alternatives():
    @replaces(glob.Glob)
    def __init__(original, self, body, fold=False):
        before, _, rest = body.partition("{")
        inside, closed, after = rest.partition("}")
        self.choices = []
        if closed and "," in inside and "/" in inside:
            self.choices = [glob.Glob(before + each + after, fold) for each in inside.split(",")]
        original(self, body, fold)

    @replaces(glob.Glob)
    def matches(original, self, text):
        return original(self, text) or any(each.matches(text) for each in self.choices)


@fault("POLICY-GLOB-01", "braces without a comma are dropped", "one alternative")
def braces_of_one_word_are_dropped():
    def change(body):
        before, _, rest = body.partition("{")
        inside, closed, after = rest.partition("}")
        single = closed and not {",", "{"} & {*inside}
        return before + inside + after if single else body

    rewritten(change)


def change_rules(change):
    """Change the text of each rule of a file."""

    @replaces(load)
    def split_rule(original, text):
        return original(change(text))


@fault("POLICY-GLOB-01", "`${NAME}` in a rule is a variable", "string.Template")
def variables_in_braces_are_expanded():
    def change(body):
        before, opened, rest = body.partition("${")
        name, closed, after = rest.partition("}")
        return before + os.environ.get(name, "") + after if opened and closed else body

    change_rules(change)


@fault("POLICY-GLOB-01", "`%NAME%` in a rule is a variable", "names of Windows")
def variables_between_percent_signs_are_expanded():
    def change(body):
        before, *rest = body.split("%", 2)
        return before + os.environ.get(rest[0], rest[0]) + rest[1] if len(rest) == 2 else body

    change_rules(change)

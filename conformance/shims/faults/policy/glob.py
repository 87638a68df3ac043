"""Faults of globs."""

import importlib.util
import unicodedata

import policy.decide as decide
import policy.glob as glob
import policy.judge as judge
from faults.registry import fault, replaces
from policy.glob import ANY_NAME, ANYTHING, BELOW, ONE, SEGMENTS, STAR, STEPS

WILD = ("*", "?")


def keep_policies_right():
    """Give policies a correct copy of the glob module, so that these faults change only
    glob.match."""
    spec = importlib.util.find_spec("policy.glob")
    assert spec is not None and spec.loader is not None
    decide.glob = judge.glob = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(decide.glob)


keep_policies_right()


def step(kind):
    """Replace one step of the walk."""

    def install(function):
        right = STEPS[kind]
        STEPS[kind] = lambda places, text, piece: function(right, places, text)
        return function

    return install


@fault("POLICY-GLOB-01", "brackets are a class of characters", "fnmatch, gitignore")
def brackets_are_a_class():
    @replaces(glob)
    def piece_at(original, body, i):
        end = body.find("]", i + 2)
        if body[i] == "[" and end > 0:
            STEPS[body[i : end + 1]] = one_of(body[i + 1 : end])
            return body[i : end + 1], end + 1 - i
        return original(body, i)

    def one_of(characters):
        def among(places, text, _):
            return sum(
                1 << i + 1 for i, c in enumerate(text.text) if c in characters and places >> i & 1
            )

        return among


@fault("POLICY-GLOB-01", "braces are alternatives", "bash, minimatch")
def braces_are_alternatives():
    @replaces(glob.Glob)
    def __init__(original, self, body, fold=False):
        before, opened, rest = body.partition("{")
        inside, closed, after = rest.partition("}")
        self.choices = []
        if opened and closed and "," in inside and "{" not in after:
            self.choices = [glob.Glob(before + each + after, fold) for each in inside.split(",")]
        original(self, body, fold)

    @replaces(glob.Glob)
    def matches(original, self, text):
        if self.choices:
            return any(each.matches(text) for each in self.choices)
        return original(self, text)


@fault("POLICY-GLOB-03", "a wildcard does not match a newline", "`.` of regular expressions")
def newline_is_not_matched():
    @replaces(glob.Text)
    def __init__(original, self, path, fold=False):
        original(self, path, fold)
        self.names &= ~self.where("\n")


@fault("POLICY-GLOB-01", "a dot matches any character", "a glob turned into a regular expression")
def dot_is_any_character():
    @replaces(glob)
    def literal(original, places, text, character):
        return (
            glob.one(places, text, ONE) if character == "." else original(places, text, character)
        )

    @replaces(glob)
    def leading(original, found):
        for piece in original(found):
            if piece == ".":
                return
            yield piece


@fault("POLICY-GLOB-02", "a wildcard does not match a leading dot", "shells")
def dotfiles_are_hidden():
    def wrap(kind):
        @step(kind)
        def hidden(right, places, text):
            starts = text.slashes << 1 | 1
            dots = starts & text.where(".")
            return right(places & ~dots, text, kind) | (places & dots if kind == STAR else 0)

    for kind in (STAR, ANY_NAME, ONE):
        wrap(kind)


@fault("POLICY-GLOB-02", "a glob without a slash matches at any depth", "gitignore")
def matches_at_any_depth():
    @replaces(glob.Glob)
    def __init__(original, self, body, fold=False):
        free = "/" not in body and "**" not in body and body not in (".", "*")
        original(self, "**/" + body if free else body, fold)


@fault(
    "POLICY-GLOB-02", "a glob may match only the beginning of a path", "search in place of match"
)
def not_anchored_at_the_end():
    @replaces(glob.Glob)
    def __init__(original, self, body, fold=False):
        original(self, body, fold)
        self.wild = any(c in body for c in WILD) and not body.endswith("*")

    @replaces(glob.Glob)
    def matches(original, self, text):
        if self.wild:
            text.end = text.places
        return original(self, text)


@fault("POLICY-GLOB-03", "a star crosses a slash", "fnmatch without FNM_PATHNAME")
def star_crosses_slash():
    STEPS[STAR] = STEPS[ANYTHING]
    STEPS[ANY_NAME] = lambda places, text, _: STEPS[ANYTHING](places << 1 & text.places, text, STAR)


@fault("POLICY-GLOB-03", "a star needs a character", "`[^/]+`")
def star_needs_a_character():
    STEPS[STAR] = STEPS[ANY_NAME]


@fault("POLICY-GLOB-10", "a single star matches the empty name", "`[^/]*`")
def lone_star_matches_nothing():
    STEPS[ANY_NAME] = STEPS[STAR]


@fault("POLICY-GLOB-04", "a segment `*` may be missing together with its slash", "`([^/]+/)?`")
def star_segments_are_optional():
    or_without(lambda pieces, i: pieces[i : i + 2] == [ANY_NAME, "/"])


@fault("POLICY-GLOB-04", "`P/*` matches P itself", "as `P/**` does")
def last_star_segment_is_optional():
    or_without(lambda pieces, i: pieces[i:] == ["/", ANY_NAME])


def or_without(optional):
    """Where `optional` is true for the two pieces from i on, also match without them."""

    @replaces(glob.Glob)
    def matches(original, self, text):
        found = self.pieces
        for i in range(len(found) - 1):
            if optional(found, i):
                other = glob.Glob("")
                other.pieces = other.rest = found[:i] + found[i + 2 :]
                if original(other, text):
                    return True
        return original(self, text)


@fault("POLICY-GLOB-05", "a question mark matches one byte, not one character", "byte-wise engines")
def question_mark_is_a_byte():
    @step(ONE)
    def one(right, places, text):
        ascii_only = sum(1 << i for i, c in enumerate(text.text) if c.isascii())
        return right(places & ascii_only, text, ONE)


@fault("POLICY-GLOB-05", "a question mark matches a slash", "fnmatch without FNM_PATHNAME")
def question_mark_matches_a_slash():
    STEPS[ONE] = lambda places, text, _: places << 1 & text.places


@fault("POLICY-GLOB-05", "a question mark may match no character", "regular expressions")
def question_mark_is_optional():
    @step(ONE)
    def one(right, places, text):
        return places | right(places, text, ONE)


@fault("POLICY-GLOB-06", "`**/` needs at least one segment", "`.*/`")
def double_star_needs_a_segment():
    @step(SEGMENTS)
    def whole_segments(right, places, text):
        return right(places, text, SEGMENTS) & ~glob.lowest(places)


@fault("POLICY-GLOB-06", "`**/` matches at most one segment", "`*/` made optional")
def double_star_is_one_segment():
    @step(SEGMENTS)
    def whole_segments(right, places, text):
        if places == 1:
            return right(places, text, SEGMENTS)
        reached = glob.star(places, text, STAR)
        return places | (reached & text.slashes) << 1


@fault("POLICY-GLOB-06", "`**/` may end within a name", "`.*`")
def double_star_ends_within_a_name():
    STEPS[SEGMENTS] = STEPS[ANYTHING]


@fault("POLICY-GLOB-07", "`P/**` does not match P", "gitignore, minimatch")
def below_misses_the_place():
    @step(BELOW)
    def below(right, places, text):
        return right(places & ~text.end, text, BELOW)


@fault("POLICY-GLOB-07", "wildcards in P of `P/**` are compared as plain letters", "starts_with")
def place_is_a_prefix_of_letters():
    @replaces(glob.Glob)
    def __init__(original, self, body, fold=False):
        original(self, body, fold)
        below = body.endswith("/**") and len(body) > 3 and not fold
        self.place = body[:-3] if below else None

    @replaces(glob.Glob)
    def matches(original, self, text):
        if self.place is None:
            return original(self, text)
        return text.text == self.place or text.text.startswith(self.place + "/")


@fault(
    "POLICY-GLOB-07", "`P/**` matches every path that begins with P", "a prefix without boundary"
)
def below_without_boundary():
    @step(BELOW)
    def below(right, places, text):
        return text.places & -glob.lowest(places)


@fault("POLICY-GLOB-07", "`P/**` matches only one level below P", "`P/*`")
def below_is_one_level():
    @step(BELOW)
    def below(right, places, text):
        reached = glob.any_name((places & text.slashes) << 1, text, STAR)
        return places & text.end | reached


@fault(
    "POLICY-GLOB-08",
    "two stars within a name do not cross slashes",
    "git: `**` between slashes only",
)
def double_star_in_a_name_is_one():
    STEPS[ANYTHING] = lambda places, text, _: (
        glob.anything(places, text, ANYTHING) if places == 1 else glob.star(places, text, STAR)
    )


@fault("POLICY-GLOB-08", "two stars within a name need a character", "`.+`")
def double_star_needs_a_character():
    @step(ANYTHING)
    def anything(right, places, text):
        return right(places, text, ANYTHING) & (-1 if places == 1 else ~glob.lowest(places))


@fault("POLICY-GLOB-08", "two stars stop at U+2028", "a dot of JavaScript")
def stars_stop_at_line_separators():
    @replaces(glob.Glob)
    def matches(original, self, text):
        stops = ANYTHING in self.pieces and "\u2028" in text.text
        return original(self, text) and not stops


@fault("POLICY-GLOB-09", "three stars are read as two stars and one star", "collapsing nothing")
def three_stars_are_two_and_one():
    import policy.ops as ops

    @replaces(ops)
    def normal_body(original, text):
        found = original(text)
        return text if "***" in text else found


@fault("POLICY-GLOB-09", "a run of stars is shortened twice and no more", "replace without a loop")
def long_runs_of_stars_stay_long():
    import policy.spelling as spelling

    @replaces(spelling)
    def shorten_stars(original, text):
        return text.replace("***", "**").replace("***", "**")


@fault("POLICY-GLOB-10", "the root is matched as the name `.`", "no empty path")
def root_is_a_name():
    @replaces(glob.Text)
    def __init__(original, self, path, fold=False):
        original(self, path, fold)
        if path == ".":
            original(self, "./", fold)
            self.text, self.end, self.places, self.slashes, self.names = ".", 2, 3, 0, 1

    @replaces(glob)
    def pieces(original, body):
        return ["."] if body == "." else original(body)


@fault("POLICY-GLOB-10", "`**` does not match the root", "`.+`")
def everything_but_the_root():
    @replaces(glob.Glob)
    def matches(original, self, text):
        return original(self, text) and (text.text != "" or self.pieces == [])


@fault("POLICY-GLOB-11", "a star ends at the first position that fits", "no backtracking")
def takes_the_first_place():
    prune(glob.lowest)


@fault("POLICY-GLOB-11", "a star ends at the last position that fits", "greedy, no backtracking")
def takes_the_last_place():
    prune(lambda places: 1 << places.bit_length() - 1)


def prune(choose):
    @replaces(glob.Glob)
    def matches(original, self, text):
        if not text.text.startswith(self.lead):
            return False
        places = 1 << len(self.lead)
        before = None
        for piece in self.rest:
            places = STEPS.get(piece, glob.literal)(places, text, piece)
            if not places:
                return False
            if before in (STAR, ANY_NAME) and piece not in STEPS:
                places = choose(places)
            before = piece
        return bool(places & text.end)


@fault("POLICY-GLOB-11", "two stars stop at the first segment that fits", "no backtracking")
def takes_the_first_segment():
    @replaces(glob.Glob)
    def matches(original, self, text):
        if SEGMENTS not in self.rest:
            return original(self, text)
        places = 1 << len(self.lead)
        if not text.text.startswith(self.lead):
            return False
        after = False
        for piece in self.rest:
            places = STEPS.get(piece, glob.literal)(places, text, piece)
            if after and piece == "/":
                places = glob.lowest(places)
                after = False
            after = after or piece == SEGMENTS
            if not places:
                return False
        return bool(places & text.end)


@fault(
    "POLICY-GLOB-12", "letters are compared without case although fold is off", "NTFS, APFS habits"
)
def case_is_always_folded():
    spelled(str.lower)


@fault("POLICY-GLOB-12", "names are compared in NFC although fold is off", "APFS habits")
def normalised_without_being_asked():
    spelled(lambda text: unicodedata.normalize("NFC", text))


def spelled(change):
    for owner in (glob.Glob, glob.Text):

        @replaces(owner)
        def __init__(original, self, text, fold=False):
            original(self, text if fold else change(text), fold)

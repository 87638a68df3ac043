"""Faults in the filter of a rule."""

import policy.glob as glob
import sbpl.filters as filters
from faults.registry import fault, replaces
from faults.sbpl.parts import Now, asks_every_kind, asks_one_rule


def written_as(change):
    """Change the expressions for characters in a rule, but not in the root."""

    @replaces(filters.Filters)
    def written(original, self, run, denied):
        found = original(self, run, denied)
        if filters.is_wildcard(run) or not asks_one_rule(Now.given):
            return found
        return change(found)


def unescaped(*characters):
    """Leave these characters unescaped, so that they keep their special meaning in the
    expression."""

    def change(found):
        for character in characters:
            found = found.replace("\\" + character, character)
        return found

    written_as(change)


@fault("SBPL-FILTER-01", "a dot matches any character", "not escaped")
def dot_is_any_character():
    unescaped(".")


@fault("SBPL-FILTER-01", "a plus is an operator of the expression", "not escaped")
def plus_repeats():
    unescaped("+")


@fault("SBPL-FILTER-01", "brackets are a class of characters", "not escaped")
def brackets_are_a_class():
    unescaped("[")


@fault("SBPL-FILTER-01", "parentheses are operators of the expression", "not escaped")
def parentheses_group():
    unescaped("(", ")")


@fault("SBPL-FILTER-01", "a dollar matches the end", "not escaped")
def dollar_is_the_end():
    unescaped("$")


def instead(piece, wrong, only=lambda found, denied: True):
    """Replace the expression for a wildcard, in rules for which `only` is true."""

    @replaces(filters.Filters)
    def expression(original, self, found, denied):
        if not (asks_one_rule(Now.given) and only(found, denied)):
            return original(self, found, denied)
        right = filters.EXPRESSIONS[piece]
        filters.EXPRESSIONS[piece] = wrong
        try:
            return original(self, found, denied)
        finally:
            filters.EXPRESSIONS[piece] = right


def in_denies(found, denied):
    return denied


@fault("SBPL-FILTER-02", "a star crosses slashes", "`.*` for every star")
def star_crosses_slashes():
    instead(glob.STAR, ".*")


@fault("SBPL-FILTER-02", "a segment `*` matches an empty name", "`[^/]*` for every star")
def whole_segment_may_be_empty():
    instead(glob.ANY_NAME, "[^/]*")


@fault("SBPL-FILTER-02", "a star needs a character", "`[^/]+` for every star")
def star_needs_a_character():
    instead(glob.STAR, "[^/]+")


@fault("SBPL-FILTER-03", "`**/` needs at least one segment", "`.*/`")
def two_stars_need_a_segment():
    instead(glob.SEGMENTS, ".*/", lambda found, denied: found[0] == glob.SEGMENTS)


@fault("SBPL-FILTER-03", "`**/` matches at most one segment", "`([^/]*/)?`")
def two_stars_are_one_segment():
    instead(glob.SEGMENTS, "([^/]*/)?", in_denies)


@fault("SBPL-FILTER-03", "`**/` may end within a name", "`.*`")
def two_stars_end_in_a_name():
    instead(glob.SEGMENTS, ".*", in_denies)


@fault("SBPL-FILTER-03", "two stars in a name do not cross slashes", "a star twice")
def two_stars_stay_in_a_segment():
    instead(glob.ANYTHING, "[^/]*")


@fault("SBPL-FILTER-04", "`P/**` does not match P if P has wildcards", "`/.*`")
def below_is_not_itself():
    instead(glob.BELOW, "/.*")


@fault("SBPL-FILTER-04", "`P/**` also matches names that begin like P", "`.*`")
def below_without_boundary():
    instead(glob.BELOW, ".*")


@fault("SBPL-FILTER-05", "`?` is always written as `[^/]`", "whether of bytes or not")
def question_mark_is_not_a_slash():
    asks(lambda denied: "[^/]")


@fault("SBPL-FILTER-05", "`?` in a deny matches only ASCII", "the allow's expression")
def denied_question_mark_is_ascii():
    asks(lambda denied: filters.ONE_ALLOWED)


@fault("SBPL-FILTER-05", "`?` in an allow matches up to four bytes", "the deny's expression")
def allowed_question_mark_is_four_bytes():
    asks(lambda denied: filters.ONE_DENIED)


@fault("SBPL-FILTER-05", "`?` matches a slash", "a dot")
def question_mark_is_any():
    asks(lambda denied: ".")


def asks(expression):
    @replaces(filters)
    def one(original, denied, fold):
        return original(denied, fold) if fold else expression(denied)


def root_written(change):
    """Change the text of the root in the regular expressions of rules."""

    @replaces(filters.Filters)
    def expression(original, self, found, denied):
        right = original(self, found, denied)
        if Now.given.provider:
            return right
        return right.replace(filters.literally(self.root), change(self.root), 1)


@fault(
    "SBPL-FILTER-06", "special characters of the root are not escaped", "project[1] is a class: srt"
)
def root_is_a_pattern():
    root_written(lambda root: root)


@fault("SBPL-FILTER-06", "a dot in the root matches any character", "escaped only in rules")
def dot_of_the_root_is_any():
    root_written(lambda root: filters.literally(root).replace("\\.", "."))


@fault("SBPL-FILTER-06", "wildcards in the root are translated", "joined, then translated")
def root_is_a_glob():
    def globbed(root):
        found = filters.literally(root)
        return found.replace("\\*", "[^/]*").replace("\\?", "[^/]")

    root_written(globbed)


@fault("SBPL-FILTER-07", "expressions are not anchored at the end", "a search for the start")
def not_anchored_at_the_end():
    odd(lambda expression: f"^{expression}")


@fault("SBPL-FILTER-07", "expressions are not anchored at the start", "a search for the end")
def not_anchored_at_the_start():
    odd(lambda expression: f"{expression}$")


@fault("SBPL-FILTER-07", "stars are written as lazy operators", "lazy, another engine")
def lazy_stars():
    odd(lambda expression: f"^{expression.replace(']*', ']*?').replace('.*', '.*?')}$")


def odd(anchor):
    @replaces(filters.Filters)
    def pattern(original, self, found, denied, pointer):
        if not asks_every_kind(Now.given):
            return original(self, found, denied, pointer)
        return filters.regex(anchor(self.expression(found, denied)), pointer)

"""Faults of side roots."""

import sbpl.clauses as clauses
import sbpl.filters as filters
import sbpl.refusals as refusals
from errors import Failed
from faults.registry import changed, fault, replaces
from faults.sbpl.parts import moved, regex, replaces_part, spelled_as_given
from sbpl.places import lies_in


def each_side(make):
    """Replace the lines of the side roots if there are at least two.

    Requests with a single side root are about its name, which other tests check.
    """

    @replaces_part("side_roots")
    def side_roots(lines, given):
        if given.provider != "codex" or len(given.side_roots) < 2:
            return lines
        return [line for place in given.side_roots for line in make(place)]


@fault("SBPL-SIDE-01", "side roots are written before the denies", "all allows together")
def side_roots_before_the_deny():
    moved("side_roots", "modify")


@fault("SBPL-SIDE-01", "side roots are written before the deny of the root", "next to the state")
def side_roots_before_the_guard():
    moved("side_roots", "guard")


@fault("SBPL-SIDE-01", "a side root is writable, but nothing below it", "literal for subpath")
def side_root_alone():
    each_side(lambda place: [f"(allow file-write* {filters.literal(place, '/side_roots')})"])


@fault("SBPL-SIDE-01", "only the first side root is allowed", "the flag is taken once")
def first_side_root_only():
    @replaces_part("side_roots")
    def side_roots(lines, given):
        return lines[:1]


@fault("SBPL-SIDE-02", "side roots are allowed for every provider", "the branch left out")
def side_roots_for_all():
    for_more((None, "claude", "gemini"))


@fault("SBPL-SIDE-02", "side roots are allowed for gemini", "a provider with a similar flag")
def side_roots_for_gemini():
    for_more(("gemini",))


@fault("SBPL-SIDE-02", "without a provider side roots are allowed", "unknown means all")
def side_roots_for_none():
    for_more((None,))


def for_more(providers):
    @replaces_part("side_roots")
    def side_roots(lines, given):
        if given.provider not in providers:
            return lines
        return [clauses.allow_below(place, "/side_roots") for place in given.side_roots]


@fault("SBPL-SIDE-03", "a side root also opens names that begin like it", "no boundary")
def side_root_without_boundary():
    each_side(lambda place: [f"(allow file-write* {regex(filters.literally(place) + '.*')})"])


@fault("SBPL-SIDE-03", "the directory above a side root is writable", "for files next to it")
def directory_of_a_side_root():
    each_side(lambda place: [clauses.allow_below(place.rpartition("/")[0] or "/", "/side_roots")])


@fault("SBPL-SIDE-03", "a side root makes its files readable", "writable means readable")
def side_root_is_readable():
    each_side(
        lambda place: [
            clauses.allow_below(place, "/side_roots"),
            clauses.clause("+", "file-read*", filters.subpath(place, "/side_roots")),
        ]
    )


def meets(judge):
    @replaces(refusals)
    def overlap(original, side, place):
        return judge(side, place)


@fault(
    "SBPL-SIDE-04", "a side root that overlaps a denied path is accepted", "no look at the rules"
)
def any_side_root_is_taken():
    meets(lambda side, place: False)


@fault(
    "SBPL-SIDE-04", "a side root above a denied path is accepted", "only paths inside are checked"
)
def side_root_above_is_taken():
    meets(lambda side, place: refusals.lies_in(side, place))


@fault(
    "SBPL-SIDE-04", "a side root below a denied path is accepted", "only paths above are checked"
)
def side_root_below_is_taken():
    meets(lambda side, place: refusals.lies_in(place, side))


@fault("SBPL-SIDE-04", "a side root next to a denied path is refused", "no boundary")
def side_root_beside_is_refused():
    meets(lambda side, place: side.startswith(place) or place.startswith(side))


@fault(
    "SBPL-SIDE-04",
    "a deny of the root itself is not compared with side roots",
    "no segments, no place",
)
def denied_root_has_no_place():
    @replaces(refusals)
    def denied_places(original, given):
        return [(rule, place) for rule, place in original(given) if rule != "."]


@fault(
    "SBPL-SIDE-04", "the refusal names neither the side root nor the rule", "one message for all"
)
def refused_side_root_is_not_named():
    @replaces(refusals)
    def refuse_side_roots(original, given):
        try:
            original(given)
        except Failed:
            raise Failed("invalid_input", "a directory cannot be used") from None


@fault("SBPL-SIDE-04", "with fold a side root is compared without folding", "bytes are bytes")
def side_root_is_compared_as_spelled():
    @replaces(refusals)
    def refuse_side_roots(original, given):
        fold, given.fold = given.fold, False
        original(given)
        given.fold = fold


@fault("SBPL-SIDE-04", "a question mark is no wildcard where a rule's place is looked for", "stars")
def question_mark_is_a_name():
    @replaces(refusals)
    def plain_names(original, body):
        return [name.replace("\0", "?") for name in original(body.replace("?", "\0"))]


@fault("SBPL-SIDE-04", "with `/` as the root, side roots are not compared", "joined by a slash")
def places_have_two_slashes():
    @replaces(refusals)
    def denied_places(original, given):
        extra = "/" if given.root == "/" else ""
        return [(rule, place if rule == "." else extra + place) for rule, place in original(given)]


def begins(path, directory):
    return path.startswith(f"{directory}/")


@fault("SBPL-SIDE-04", "`/` as a side root counts as containing no path", "a slash is appended")
def root_of_the_system_holds_nothing():
    meets(lambda side, place: side == place or begins(side, place) or begins(place, side))


@fault("SBPL-SIDE-04", "a side root is compared before its slashes are normalised", "too early")
def side_root_is_compared_too_early():
    given_as = spelled_as_given()

    @replaces(refusals)
    def refuse_side_roots(original, given):
        names = [given_as[f"/side_roots/{i}"] for i in range(len(given.side_roots))]
        with changed(given, side_roots=names):
            original(given)


@fault("SBPL-SIDE-01", "side roots after the 64th are left out", "a fixed list")
def late_side_roots_are_left_out():
    @replaces_part("side_roots")
    def side_roots(lines, given):
        return lines[:64]


@fault("SBPL-SIDE-04", "side roots are compared in small letters, not folded", "str.lower")
def side_roots_are_compared_in_small_letters():
    @replaces(refusals)
    def refuse_side_roots(original, given):
        folded = refusals.compared_form
        refusals.compared_form = lambda path, fold: path.lower() if fold else path
        original(given)
        refusals.compared_form = folded


@fault("SBPL-SIDE-02", "side roots of every provider are compared with rules", "no look at it")
def side_roots_are_always_compared():
    @replaces(refusals)
    def refuse_side_roots(original, given):
        with changed(given, provider="codex"):
            original(given)


@fault("SBPL-SIDE-04", "only the first side root is compared", "side_roots[0]")
def only_the_first_is_compared():
    @replaces(refusals)
    def refuse_side_roots(original, given):
        with changed(given, side_roots=given.side_roots[:1]):
            original(given)


@fault("SBPL-SIDE-04", "a deny that a later rule repeats as an allow is left out", "a map by text")
def rules_that_are_allowed_again_are_not_compared():
    @replaces(refusals)
    def denied_places(original, given):
        allowed = {entry.rule.body for entry in given.read if entry.sign == "+"}
        return [each for each in original(given) if each[0] not in allowed]


@fault("SBPL-SIDE-01", "the side root / becomes an empty text", "a slash at the end is cut off")
def the_whole_disk_is_nothing():
    @replaces_part("side_roots")
    def side_roots(lines, given):
        return [line for line in lines if '"/"' not in line]


@fault("SBPL-SIDE-01", "a side root below scratch is left out", "it is writable already")
def side_roots_below_scratch_are_left_out():
    @replaces_part("side_roots")
    def side_roots(lines, given):
        for place, line in zip(given.side_roots, lines, strict=False):
            if not any(lies_in(place, scratch) for scratch in clauses.SCRATCH):
                yield line

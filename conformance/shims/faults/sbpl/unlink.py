"""Faults in the denies of renaming."""

import sbpl.clauses as clauses
import sbpl.filters as filters
from faults.registry import fault, replaces
from faults.sbpl.parts import Now, last_of_each_without_case, moved, replaces_part


@fault("SBPL-UNLINK-01", "paths with a read deny can be renamed", "a read deny is about reading")
def nothing_is_guarded():
    @replaces_part("unlink")
    def unlink(lines, given):
        return lines if given.fold else []


@fault(
    "SBPL-UNLINK-01", "paths of the profile's negated read rules can be renamed", "denyRead only"
)
def own_negations_are_not_guarded():
    denied_by(lambda entry: entry.origin != "profile")


@fault(
    "SBPL-UNLINK-01",
    "paths of read denies with wildcards can be renamed",
    "the paths are not known",
)
def globs_are_not_guarded():
    denied_by(lambda entry: not filters.wild(entry.rule.body.removesuffix("/**")))


@fault(
    "SBPL-UNLINK-01", "the guards are written before the rules", "all denies of the frame together"
)
def guard_comes_before_the_rules():
    """Change the guards to denies of all writing. The place of a deny of renaming has no effect."""

    @replaces(clauses)
    def compile_text(original, given):
        lines = original(given).splitlines(keepends=True)
        guards = [line for line in lines if "(deny file-write-unlink" in line]
        if given.fold or given.provider or not guards:
            return "".join(lines)
        rest = [line for line in lines if line not in guards]
        at = rest.index(f'(deny file-write* (subpath "{given.root}"))\n') + 1
        early = [line.replace("file-write-unlink", "file-write*") for line in guards]
        return "".join([*rest[:at], *early, *rest[at:]])


@fault(
    "SBPL-UNLINK-01",
    "a path whose deny is lifted by a later equal rule is not guarded",
    "a set of denied rules",
)
def given_back_is_not_guarded():
    @replaces(clauses)
    def read_denied(original, given):
        allowed = {entry.rule.body for entry in given.read if entry.sign == "+"}
        return [entry for entry in original(given) if entry.rule.body not in allowed]


def denied_by(judge):
    """Replace the choice of the rules that are protected.

    The note about the others, which cannot be protected, stays.
    """

    @replaces(clauses)
    def unlink_filters(original, given, entry):
        return original(given, entry) if judge(entry) else []


@fault(
    "SBPL-UNLINK-02", "directories above a denied path can be renamed", "only the rule's own path"
)
def ancestors_are_not_guarded():
    ancestry(lambda found: [])


@fault("SBPL-UNLINK-02", "only the direct parent of a denied path is guarded", "dirname once")
def parent_alone_is_guarded():
    ancestry(lambda found: found[-1:])


@fault(
    "SBPL-UNLINK-02",
    "only the topmost directory above a denied path is guarded",
    "the first segment",
)
def topmost_alone_is_guarded():
    ancestry(lambda found: found[:1])


@fault("SBPL-UNLINK-02", "only sixteen directories above are guarded", "a list of fixed length")
def sixteen_ancestors():
    ancestry(lambda found: found[:16])


def ancestry(change):
    @replaces(clauses)
    def ancestors(original, body):
        found = original(body)
        return found if Now.given.fold else change(found)


@fault(
    "SBPL-UNLINK-03", "everything below a guarded directory is guarded too", "subpath for literal"
)
def guards_all_below():
    @replaces(filters.Filters)
    def ancestor(original, self, names, pointer):
        right = original(self, names, pointer)
        return right if self.fold else filters.subpath(self.path("/".join(names)), pointer)


@fault("SBPL-UNLINK-03", "with a read deny nothing can be removed", "an unfiltered clause")
def nothing_can_be_removed():
    @replaces_part("unlink")
    def unlink(lines, given):
        everything = clauses.clause("-", "file-write-unlink", filters.subpath(given.root, "/"))
        return [everything] if lines and not given.fold else lines


@fault("SBPL-UNLINK-03", "a modify deny guards the directories above", "the wrong list")
def modify_denies_are_guarded():
    @replaces(clauses)
    def read_denied(original, given):
        denied = [each for each in given.modify if each.sign == "-" and each.origin != "profile"]
        found = original(given)
        return found + denied if found else found


@fault("SBPL-UNLINK-04", "`unguarded` is always empty", "an empty list")
def no_note():
    @replaces(clauses)
    def unguarded(original, given):
        return []


@fault("SBPL-UNLINK-04", "every rule with a wildcard is reported as unguarded", "any star")
def note_of_all_wildcards():
    @replaces(clauses)
    def unguarded(original, given):
        bodies = [entry.rule.body for entry in clauses.read_denied(given)]
        return [body for body in bodies if filters.wild(body)]


@fault("SBPL-UNLINK-04", "allowing rules are reported as unguarded", "the sign is not checked")
def note_of_allowing_rules():
    @replaces(clauses)
    def unguarded(original, given):
        denied = [id(entry) for entry in clauses.read_denied(given)]
        since = clauses.from_first_deny(given.read)
        bodies = [each.rule.body for each in since if id(each) not in denied]
        return original(given) + [body for body in bodies if filters.wild(body.split("/")[0])]


@fault("SBPL-UNLINK-04", "the root is reported as unguarded", "no leading segment, no guard")
def note_of_the_root():
    @replaces(clauses)
    def unguarded(original, given):
        bodies = [entry.rule.body for entry in clauses.read_denied(given)]
        return original(given) + [body for body in bodies if body == "."]


@fault(
    "SBPL-UNLINK-01", "the guards are written before the side roots", "side roots are the last word"
)
def guard_comes_before_side_roots():
    moved("unlink", "side_roots")


@fault("SBPL-UNLINK-02", "with `/` as the root, guarded names begin with two slashes", "joined")
def ancestors_have_two_slashes():
    @replaces(filters.Filters)
    def ancestor(original, self, names, pointer):
        if self.root != "/" or self.fold:
            return original(self, names, pointer)
        return filters.literal(f"//{'/'.join(names)}", pointer)


@fault("SBPL-UNLINK-04", "rules with a question mark are not reported as unguarded", "stars")
def note_of_stars_alone():
    @replaces(clauses)
    def wild(original, name):
        return "*" in name


@fault("SBPL-UNLINK-01", "of paths that differ only in case one is guarded", "keys of a map")
def guards_are_keyed_without_case():
    @replaces_part("unlink")
    def unlink(lines, given):
        return lines if given.fold else last_of_each_without_case(lines, given)


@fault("SBPL-UNLINK-01", "only the last 128 guards are written", "a ring of lines")
def guards_are_cut():
    @replaces_part("unlink")
    def unlink(lines, given):
        return lines[-128:]

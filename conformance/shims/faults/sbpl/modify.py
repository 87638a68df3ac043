"""Faults in the modify rules below the root."""

import sbpl.clauses as clauses
import sbpl.filters as filters
import sbpl.ops as ops
from faults.registry import changed, fault, replaces
from faults.sbpl.parts import (
    denies_last,
    denies_of_many_last,
    drops_a_star_behind_stars,
    is_by_ending,
    is_one_path,
    is_spoken,
    last_of_each_without_case,
    modifies_alone,
    moved,
    places,
    regex,
    replaces_filter,
    replaces_part,
)


def modifies(change):
    @replaces_part("modify")
    def modify(lines, given):
        return change(lines, given) if modifies_alone(given) else lines


def own_and_denies(given):
    own = len(clauses.own_rules(given.modify))
    return own, len(given.modify) - own


def compiles_denies(most):
    """Leave out the global denies after the first `most`."""

    def change(lines, given):
        own, _ = own_and_denies(given)
        return lines[: own + most]

    modifies(change)


def of_many_own_rules(change):
    """Change lists of more than three own rules, because shorter lists test filters."""

    def of_own(lines, given):
        own, _ = own_and_denies(given)
        return change(lines[:own]) + lines[own:] if own > 3 else lines

    modifies(of_own)


@fault(
    "SBPL-MODIFY-01", "denies of a profile are written after its allows", "allow first, then deny"
)
def own_denies_come_last():
    of_many_own_rules(denies_last)


@fault("SBPL-MODIFY-01", "the first rule of the profile wins", "Seatbelt read as a firewall")
def first_own_rule_wins():
    of_many_own_rules(lambda lines: lines[::-1])


@fault("SBPL-MODIFY-01", "only the first global deny is compiled", "an early return")
def first_deny_only():
    compiles_denies(1)


@fault("SBPL-MODIFY-01", "a path that no rule matches is writable", "a denylist at heart")
def no_match_is_allowed():
    def change(lines, given):
        found = [filters.pieces(entry.rule.body) for entry in given.modify]
        is_meant = all(each and filters.is_subtree(each) for each in found)
        if not is_meant or not any(is_spoken(entry.rule.body) for entry in given.modify):
            return lines
        return [clauses.allow_below(given.root, "/root"), *lines]

    modifies(change)


@fault("SBPL-MODIFY-02", "an allowed subtree lacks its own directory", "a slash more")
def subtree_without_itself():
    @replaces_filter("modify")
    def of(right, holder, found, body, denied):
        if not denied and is_spoken(body) and filters.is_subtree(found):
            return regex(filters.literally(holder.path(found[:-1])) + "/.*")
        return None


@fault(
    "SBPL-MODIFY-02", "of an allowed subtree only the first level is writable", "one star for two"
)
def first_level_of_a_subtree():
    @replaces_filter("modify")
    def of(right, holder, found, body, denied):
        if not denied and is_spoken(body) and filters.is_subtree(found):
            return regex(filters.literally(holder.path(found[:-1])) + "(/[^/]*)?")
        return None


@fault("SBPL-MODIFY-03", "a denied subtree lacks its own directory", "a slash more")
def denied_without_itself():
    @replaces_filter("modify")
    def of(right, holder, found, body, denied):
        if denied and is_spoken(body) and filters.is_subtree(found):
            return regex(filters.literally(holder.path(found[:-1])) + "/.*")
        return None


@fault("SBPL-MODIFY-03", "a denied subtree also matches names that begin like it", "no boundary")
def denied_without_boundary():
    @replaces_filter("modify")
    def of(right, holder, found, body, denied):
        if denied and is_spoken(body) and filters.is_subtree(found):
            return regex(filters.literally(holder.path(found[:-1])) + ".*")
        return None


@fault(
    "SBPL-MODIFY-04", "a deny with wildcards denies the directory before them", "ADR-012, Context"
)
def deny_collapses_to_its_directory():
    @replaces_filter("modify")
    def of(right, holder, found, body, denied):
        return collapsed(holder, body) if denied and is_by_ending(body) else None


@fault("SBPL-MODIFY-04", "a deny with wildcards is left out", "not every glob translates")
def deny_with_wildcards_is_left_out():
    @replaces(clauses)
    def rule_clause(original, given, operation, entry):
        is_meant = (
            operation == "file-write*" and entry.sign == "-" and is_by_ending(entry.rule.body)
        )
        if is_meant and modifies_alone(given):
            return clauses.clause("-", operation, regex("/no/such/place"))
        return original(given, operation, entry)


def collapsed(holder, body):
    names = filters.plain_names(body)
    where = holder.path("/".join(names)) if names else holder.root
    return filters.subpath(where, "/")


@fault("SBPL-MODIFY-05", "an allow with wildcards allows the directory before them", "a prefix")
def allow_collapses_to_a_prefix():
    @replaces_filter("modify")
    def of(right, holder, found, body, denied):
        return collapsed(holder, body) if not denied and is_by_ending(body) else None


@fault("SBPL-MODIFY-05", "an allow with wildcards also matches paths below", "(/.*)? for all")
def allow_reaches_below():
    @replaces_filter("modify")
    def of(right, holder, found, body, denied):
        if not denied and is_by_ending(body):
            return regex(holder.expression(found, denied) + "(/.*)?")
        return None


@fault(
    "SBPL-MODIFY-06",
    "an allow of a path allows everything below it too",
    "literal widened to subpath",
)
def literal_widens_to_subpath():
    @replaces_filter("modify")
    def of(right, holder, found, body, denied):
        if not denied and is_spoken(body) and is_one_path(found):
            return filters.subpath(holder.path(found), "/")
        return None


@fault("SBPL-MODIFY-06", "an allowed path opens its siblings", "the directory must be writable")
def literal_opens_its_directory():
    @replaces_filter("modify")
    def of(right, holder, found, body, denied):
        if not denied and is_spoken(body) and "/" in body and is_one_path(found):
            parent = holder.path(found).rpartition("/")[0]
            return regex(filters.literally(parent) + "/[^/]*")
        return None


@fault("SBPL-MODIFY-07", "the rule `.` matches every path", "the root taken for its contents")
def root_is_everything():
    @replaces_filter("modify")
    def of(right, holder, found, body, denied):
        return filters.subpath(holder.root, "/root") if body == "." and not denied else None


@fault("SBPL-MODIFY-07", "the root itself is writable", "programs make files there")
def root_is_writable():
    def change(lines, given):
        if not any(is_spoken(entry.rule.body) for entry in given.modify):
            return lines
        return [f"(allow file-write* {filters.literal(given.root, '/root')})", *lines]

    modifies(change)


@fault("SBPL-MODIFY-07", "an empty list allows every path", "no restriction means free")
def empty_list_allows():
    def change(lines, given):
        own, _ = own_and_denies(given)
        return [clauses.allow_below(given.root, "/root"), *lines] if own == 0 else lines

    modifies(change)


def allowed_kinds(*kinds):
    """Replace each allow for all writing by allows for these kinds of writing."""

    def change(lines, given):
        return [
            line.replace("file-write*", f"file-write-{kind}") if kind else line
            for line in lines
            for kind in (kinds if line.startswith("(allow") else ("",))
        ]

    @replaces_part("modify")
    def modify(lines, given):
        if not modifies_alone(given) or any(entry.sign == "-" for entry in given.modify):
            return lines
        return change(lines, given)


@fault("SBPL-MODIFY-08", "only creating, writing and removing are allowed", "a list of operations")
def three_kinds_of_writing():
    allowed_kinds("create", "data", "unlink")


@fault("SBPL-MODIFY-08", "extended attributes cannot be written", "a list of operations")
def attributes_are_forgotten():
    every = "acl create data flags mode mount owner setugid times umount unlink unmount"
    allowed_kinds(*every.split())


@fault("SBPL-MODIFY-08", "mode and owner cannot be changed", "a list of operations")
def mode_and_owner_are_forgotten():
    every = "acl create data flags mount setugid times umount unlink unmount xattr"
    allowed_kinds(*every.split())


def above(given):
    return [place for place in places(given) if place.startswith(given.root.rstrip("/") + "/")]


@fault(
    "SBPL-MODIFY-09",
    "a scratch directory below the root stays writable",
    "the deny before the allow",
)
def guard_comes_first():
    @replaces(clauses)
    def compile_text(original, given):
        with changed(clauses, PARTS=clauses.PARTS):
            if above(given):
                moved("guard", "scratch")
            return original(given)


@fault("SBPL-MODIFY-09", "a root above state directories leaves them open", "appended at the end")
def state_comes_after_the_rules():
    @replaces(clauses)
    def compile_text(original, given):
        with changed(clauses, PARTS=clauses.PARTS):
            if above(given):
                moved("state", "read")
            return original(given)


@fault("SBPL-MODIFY-09", "a root that contains HOME is not denied first", "state must work")
def no_guard_above_home():
    @replaces_part("guard")
    def guard(lines, given):
        home = given.env.get("HOME", "")
        return [] if home.startswith(given.root.rstrip("/") + "/") else lines


@fault("SBPL-MODIFY-08", "a rule that ends with a slash matches its subtree", "gitignore")
def slash_is_a_subtree():
    @replaces(ops)
    def file_of(original, lists):
        def subtree(rule):
            return rule + "**" if isinstance(rule, str) and rule.endswith("/") else rule

        return original({name: [subtree(rule) for rule in rules] for name, rules in lists.items()})


@fault("SBPL-MODIFY-01", "a repeated rule is left out", "an ordered set of lines")
def repeated_rules_are_dropped():
    @replaces_part("modify")
    def modify(lines, given):
        is_simple = all(entry.sign != "except" for entry in given.modify)
        return list(dict.fromkeys(lines)) if is_simple else lines


@fault("SBPL-MODIFY-08", "`**/*` is simplified to `**`", "everything below, without the place")
def a_star_behind_stars_is_dropped():
    drops_a_star_behind_stars("modify")


@fault("SBPL-MODIFY-08", "two stars inside a name match one segment", "** read as *")
def stars_inside_a_name_are_one():
    @replaces_filter("modify")
    def of(right, holder, found, body, denied):
        names = body.split("/")
        if any("**" in name and name.strip("*") for name in names):
            simpler = "/".join(name.replace("**", "*") if name.strip("*") else name
                               for name in names)  # fmt: skip
            return regex(holder.expression(filters.pieces(simpler), denied))
        return None


@fault("SBPL-MODIFY-08", "a rule of more than 16 segments is cut", "an array of segments")
def long_rules_are_cut():
    @replaces_filter("modify")
    def of(right, holder, found, body, denied):
        if body.count("/") < 16:
            return None
        cut = "/".join(body.split("/")[:16])
        return regex(holder.expression(filters.pieces(cut), denied))


@fault("SBPL-MODIFY-01", "denies after the 256th are left out", "a count in a byte")
def denies_beyond_256_are_left_out():
    compiles_denies(256)


@fault("SBPL-MODIFY-08", "in a list of more than 40 rules the denies come last", "sorted by sign")
def many_rules_are_sorted():
    modifies(denies_of_many_last)


@fault("SBPL-MODIFY-08", "of rules that differ only in case the last one counts", "keys of a map")
def rules_are_keyed_without_case():
    modifies(last_of_each_without_case)

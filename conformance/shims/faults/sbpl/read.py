"""Faults in the read rules."""

import sbpl.clauses as clauses
import sbpl.filters as filters
from faults.registry import fault, replaces
from faults.sbpl.parts import (
    Now,
    denies_last,
    denies_of_many_last,
    drops_a_star_behind_stars,
    is_glob,
    is_one_path,
    last_of_each_without_case,
    reads_alone,
    regex,
    replaces_filter,
    replaces_part,
)


def reads(change):
    @replaces_part("read")
    def read(lines, given):
        return change(lines, given) if reads_alone(given) else lines


def left_out(is_meant):
    """Replace some denies by a filter that matches no path."""

    @replaces_filter("read")
    def of(right, holder, found, body, denied):
        return regex("/no/such/place") if denied and is_meant(found) else None


@fault("SBPL-READ-01", "read denies of subtrees are left out", "reads are broad")
def subtrees_stay_readable():
    left_out(filters.is_subtree)


@fault("SBPL-READ-01", "read denies of single paths are left out", "only directories thought of")
def paths_stay_readable():
    left_out(is_one_path)


@fault("SBPL-READ-01", "read denies with wildcards are left out", "not every glob translates")
def globs_stay_readable():
    left_out(is_glob)


@fault("SBPL-READ-01", "negated read rules of the profile are left out", "denyRead only")
def own_negations_stay_readable():
    def change(lines, given):
        entries = clauses.from_first_deny(given.read)
        pairs = zip(lines, entries, strict=True)
        return [line for line, entry in pairs if entry.origin != "profile"]

    reads(change)


@fault("SBPL-READ-02", "a read allow after a deny is left out", "only denies are written")
def reopened_is_dropped():
    reads(lambda lines, given: [line for line in lines if line.startswith("(deny")])


@fault("SBPL-READ-02", "read denies are written after the allows", "allow first, then deny")
def read_denies_come_last():
    reads(lambda lines, given: denies_last(lines))


@fault("SBPL-READ-03", "a path without a matching rule cannot be read", "the list of modify")
def unmatched_cannot_be_read():
    def change(lines, given):
        if any(entry.rule.body == "**" and entry.sign == "+" for entry in given.read):
            return lines
        allows = [clauses.rule_clause(given, "file-read*", each) for each in given.read]
        return [clauses.clause("-", "file-read*", filters.subpath(given.root, "/")), *allows]

    reads(change)


@fault("SBPL-READ-03", "a denied subtree also matches names that begin like it", "no boundary")
def read_denied_without_boundary():
    @replaces_filter("read")
    def of(right, holder, found, body, denied):
        if denied and filters.is_subtree(found):
            return regex(filters.literally(holder.path(found[:-1])) + ".*")
        return None


@fault(
    "SBPL-READ-03", "a read deny with wildcards denies the directory before them", "subpath only"
)
def read_deny_collapses():
    @replaces_filter("read")
    def of(right, holder, found, body, denied):
        names = filters.plain_names(body)
        if not (denied and names and is_glob(found)):
            return None
        return filters.subpath(holder.path("/".join(names)), "/")


def read_kinds(*kinds):
    def change(lines, given):
        return [line.replace("file-read*", f"file-read-{kind}") for line in lines for kind in kinds]

    reads(change)


@fault("SBPL-READ-04", "metadata of a denied path can be read", "only the data is secret")
def only_data_is_denied():
    read_kinds("data", "xattr")


@fault("SBPL-READ-04", "attributes of a denied path can be read", "forgotten")
def attributes_can_be_read():
    read_kinds("data", "metadata")


@fault(
    "SBPL-READ-05",
    "a deny that begins with `**/` applies outside the root too",
    "srt, denyRead anywhere",
)
def deny_everywhere():
    @replaces_filter("read")
    def of(right, holder, found, body, denied):
        if not denied or not body.startswith("**/"):
            return None
        return regex(right.split('"')[1].replace(holder.root, "", 1).strip("^$"))


@fault("SBPL-READ-05", "with a read deny only the root can be read", "a list is a jail")
def a_deny_confines():
    def change(lines, given):
        if not lines:
            return lines
        return [
            clauses.clause("-", "file-read*", filters.subpath("/", "/")),
            clauses.clause("+", "file-read*", filters.subpath(given.root, "/")),
            *lines,
        ]

    reads(change)


@fault("SBPL-READ-05", "keys in the home directory cannot be read", "common sense, not the policy")
def keys_cannot_be_read():
    @replaces_part("read")
    def read(lines, given):
        home = given.env.get("HOME")
        if home is None:
            return lines
        return [clauses.clause("-", "file-read*", filters.subpath(f"{home}/.ssh", "/")), *lines]


@fault("SBPL-READ-02", "a repeated rule is left out", "an ordered set of lines")
def repeated_read_rules_are_dropped():
    @replaces_part("read")
    def read(lines, given):
        return list(dict.fromkeys(lines))


@fault("SBPL-READ-03", "with `/` as the root, names begin with two slashes", "joined by a slash")
def read_denies_have_two_slashes():
    @replaces(filters.Filters)
    def path(original, self, characters):
        if Now.part == "read":
            return f"{self.root}/{''.join(characters)}"
        return original(self, characters)


@fault("SBPL-READ-03", "a denied `**/*` is simplified to `**`", "everything below")
def a_star_behind_stars_is_dropped():
    drops_a_star_behind_stars("read")


@fault("SBPL-READ-03", "denies after the 256th are left out", "a count in a byte")
def denies_beyond_256_are_left_out():
    reads(lambda lines, given: lines[:256])


@fault("SBPL-READ-03", "in a list of more than 40 rules the denies come last", "sorted by sign")
def many_read_rules_are_sorted():
    reads(denies_of_many_last)


@fault("SBPL-READ-03", "of rules that differ only in case the last one counts", "keys of a map")
def read_rules_are_keyed_without_case():
    reads(last_of_each_without_case)


@fault("SBPL-READ-01", "a deny of the root denies all below it", "subpath for directories")
def a_deny_of_the_root_is_a_subtree():
    @replaces(clauses)
    def rule_clause(original, given, operation, entry):
        made = original(given, operation, entry)
        is_root = entry.rule.body == "." and operation == "file-read*"
        return made.replace("(literal", "(subpath") if is_root else made


@fault("SBPL-READ-01", "an exception makes its paths readable", "one filter for all operations")
def exceptions_are_readable():
    @replaces_part("read")
    def read(lines, given):
        yield from lines
        for entry in given.modify:
            if entry.sign == "except":
                yield clauses.clause("+", "file-read*", given.filters.of(entry, False))

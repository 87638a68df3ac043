"""Mistakes with exceptions from denies."""

import sbpl.clauses as clauses
from registry import fault, replaces


@fault("SBPL-EXCEPT-01", "an exception changes nothing", "denies are denies")
def exceptions_are_ignored():
    @replaces(clauses)
    def exception(original, given, entry):
        return [line for line in original(given, entry) if "require-all" not in line][:1]


@fault("SBPL-EXCEPT-01", "the first own rule decides inside", "a search from the front")
def first_own_rule_inside():
    @replaces(clauses)
    def exception(original, given, entry):
        first, *rest = original(given, entry)
        return [first, *reversed(rest)]


@fault("SBPL-EXCEPT-01", "negations of the profile do not hold inside", "only what is allowed")
def negations_are_lost_inside():
    @replaces(clauses)
    def exception(original, given, entry):
        first, *rest = original(given, entry)
        return [first, *(line for line in rest if line.startswith("(allow"))]


@fault("SBPL-EXCEPT-02", "an exception allows", "`!` means the other sign")
def exception_is_a_bare_allow():
    @replaces(clauses)
    def exception(original, given, entry):
        return [clauses.clause("+", "file-write*", given.filters.of(entry, False))]


@fault("SBPL-EXCEPT-02", "an exception opens the rules everywhere", "the rules once more")
def exception_opens_everywhere():
    @replaces(clauses)
    def exception(original, given, entry):
        own = clauses.own_rules(given.modify)
        return [clauses.rule_clause(given, "file-write*", each) for each in own]


@fault("SBPL-EXCEPT-02", "inside it is decided as outside of all denies", "no deny of P first")
def exception_without_its_deny():
    @replaces(clauses)
    def exception(original, given, entry):
        rest = list(original(given, entry))[1:]
        inside = given.filters.of(entry, True)
        return [clauses.clause("+", "file-write*", inside), *rest]


def changed(change):
    """Other entries of the modify list, from the start on."""

    @replaces(clauses)
    def compile_text(original, given):
        given.modify = change(given.modify)
        return original(given)


@fault("SBPL-EXCEPT-03", "exceptions come after all denies", "two lists")
def exceptions_come_last():
    changed(lambda entries: sorted(entries, key=lambda entry: entry.sign == "except"))


@fault("SBPL-EXCEPT-03", "a deny behind an exception is not compiled", "the hole is final")
def deny_behind_is_lost():
    def change(entries):
        holes = [i for i, entry in enumerate(entries) if entry.sign == "except"]
        return entries[: holes[-1] + 1] if holes else entries

    changed(change)

"""Faults of exceptions from denies."""

import sbpl.clauses as clauses
from faults.registry import fault, replaces
from faults.sbpl.parts import replaces_part


def holes(change):
    """Change the lines of an exception, unless names fold: other requirements test folding."""

    @replaces(clauses)
    def exception(original, given, entry):
        lines = list(original(given, entry))
        return lines if given.fold else change(lines, given, entry)


@fault("SBPL-EXCEPT-01", "an exception has no effect", "denies are denies")
def exceptions_are_ignored():
    holes(lambda lines, given, entry: lines[:1])


@fault(
    "SBPL-EXCEPT-01",
    "inside an exception the first rule of the profile decides",
    "a search from the front",
)
def first_own_rule_inside():
    holes(lambda lines, given, entry: [lines[0], *reversed(lines[1:])])


@fault(
    "SBPL-EXCEPT-01",
    "inside an exception negated rules of the profile are ignored",
    "only allows are compiled",
)
def negations_are_lost_inside():
    def change(lines, given, entry):
        return [lines[0], *(line for line in lines if line.startswith("(allow"))]

    holes(change)


@fault("SBPL-EXCEPT-01", "exceptions after the 64th have no effect", "a mask of 64 bits")
def late_exceptions_are_ignored():
    def change(lines, given, entry):
        exceptions = [each for each in given.modify if each.sign == "except"]
        return lines if exceptions.index(entry) < 64 else lines[:1]

    holes(change)


@fault("SBPL-EXCEPT-02", "an exception allows the path by itself", "`!` means the other sign")
def exception_is_a_bare_allow():
    holes(lambda lines, given, entry: [allowed(given, entry)])


def allowed(given, entry):
    return clauses.clause("+", "file-write*", given.filters.of(entry, False))


@fault("SBPL-EXCEPT-02", "an exception also allows paths outside of itself", "the rules once more")
def exception_opens_everywhere():
    def change(lines, given, entry):
        own = clauses.own_rules(given.modify)
        return [clauses.rule_clause(given, "file-write*", each) for each in own]

    holes(change)


@fault(
    "SBPL-EXCEPT-02",
    "paths in an exception that no rule matches are not denied",
    "no deny of P first",
)
def exception_without_its_deny():
    holes(lambda lines, given, entry: [allowed(given, entry), *lines[1:]])


def changed(change):
    """Change the entries of the modify list before the compilation."""

    @replaces(clauses)
    def compile_text(original, given):
        if not given.fold:
            given.modify = change(given.modify)
        return original(given)


@fault("SBPL-EXCEPT-03", "exceptions are written after all denies", "two lists")
def exceptions_come_last():
    changed(lambda entries: sorted(entries, key=lambda entry: entry.sign == "except"))


@fault("SBPL-EXCEPT-03", "a deny after an exception is left out", "the hole is final")
def deny_behind_is_lost():
    def change(entries):
        found = [i for i, entry in enumerate(entries) if entry.sign == "except"]
        return entries[: found[-1] + 1] if found else entries

    changed(change)


@fault("SBPL-EXCEPT-03", "a repeated deny is left out", "an ordered set of lines")
def repeated_denies_are_dropped():
    @replaces_part("modify")
    def modify(lines, given):
        is_plain = all(entry.sign != "except" for entry in given.modify)
        return lines if is_plain else list(dict.fromkeys(lines))


def of_data(lines, sign):
    return [line.replace(f"({sign} file-write*", f"({sign} file-write-data") for line in lines]


@fault(
    "SBPL-EXCEPT-01",
    "inside an exception a negated rule denies only writing data",
    "two kinds of clauses",
)
def negations_inside_are_of_data():
    def change(lines, given, entry):
        return [lines[0], *of_data(lines[1:], "deny")]

    holes(change)


@fault("SBPL-EXCEPT-02", "an exception first denies only writing data", "the same")
def exception_is_closed_for_data():
    def change(lines, given, entry):
        if given.env or clauses.read_denied(given) or len(lines) > 3:
            return lines
        return [allowed(given, entry), *of_data(lines, "deny")]

    holes(change)


@fault("SBPL-EXCEPT-01", "of the profile's own rules the last 32 count inside", "a fixed list")
def own_rules_inside_are_cut():
    holes(lambda lines, given, entry: [lines[0], *lines[1:][-32:]])

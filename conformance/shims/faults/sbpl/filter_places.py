"""Faults in a filter that depend on the part of the text, or that occur only if names fold."""

import policy.glob as glob
import sbpl.clauses as clauses
import sbpl.filters as filters
import sbpl.spellings as spellings
from faults.registry import changed, fault, replaces
from faults.sbpl.parts import Now


@fault("SBPL-FILTER-05", "allows and denies of one rule share a cached filter", "a cache by rule")
def filter_is_kept_by_rule():
    @replaces(filters.Filters)
    def of(original, self, entry, denied):
        kept = vars(self).setdefault("kept", {})
        if entry.rule.body not in kept:
            kept[entry.rule.body] = original(self, entry, denied)
        return kept[entry.rule.body]


@fault("SBPL-FILTER-05", "in an exception each rule is written as an allow", "one template")
def exception_is_written_as_an_allow():
    @replaces(clauses)
    def exception(original, given, entry):
        right = given.filters.of

        def of(each, denied):
            return right(each, denied and each is entry)

        with changed(given.filters, of=of):
            return list(original(given, entry))


def one_in(part, in_a_deny):
    """Write `?` in this part as in a deny, or as in an allow."""

    @replaces(filters)
    def one(original, denied, fold):
        return (
            original(in_a_deny, fold) if Now.part == part and not fold else original(denied, fold)
        )


@fault("SBPL-FILTER-05", "in a read deny `?` matches only ASCII", "another writer than for modify")
def read_deny_is_ascii():
    one_in("read", False)


@fault(
    "SBPL-FILTER-05",
    "in a guard against removal `?` matches only ASCII",
    "another writer than for modify",
)
def guard_is_ascii():
    one_in("unlink", False)


@fault(
    "SBPL-FILTER-05",
    "in an allow after a read deny `?` matches up to four bytes",
    "denies thought of",
)
def read_allow_is_four_bytes():
    one_in("read", True)


def below_is_not_itself_in(part):
    @replaces(filters.Filters)
    def written(original, self, run, denied):
        is_meant = run == glob.BELOW and Now.part == part and not self.fold
        return "/.*" if is_meant else original(self, run, denied)


@fault("SBPL-FILTER-04", "in a read deny `P/**` does not match P", "only modify was tried")
def read_denied_below_is_not_itself():
    below_is_not_itself_in("read")


@fault(
    "SBPL-FILTER-04",
    "in a guard against renaming `P/**` does not match P",
    "only the contents are guarded",
)
def guarded_below_is_not_itself():
    below_is_not_itself_in("unlink")


@fault("SBPL-FILTER-01", "with fold a plus and a dollar are not escaped", "escaped by letters")
def folded_characters_are_not_escaped():
    @replaces(filters.Filters)
    def written(original, self, run, denied):
        found = original(self, run, denied)
        if not self.fold or filters.is_wildcard(run):
            return found
        return found.replace("\\+", "+").replace("\\$", "$")


def folded_root(change):
    @replaces(filters.Filters)
    def expression(original, self, found, denied):
        right = original(self, found, denied)
        if not self.fold or self.root == "/":
            return right
        return right.replace(filters.literally(self.root), change(self.root), 1)


@fault("SBPL-FILTER-06", "with fold the root is folded too", "joined, then spelled")
def root_folds():
    folded_root(lambda root: spellings.expression(root, filters.literally))


@fault("SBPL-FILTER-06", "with fold the root is not escaped", "a second way to write it")
def folded_root_is_a_pattern():
    folded_root(lambda root: root)

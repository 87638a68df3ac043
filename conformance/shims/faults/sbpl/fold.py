"""Faults of `case: fold`."""

import sbpl.clauses as clauses
import sbpl.filters as filters
import sbpl.spellings as spellings
from faults.registry import changed, fault, replaces
from faults.sbpl.parts import Now


def plain_as_without_folding(is_meant):
    @replaces(filters.Filters)
    def of(original, self, entry, denied):
        found = filters.pieces(entry.rule.body)
        if not (self.fold and is_meant(found)):
            return original(self, entry, denied)
        with changed(self, fold=False):
            return original(self, entry, denied)


@fault("SBPL-FOLD-01", "rules for single paths are not folded", "a literal is a literal")
def paths_do_not_fold():
    plain_as_without_folding(lambda found: not filters.has_wildcard(found))


@fault("SBPL-FOLD-01", "rules for subtrees are not folded", "a subpath is a subpath")
def subtrees_do_not_fold():
    plain_as_without_folding(lambda found: bool(found) and filters.is_subtree(found))


@fault("SBPL-FOLD-01", "rules with wildcards are not folded", "only literals were made patterns")
def globs_do_not_fold():
    plain_as_without_folding(
        lambda found: bool(found) and filters.has_wildcard(found) and not filters.is_subtree(found)
    )


def spelled(choose):
    """Choose the spellings of a letter. If `choose` returns none, the letter itself is the only
    spelling."""

    @replaces(spellings)
    def fitting(original, before, letter):
        return choose(original(before, letter), letter) or [letter]


@fault("SBPL-FOLD-01", "only lower case is written into the expression", "tolower on both sides")
def lower_case_alone():
    spelled(lambda found, letter: [letter] if letter.isascii() else found)


@fault("SBPL-FOLD-02", "only ASCII letters are folded", "[aA] and no more")
def ascii_folds_alone():
    def choose(found, letter):
        return [each for each in found if each.isascii()] if letter.isascii() else [letter]

    spelled(choose)


@fault("SBPL-FOLD-02", "only the composed form of a letter is matched", "one code point for each")
def composed_alone():
    spelled(lambda found, letter: [each for each in found if len(each) == 1])


@fault("SBPL-FOLD-02", "only upper and lower case are matched, no other spelling", "str.upper")
def upper_and_lower_alone():
    def choose(found, letter):
        return [each for each in found if each in (letter, letter.upper(), letter.lower())]

    spelled(choose)


@fault(
    "SBPL-FOLD-02", "letters that are not ASCII are put into a class of bytes", "bytes in a class"
)
def class_of_other_letters():
    @replaces(spellings)
    def alternatives(original, found, literally):
        single = [each for each in found if len(each) == 1]
        if len(single) < 2 or found[0].isascii():
            return original(found, literally)
        return "[" + "".join(single) + "]"


@fault("SBPL-FOLD-02", "the Kelvin sign does not match k", "letters of one script")
def kelvin_is_no_k():
    spelled(lambda found, letter: [each for each in found if letter != "k" or each.isascii()])


@fault("SBPL-FOLD-02", "Hangul syllables have one spelling", "a table without rules")
def hangul_has_one_spelling():
    spelled(lambda found, letter: [letter] if "\uac00" <= letter[0] <= "\ud7a3" else found)


@fault("SBPL-FOLD-02", "a half composed Hangul syllable is not matched", "NFC and NFD")
def half_composed_hangul_is_not_matched():
    spelled(lambda found, letter: [each for each in found if len(each) != 2 or each[0] < "\uac00"])


@fault("SBPL-FOLD-03", "sharp s matches ss", "full folding")
def sharp_s_is_two():
    @replaces(spellings)
    def expression(original, characters, literally):
        return original(characters.replace("\u00df", "ss"), literally)


@fault("SBPL-FOLD-02", "letters match without their accents", "a search index")
def accents_do_not_matter():
    @replaces(spellings)
    def fitting(original, before, letter):
        found = original(before, letter)
        return [*found, "e", "E"] if "\u00e9" in found else found


@fault("SBPL-FOLD-03", "allows are not folded", "deny both, allow one")
def allows_do_not_fold():
    @replaces(clauses)
    def rule_clause(original, given, operation, entry):
        if entry.sign != "+" or not given.fold:
            return original(given, operation, entry)
        with changed(given.filters, fold=False):
            return original(given, operation, entry)


@fault("SBPL-FOLD-03", "`/` as the root becomes an empty path", "slashes cleaned away")
def root_of_the_system_is_nothing():
    @replaces(filters.Filters)
    def expression(original, self, found, denied):
        return original(self, found, denied) if found or self.root != "/" else ""


@fault("SBPL-FOLD-01", "a name with too many spellings is cut", "a buffer of a thousand bytes")
def long_names_are_cut():
    @replaces(spellings)
    def expression(original, characters, literally):
        while len(made := original(characters, literally).encode()) > 900:
            characters = characters[: len(characters) * 900 // len(made)]
        return original(characters, literally)


@fault("SBPL-FOLD-02", "a question mark matches only one code point", "folded or not")
def question_mark_takes_one():
    filters.ONE_FOLDED = filters.ONE_DENIED


@fault("SBPL-FOLD-01", "names of more than 512 bytes are not folded", "a buffer that is too small")
def long_names_do_not_fold():
    @replaces(spellings)
    def expression(original, characters, literally):
        return literally(characters) if len(characters) > 512 else original(characters, literally)


@fault("SBPL-FOLD-03", "an allow after a read deny is not folded", "only the denies fold")
def read_allows_do_not_fold():
    @replaces(filters.Filters)
    def of(original, self, entry, denied):
        if Now.part != "read" or denied:
            return original(self, entry, denied)
        return original(filters.Filters(self.root, False), entry, denied)


def folds_for_data(sign, operation):
    """Fold only in clauses about the data of files. The clause about all kinds of writing keeps the
    spelling."""

    @replaces(clauses)
    def rule_clause(original, given, of, entry):
        right = original(given, of, entry)
        if not given.fold or entry.sign != sign or of != operation:
            return right
        given.filters.fold = False
        plain = original(given, of, entry)
        given.filters.fold = True
        return f"{plain}\n{right.replace('*', '-data', 1)}"


@fault("SBPL-FOLD-01", "a modify deny is folded only for writing data", "one clause considered")
def write_denies_fold_for_data():
    folds_for_data("-", "file-write*")


@fault("SBPL-FOLD-01", "a read deny is folded only for reading data", "one clause considered")
def read_denies_fold_for_data():
    folds_for_data("-", "file-read*")


@fault(
    "SBPL-FOLD-03",
    "an allow after a read deny is folded only for reading data",
    "only the denies fold",
)
def read_allows_fold_for_data():
    folds_for_data("+", "file-read*")

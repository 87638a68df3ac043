"""Faults of `case: fold`."""

import unicodedata

import policy.decide as decide
import policy.fold as folding
import policy.glob as glob
from faults.policy.narrow import During
from faults.registry import fault, replaces


@fault("POLICY-FOLD-01", "only A to Z are folded", "strcasecmp")
def folds_ascii_only():
    @replaces(folding)
    def fold_one(original, character):
        return original(character) if character.isascii() else character


@fault("POLICY-FOLD-01", "folding is done by lower case", "to_lowercase: the final sigma")
def folds_to_lower_case():
    @replaces(folding)
    def fold_one(original, character):
        lower = character.lower()
        return lower if len(lower) == 1 else character


@fault("POLICY-FOLD-01", "only the rule is folded, not the path", "one side forgotten")
def folds_the_rule_only():
    @replaces(glob.Text)
    def __init__(original, self, path, fold=False):
        original(self, path, False)


@fault("POLICY-FOLD-01", "Turkish letters are folded as in Turkey", "a locale")
def folds_as_in_turkey():
    @replaces(folding)
    def fold(original, text):
        return original(text.replace("I", "\u0131").replace("\u0130", "i"))


@fault("POLICY-FOLD-02", "sharp s equals ss", "full case folding: str.casefold")
def full_folding():
    folding.fold = lambda text: unicodedata.normalize("NFC", text).casefold()


@fault("POLICY-FOLD-02", "compatibility forms are equal to their base letters", "NFKC")
def compatibility_forms():
    @replaces(folding)
    def normalize(original, form, text):
        return original("NFKC", text)


@fault("POLICY-FOLD-02", "composed and decomposed letters differ", "folding without NFC")
def no_normalisation():
    folding.normalize = lambda form, text: text


@fault("POLICY-FOLD-01", "a long list is matched without folding", "a second way to look rules up")
def long_lists_do_not_fold():
    @During("policy.check").replaces(decide)
    def last_match(original, entries, text, fold):
        return original(entries, text, fold and len(entries) < 40)


@fault("POLICY-FOLD-01", "the denies of a workspace do not fold", "the option of one file")
def denies_of_a_workspace_do_not_fold():
    @replaces(decide.Entry)
    def matches(original, self, text, fold):
        if fold and self.origin.startswith("deny") and self.rule.file == "workspace":
            return glob.Glob(self.rule.body, False).matches(text)
        return original(self, text, fold)

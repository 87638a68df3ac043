"""Faults that write forms which no reader of the language knows."""

import sbpl.spellings as spellings
from faults.registry import fault, replaces


@fault("SBPL-FORM-04", "a letter without a known spelling is an empty class", "no found spelling")
def unknown_letters_are_empty_classes():
    @replaces(spellings)
    def alternatives(original, found, literally):
        return "[]" if any(len(each) > 2 for each in found) else original(found, literally)


@fault("SBPL-FORM-04", "an empty alternative is written for a letter", "a join of one too many")
def alternatives_may_be_empty():
    @replaces(spellings)
    def alternatives(original, found, literally):
        made = original(found, literally)
        return made.replace("(", "((", 1) if "|" in made else made


@fault("SBPL-FORM-04", "a bracket of a folded name is not escaped", "letters only are tested")
def folded_brackets_are_bare():
    @replaces(spellings)
    def expression(original, characters, literally):
        return original(characters, lambda text: literally(text).replace("\\(", "("))

"""Faults of folded names at block limits."""

import policy.fold as folding
from faults.registry import fault, replaces


@fault("POLICY-FOLD-01", "only the first 64 characters of a text are folded", "a buffer of its own")
def only_the_first_block_is_folded():
    @replaces(folding)
    def fold(original, text):
        return original(text[:64]) + text[64:]


@fault("POLICY-FOLD-02", "a mark after the first 32 characters is not composed", "a window")
def marks_far_behind_stay():
    @replaces(folding)
    def fold(original, text):
        return original(text[:32]) + "".join(map(original, text[32:]))

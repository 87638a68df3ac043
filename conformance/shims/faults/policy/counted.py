"""Forget all entries of a profile after a certain number, for faults of limits."""

import policy.decide as decide
from faults.registry import replaces


def keep_first(count, of):
    """Keep all entries for which `of` is false, and the first `count` of the others."""

    @replaces(decide.Resolved)
    def append_denies(original, self, policy):
        original(self, policy)
        kept, seen = [], 0
        for entry in self.modify:
            seen += of(entry)
            if not of(entry) or seen <= count:
                kept.append(entry)
        self.modify = kept

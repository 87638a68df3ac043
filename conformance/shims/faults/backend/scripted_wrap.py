"""A helper for faults in the answer of `wrap`."""

from backend.script import Script
from faults.registry import replaces


def change_wrap(words=lambda given: given, variables=lambda given: given):
    """Change the words and variables that the scripted backend returns from `wrap`."""

    @replaces(Script)
    def wrap(original, self, argv, context, cwd):
        made, added = original(self, argv, context, cwd)
        return words(made), variables(added)

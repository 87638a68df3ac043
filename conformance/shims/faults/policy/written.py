"""Keep the original spelling of rules, for faults that compare rules before they are normalised."""

import policy.load as load
from faults.registry import replaces


class Written(str):
    text = ""


def keep_spellings():
    @replaces(load)
    def split_rule(original, text):
        negated, body = original(text)
        kept = Written(body)
        kept.text = text.strip(" \t").removeprefix("!").strip(" \t")
        return negated, kept


def has_backslash(rule):
    return "\\" in getattr(rule.body, "text", "")


def are_written_alike(one, other):
    return has_backslash(one) == has_backslash(other)

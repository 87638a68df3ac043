"""Faults that compare rules of a policy by similar names."""

from unicodedata import normalize

import policy.fold as folding
import policy.judge as judge
from faults.registry import fault, replaces


def composed(text):
    return normalize("NFC", text)


def change_equal(form):
    """Compare rules with denies in this form."""

    @replaces(judge)
    def equals_a_deny(original, file, policy, profile):
        rules = [*policy.deny_read, *policy.deny_modify, *profile.read, *profile.modify]
        before = [rule.body for rule in rules]
        for rule in rules:
            rule.body = form(rule.body)
        try:
            original(file, policy, profile)
        finally:
            for rule, body in zip(rules, before, strict=True):
                rule.body = body


@fault("POLICY-VALID-05", "rules are compared with denies in NFC", "names of macOS")
def equal_rules_in_another_unicode_form():
    change_equal(composed)


@fault("POLICY-VALID-05", "rules are compared with denies without case", "names of Windows")
def equal_rules_in_another_case():
    change_equal(folding.fold)

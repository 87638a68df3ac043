"""Faults that compare rules of two files by similar names."""

from unicodedata import normalize

import policy.fold as folding
import policy.judge as judge
from faults.registry import fault, replaces


def change_holes(form):
    """Compare exceptions of a workspace with those of the global file in this form."""

    @replaces(judge)
    def validate_merge(original, base, workspace):
        rules = [*base.policy.exceptions(), *workspace.policy.exceptions()]
        before = [rule.body for rule in rules]
        for rule in rules:
            rule.body = form(rule.body)
        try:
            original(base, workspace)
        finally:
            for rule, body in zip(rules, before, strict=True):
                rule.body = body


@fault("POLICY-MERGE-04", "exceptions of two files are compared without case", "macOS, Windows")
def exceptions_of_another_case_are_global():
    change_holes(folding.fold)


@fault("POLICY-MERGE-04", "exceptions of two files are compared in NFC", "names of macOS")
def exceptions_of_another_unicode_form_are_global():
    change_holes(lambda text: normalize("NFC", text))

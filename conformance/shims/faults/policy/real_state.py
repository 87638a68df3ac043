"""Faults in resolving links that change, several denies, and directories without access."""

import policy.real as real
from errors import Failed
from faults.registry import changed, fault, replaces


@fault("POLICY-REAL-08", "the place of a deny is kept for later requests", "a cache by the rule")
def places_of_denies_are_kept():
    seen = {}

    @replaces(real)
    def where_it_leads(original, root, body):
        if body not in seen:
            seen[body] = original(root, body)
        return seen[body]


@fault("POLICY-REAL-08", "the place of a deny is kept for its root", "a cache by root and rule")
def places_of_denies_are_kept_for_a_root():
    seen = {}

    @replaces(real)
    def where_it_leads(original, root, body):
        key = (tuple(root.real), body)
        if key not in seen:
            seen[key] = original(root, body)
        return seen[key]


def only(choose):
    """Resolve only the chosen ones of the denies that lead through links."""

    @replaces(real)
    def check_resolved(original, resolved, op, data, fold, root, follow):
        denies = [entry for entry in resolved.entries(op) if entry.sign == "-"]
        places = {entry: real.where_it_leads(root, entry.rule.body) for entry in denies}
        linked = [entry for entry in denies if places[entry] not in (None, entry.rule.body)]
        chosen, at_its_place = choose(linked), real.at_its_place

        def only_chosen(at, entry):
            return at_its_place(at, entry) if entry in chosen else entry

        with changed(real, at_its_place=only_chosen):
            return original(resolved, op, data, fold, root, follow)


@fault("POLICY-REAL-08", "only the last deny that leads through links is resolved", "one variable")
def the_last_deny_is_resolved():
    only(lambda linked: linked[-1:])


@fault("POLICY-REAL-08", "only the first deny that leads through links is resolved", "a `break`")
def the_first_deny_is_resolved():
    only(lambda linked: linked[:1])


@fault("POLICY-REAL-01", "a directory without access contains no links", "any error means no link")
def no_access_is_no_link():
    @replaces(real)
    def link_at(original, place, name):
        try:
            return original(place, name)
        except real.NoPlace:
            raise
        except Failed:
            return None

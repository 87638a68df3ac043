"""Find problems and warnings of a well-formed policy."""

from __future__ import annotations

import policy.glob as glob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from policy.load import File, Policy, Profile, Rule

    Warned = tuple[str, Rule | Profile, str]  # the code, the rule or profile, and the message

NOT_PLAIN = "an exception must be exact or end in `/**`, with no other wildcard"


class Cover:
    """Finds rules that certainly match all paths of another rule. It compares the texts of the
    rules."""

    def __init__(self, numbered: Iterable[tuple[int, Rule]]) -> None:
        """Store the rules by their bodies.

        numbered: pairs of a number and a rule. If several rules have the same body, the last one
            counts.
        """
        self.numbers = {rule.body: number for number, rule in numbered}
        places = (below(body) for body in self.numbers)
        self.sizes = {len(place) for place in places if place is not None}

    def last(self, body: str) -> int:
        """Return the highest number among the rules that cover `body`; -1 if no rule covers it."""
        covers = ["**", body]
        covers += [body[:size] + "/**" for size in self.sizes if ends_a_segment(body, size)]
        return max(self.numbers.get(cover, -1) for cover in covers)

    def others_cover(self, body: str) -> bool:
        """True if a rule with a different body covers this body."""
        own = self.numbers.pop(body, None)
        found = self.covers(body)
        if own is not None:
            self.numbers[body] = own
        return found

    def covers(self, body: str) -> bool:
        return self.last(body) >= 0


def cover(rules: Iterable[Rule]) -> Cover:
    return Cover(enumerate(rules))


def all_around(body: str) -> list[str]:
    """Return all bodies that cover this one."""
    ends = [size for size in range(1, len(body)) if ends_a_segment(body, size)]
    return ["**", body, *(body[:size] + "/**" for size in ends)]


def ends_a_segment(body: str, size: int) -> bool:
    return size == len(body) or body[size : size + 1] == "/"


def below(body: str) -> str | None:
    """Return P for a body `P/**`, and None for other bodies."""
    return body[:-3] if len(body) > 3 and body.endswith("/**") else None


def positive(rules: Iterable[Rule]) -> list[Rule]:
    return [rule for rule in rules if not rule.negated]


def validate(file: File, is_workspace: bool = False) -> None:
    """Find the problems of a file that do not depend on another file. Add them to the list of the
    file."""
    policy = file.policy
    for rule in policy.deny_read:
        if rule.negated:
            file.wrong(rule.at, rule.pointer, "denyRead takes no exceptions (`!`)")
    for profile in policy.profiles.values():
        uncovered(file, profile)
        equals_a_deny(file, policy, profile)
    for i, rule in enumerate(policy.deny_modify):
        if rule.negated:
            exception(file, rule, policy.deny_modify[:i], is_workspace)


def uncovered(file: File, profile: Profile) -> None:
    readable = cover(positive(profile.read))
    for rule in positive(profile.modify):
        if not readable.covers(rule.body):
            why = f"no read rule of {profile.name} covers it; modify needs read"
            file.wrong(rule.at, rule.pointer, why)


def equals_a_deny(file: File, policy: Policy, profile: Profile) -> None:
    """Find rules of a profile that equal a deny.

    file: contains the profile.
    policy: contains the denies.
    """
    reads = {rule.body for rule in positive(policy.deny_read)}
    modifies = reads | {rule.body for rule in policy.denies()}
    for rules, denied in ((profile.read, reads), (profile.modify, modifies)):
        for rule in rules:
            if rule.body in denied:
                file.wrong(rule.at, rule.pointer, "equals a rule that is denied globally")


def exception(file: File, rule: Rule, earlier: Sequence[Rule], is_workspace: bool) -> None:
    if is_workspace:
        return
    if not is_plain(rule.body):
        file.wrong(rule.at, rule.pointer, NOT_PLAIN)
    elif not any(holds(deny, rule) for deny in positive(earlier)):
        file.wrong(rule.at, rule.pointer, "an exception must lie inside an earlier deny")


def is_plain(body: str) -> bool:
    place = below(body)
    return not any(c in "*?" for c in (body if place is None else place))


def holds(deny: Rule, rule: Rule) -> bool:
    """True if the exception `rule` lies inside `deny`."""
    if deny.body == rule.body:
        return False
    place = below(rule.body)
    if place is None:
        return glob.matches(deny.body, rule.body)
    return (deny.body == "**" or deny.body.endswith("/**")) and glob.matches(deny.body, place)


def validate_merge(base: File, workspace: File) -> None:
    """Find the problems that a workspace file has only in combination with the global policy."""
    holes = cover(base.policy.exceptions())
    for rule in workspace.policy.deny_modify:
        if rule.negated and not is_plain(rule.body):
            workspace.wrong(rule.at, rule.pointer, NOT_PLAIN)
        elif rule.negated and not holes.covers(rule.body):
            why = "an exception of a workspace must lie inside one of the global policy"
            workspace.wrong(rule.at, rule.pointer, why)
    for profile in workspace.policy.profiles.values():
        equals_a_deny(workspace, base.policy, profile)


def warnings(policy: Policy) -> Iterator[Warned]:
    """Yield (code, rule or profile, message)."""
    for profile in policy.profiles.values():
        if not profile.read:
            yield "empty-read", profile, "this profile can read nothing"
        yield from too_narrow(profile.rules())
        yield from under_a_deny(profile.read, policy.deny_read, [])
        yield from under_a_deny(profile.modify, policy.denies(), policy.exceptions())
        yield from under_a_negated_read(profile)
    yield from too_narrow([*policy.deny_read, *policy.deny_modify])
    denied = cover(policy.denies())
    for rule in policy.deny_read:
        if not denied.covers(rule.body):
            why = "no denyModify covers it: what cannot be read can be written"
            yield "read-deny-without-modify-deny", rule, why


def too_narrow(rules: Iterable[Rule]) -> Iterator[Warned]:
    """Warn about rules that match no path, and about rules that match only a directory."""
    for rule in rules:
        if matches_nothing(rule.body):
            yield "matches-nothing", rule, "no path begins or ends with a blank"
        if rule.names_folder:
            why = "it matches the directory and no path below it: write `/**` at the end, not `/`"
            yield "nothing-below", rule, why


def matches_nothing(body: str) -> bool:
    return body[0] in " \t" or body[-1] in " \t"


def under_a_deny(
    rules: Iterable[Rule], denies: Iterable[Rule], exceptions: Sequence[Rule]
) -> Iterator[Warned]:
    """Warn about rules that a deny covers.

    There is no warning if an exception permits some of the paths again.
    """
    denied = cover(denies)
    given_back = cover(exceptions)
    holds_one = {body for rule in exceptions for body in all_around(rule.body)}
    for rule in positive(rules):
        is_open = rule.body in holds_one or given_back.covers(rule.body)
        if denied.others_cover(rule.body) and not is_open:
            yield "under-deny", rule, "it lies under a global deny and allows nothing"


def under_a_negated_read(profile: Profile) -> Iterator[Warned]:
    """Warn about a modify rule if the last read rule that covers it is negated, and an earlier one
    permits it."""
    numbered = list(enumerate(profile.read))
    allowing = Cover((number, rule) for number, rule in numbered if not rule.negated)
    negated = Cover((number, rule) for number, rule in numbered if rule.negated)
    for rule in positive(profile.modify):
        if negated.last(rule.body) > allowing.last(rule.body) >= 0:
            why = "a negated read rule covers it: it can be written but not read"
            yield "modify-under-negated-read", rule, why

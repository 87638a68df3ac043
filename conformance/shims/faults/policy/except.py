"""Faults of exceptions."""

import policy.decide as deciding
import policy.glob as glob
import policy.judge as judge
from faults.policy.narrow import During
from faults.policy.written import are_written_alike, keep_spellings
from faults.registry import fault, replaces

checking = During("policy.check")


@fault("POLICY-EXCEPT-01", "an exception may have wildcards", "a rule is a rule")
def exceptions_with_wildcards():
    judge.is_plain = lambda body: True


@fault("POLICY-EXCEPT-02", "an exception may stand anywhere", "the author will know")
def exceptions_anywhere():
    judge.holds = lambda deny, rule: True

    @replaces(judge)
    def exception(original, file, rule, earlier, is_workspace):
        original(file, rule, earlier, is_workspace or not judge.positive(earlier))


@fault("POLICY-EXCEPT-02", "an exception may stand before its deny", "the list as a set")
def later_denies_count():
    @replaces(judge)
    def exception(original, file, rule, earlier, is_workspace):
        original(file, rule, file.policy.deny_modify, is_workspace)


@fault("POLICY-EXCEPT-02", "an exception may equal its deny", "equal is inside")
def equal_is_inside():
    @replaces(judge)
    def holds(original, deny, rule):
        return deny.body == rule.body or original(deny, rule)


@fault(
    "POLICY-EXCEPT-02",
    "an exception `Q/**` is accepted if a deny matches Q alone",
    "the subtree forgotten",
)
def deny_of_the_top_is_enough():
    @replaces(judge)
    def holds(original, deny, rule):
        place = judge.below(rule.body)
        if place is None or deny.body == rule.body:
            return original(deny, rule)
        return glob.matches(deny.body, place)


@fault("POLICY-EXCEPT-03", "inside an exception matched_rule is the exception", "the last match")
def exception_names_itself():
    def change(decision, exception):
        decision.matched_rule = exception.rule.body

    inside(change)


@fault("POLICY-EXCEPT-03", "inside an exception the rule before it decides", "skipped, no more")
def exception_is_skipped():
    asking_again(lambda entries: [entry for entry in entries if entry.sign != "except"])


@fault(
    "POLICY-EXCEPT-04", "an exception allows the path by itself", "`!` of a deny read as an allow"
)
def exception_allows():
    def change(decision, exception):
        decision.allowed = True

    inside(change)


@fault(
    "POLICY-EXCEPT-04",
    "inside an exception negated rules of the profile are ignored",
    "signs forgotten",
)
def negations_are_lost():
    asking_again(lambda entries: [entry for entry in entries if entry.sign == "+"])


@fault(
    "POLICY-EXCEPT-04",
    "inside an exception negated rules with wildcards are ignored",
    "compared by prefix",
)
def wild_negations_are_lost():
    def kept(entry):
        return entry.origin == "profile" and (entry.sign == "+" or judge.is_plain(entry.rule.body))

    asking_again(lambda entries: [entry for entry in entries if kept(entry)])


@fault("POLICY-EXCEPT-05", "an exception overrides every deny", "exceptions looked up first")
def exceptions_win():
    @checking.replaces(deciding)
    def last_match(original, entries, text, fold):
        for entry in entries:
            if entry.sign == "except" and not fold and entry.matches(text, fold):
                return deciding.inside_exception(entries, text, fold)
        return original(entries, text, fold)


def inside(change):
    @checking.replaces(deciding)
    def decide(original, entries, path, fold):
        decision = original(entries, path, fold)
        text = glob.Text(path, fold)
        last = next((entry for entry in reversed(entries) if entry.matches(text, fold)), None)
        if last is not None and last.sign == "except" and not fold:
            change(decision, last)
        return decision


def asking_again(choose):
    """Decide inside an exception by the list that `choose` returns."""

    @checking.replaces(deciding)
    def inside_exception(original, entries, text, fold):
        if fold:
            return original(entries, text, fold)
        return deciding.last_match(choose(entries), text, fold)


@fault(
    "POLICY-EXCEPT-04",
    "in a long list denies are considered again inside an exception",
    "one matcher, not two",
)
def long_lists_have_no_holes():
    def choose(entries):
        if len(entries) <= 60:
            return deciding.of_profile(entries)
        return [entry for entry in entries if entry.sign != "except"]

    asking_again(choose)


@fault(
    "POLICY-EXCEPT-02",
    "a deny and its exception are compared before they are normalised",
    "too early",
)
def equal_in_other_words():
    keep_spellings()

    @replaces(judge)
    def holds(original, deny, rule):
        is_other = deny.body == rule.body and not are_written_alike(deny, rule)
        return is_other or original(deny, rule)


@fault(
    "POLICY-EXCEPT-02",
    "an exception for the root is accepted although the deny is only `*`",
    "the root is no empty path",
)
def root_lies_in_stars():
    @replaces(judge)
    def holds(original, deny, rule):
        return original(deny, rule) or (rule.body == "." and deny.body in ("*", "?", ".*"))

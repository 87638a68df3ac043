"""Faults of the text as a whole."""

import os
import sys

import policy.decide as decide
import policy.judge as judge
import sbpl.clauses as clauses
import sbpl.filters as filters
import sbpl.ops as ops
from errors import Failed
from faults.registry import changed, fault, replaces
from faults.sbpl.parts import replaces_part


def texts(change):
    """Change the text, but not for requests with a provider, because those test names."""

    @replaces(clauses)
    def compile_text(original, given):
        text = original(given)
        return text if given.provider else change(text)


def head(*lines):
    texts(lambda text: text.replace("\n".join(clauses.HEAD), "\n".join(lines)))


VERSION, DEFAULT = clauses.HEAD


@fault("SBPL-FORM-01", "there is no `(deny default)`", "Seatbelt denies it anyway")
def no_default():
    head(VERSION)


@fault("SBPL-FORM-01", "a clause stands before `(deny default)`", "a form for debugging")
def debug_before_the_default():
    head(VERSION, "(debug deny)", DEFAULT)


@fault("SBPL-FORM-01", "the default has a message", "to find it in the log")
def default_with_a_message():
    head(VERSION, '(deny default (with message "boxspec"))')


def without(operation):
    clauses.BROAD = tuple(each for each in clauses.BROAD if each != operation)


def instead(operation, other):
    clauses.BROAD = tuple(other if each == operation else each for each in clauses.BROAD)


@fault("SBPL-FORM-02", "there is no allow for the network", "a profile copied from a stricter one")
def network_is_off():
    without("network*")


@fault("SBPL-FORM-02", "there is no allow to inspect processes", "process-exec only")
def processes_cannot_be_asked():
    instead("process*", "process-exec*")


@fault("SBPL-FORM-02", "there is no allow to write to sysctl", "sysctl-read only")
def sysctl_is_read_only():
    instead("sysctl*", "sysctl-read")


@fault("SBPL-FORM-02", "there is no allow for signals", "forgotten in a list of ten")
def signals_are_forgotten():
    without("signal")


@fault("SBPL-FORM-03", "every system-mac-syscall is allowed", "the filter was hard to find out")
def mac_syscalls_unfiltered():
    @replaces_part("mac_syscalls")
    def mac_syscalls(lines, given):
        return ["(allow system-mac-syscall)"]


@fault("SBPL-FORM-03", "every call of the policy Sandbox is allowed", "the number left out")
def any_call_of_sandbox():
    clauses.MAC_SYSCALLS = (clauses.MAC_SYSCALLS[0], '(mac-policy-name "Sandbox")')


@fault("SBPL-FORM-03", "there is no allow for the policy vnguard", "newer than the profile")
def vnguard_is_forgotten():
    clauses.MAC_SYSCALLS = clauses.MAC_SYSCALLS[1:]


@fault("SBPL-FORM-04", "a comment names the generator", "generated files")
def comment_in_the_text():
    head(VERSION, DEFAULT, "; made by a program")


@fault("SBPL-FORM-04", "the last line does not end", "join instead of a loop")
def last_line_does_not_end():
    texts(lambda text: text[:-1])


@fault("SBPL-FORM-04", "lines end with CR LF", "a text mode")
def lines_end_in_two():
    texts(lambda text: text.replace("\n", "\r\n"))


@fault("SBPL-FORM-04", "several operations in a clause", "shorter")
def one_clause_for_all_operations():
    @replaces_part("broad")
    def broad(lines, given):
        return lines if given.provider else [f"(allow {' '.join(clauses.BROAD)})"]


@fault(
    "SBPL-FORM-05",
    "the order of scratch directories differs between runs",
    "a set literal, hashes of strings",
)
def order_of_a_set():
    places = set(clauses.SCRATCH) | {f"/private/var/{name}/T" for name in "abcdef"}

    @replaces_part("scratch")
    def scratch(lines, given):
        first = [line for line in lines if any(f'"{place}"' in line for place in clauses.SCRATCH)]
        order = [place for place in places if place in clauses.SCRATCH]
        ranked = sorted(first, key=lambda line: order.index(line.split('"')[1]))
        return ranked + [line for line in lines if line not in first]


@fault("SBPL-FORM-05", "the order follows the members of env", "a loop over the object")
def order_of_the_members():
    @replaces(ops)
    def take_env(original, reader):
        field = "env_b64" if "env_b64" in reader.fields else "env"
        names = list(reader.fields.get(field, {}))
        found = original(reader)
        return {name: found[name] for name in names if name in found}

    @replaces_part("state")
    def state(lines, given):
        values = list(given.env.values())

        def rank(line):
            place = line.split('"')[1]
            return values.index(place) if place in values else len(values)

        return sorted(lines, key=rank)


@fault("SBPL-FORM-05", "the order differs between run and serve", "two code paths")
def run_has_another_order():
    serving = "serve" in sys.argv

    @replaces_part("scratch")
    def scratch(lines, given):
        return lines if serving else lines[::-1]


@fault(
    "SBPL-FORM-06", "a deny of sysctl-write stands before the allow of all of sysctl", "hardening"
)
def sysctl_write_is_denied_first():
    @replaces_part("broad")
    def broad(lines, given):
        return ["(deny sysctl-write)", *lines]


@fault("SBPL-FORM-06", "a deny of network-bind stands before the allow of the network", "hardening")
def binding_is_denied_first():
    @replaces_part("broad")
    def broad(lines, given):
        return ["(deny network-bind)", *lines]


@fault("SBPL-FORM-06", "a filtered clause stands before the one without a filter", "grown by time")
def filtered_first():
    @replaces_part("broad")
    def broad(lines, given):
        return ['(deny network-outbound (literal "/private/var/run/locked"))', *lines]


@fault("SBPL-FORM-07", "an unknown profile is the unrestricted one", "a default")
def unknown_profile_is_unrestricted():
    @replaces(ops.decide)
    def Resolved(original, policy, name):
        return original(policy, name if name in policy.profiles else None)


@fault("SBPL-FORM-07", "blanks around the name of a profile do not count", "strip")
def profile_is_trimmed():
    @replaces(ops.decide)
    def Resolved(original, policy, name):
        return original(policy, name and name.strip())


@fault("SBPL-FORM-07", "the built-in profile is found without case", "lower")
def built_in_profile_without_case():
    @replaces(ops.decide)
    def Resolved(original, policy, name):
        return original(policy, name if name in policy.profiles else name and name.lower())


@fault("SBPL-FORM-07", "wrong rules of a policy are left out", "one bad rule must not stop all")
def wrong_rules_are_left_out():
    @replaces(ops)
    def compile_(original, shim, reader):
        try:
            return original(shim, reader)
        except Failed as failure:
            if not any("/spec" in p["pointer"] for p in failure.problems or ()):
                raise
            return {"result": {"text": "(version 1)\n(deny default)\n"}}


@fault("SBPL-FORM-07", "an invalid policy is reported as a system error", "one kind for all")
def wrong_policy_is_io():
    @replaces(ops.merge)
    def refusal(original, problems):
        return Failed("io", "the policy cannot be read", problems)


@fault("SBPL-FORM-08", "a policy file's rules are sorted", "a set on the way")
def rules_of_a_file_are_sorted():
    of_a_file(lambda entries: sorted(entries, key=lambda entry: entry.rule.body))


@fault("SBPL-FORM-08", "the global denies of a file are not compiled", "only the profile")
def denies_of_a_file_are_lost():
    of_a_file(lambda entries: [each for each in entries if each.origin == "profile"])


def of_a_file(change):
    @replaces(ops)
    def take_profile(original, reader):
        from_rules = "rules" in reader.fields
        resolved = original(reader)
        if not from_rules:
            resolved.read, resolved.modify = change(resolved.read), change(resolved.modify)
        return resolved


def in_locale(name, change):
    @replaces(clauses)
    def compile_text(original, given):
        text = original(given)
        return change(text) if os.environ.get("LC_ALL", "").startswith(name) else text


@fault(
    "SBPL-FORM-05", "in the locale C letters that are not ASCII become question marks", "wcstombs"
)
def letters_of_the_locale():
    in_locale("C", lambda text: text.encode("ascii", "replace").decode())


@fault("SBPL-FORM-05", "in a Turkish locale an I is folded as in Turkish", "towlower")
def folds_as_the_locale():
    in_locale("tr", lambda text: text.replace("[iI]", "(i|\u0130)").replace("[Ii]", "(i|\u0130)"))


@fault("SBPL-FORM-08", "the policy of a workspace is not compiled", "one of several callers forgot")
def workspace_is_not_compiled():
    @replaces(ops)
    def take_texts(original, reader):
        return original(reader)[0], None


def broader(*more):
    @replaces_part("broad")
    def broad(lines, given):
        return [*more, *lines]


@fault(
    "SBPL-FORM-09",
    "all file operations are allowed, and then writing is denied",
    "as if all were one",
)
def links_are_no_writes():
    broader("(allow file*)", "(deny file-write*)")


@fault("SBPL-FORM-09", "there is an allow to read and write preferences", "a program complained")
def preferences_are_open():
    broader("(allow user-preference*)")


@fault(
    "SBPL-FORM-09", "there is an allow to make hard links below the root", "git makes hard links"
)
def links_in_the_root():
    @replaces_part("guard")
    def guard(lines, given):
        return [f"(allow file-link {clauses.subpath(given.root, '/root')})", *lines]


@fault("SBPL-FORM-05", "a filter is remembered without the case of its request", "a cache key")
def a_filter_is_remembered_without_its_case():
    known = {}

    @replaces(filters.Filters)
    def of(original, self, entry, denied):
        key = self.root, entry.rule.body, denied
        if key not in known:
            known[key] = original(self, entry, denied)
        return known[key]


def rules_without(check):
    """Leave out a check of the policy for a request with `rules`."""

    @replaces(ops)
    def policy_of_rules(original, reader):
        with changed(judge, **{check: lambda *given: None}):
            return original(reader)


@fault("SBPL-FORM-07", "whether read rules cover is not checked for `rules`", "a file's check")
def rules_need_no_cover():
    rules_without("uncovered")


@fault("SBPL-FORM-07", "rules that equal a deny are accepted in `rules`", "a file's check")
def rules_may_equal_a_deny():
    rules_without("equals_a_deny")


@fault("SBPL-FORM-07", "exceptions in `rules` are not checked", "a file's check")
def exceptions_of_rules_are_free():
    rules_without("exception")


@fault("SBPL-FORM-08", "without `profile` the first profile is compiled", "next(iter(profiles))")
def the_first_profile_is_the_default():
    @replaces(decide.Resolved, "__init__")
    def first(original, self, policy, name):
        original(self, policy, next(iter(policy.profiles), None) if name is None else name)

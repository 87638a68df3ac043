"""Faults in explaining."""

import policy.decide as decide
import policy.ops as ops
from errors import Failed
from faults.registry import fault, replaces
from policy.spelling import Refused


def telling(change):
    @replaces(decide)
    def explained(original, entry, decision, text, fold):
        return original(entry, decision, text, fold) | change(entry, decision)


@fault("POLICY-EXPLAIN-01", "only entries that match are listed", "a filter for brevity")
def only_what_matched():
    @replaces(decide)
    def explain(original, *given):
        told = original(*given)
        return told | {"entries": [each for each in told["entries"] if each["matched"]]}


@fault("POLICY-EXPLAIN-01", "the entries are listed in reverse order", "as it is walked")
def list_is_told_backwards():
    @replaces(decide)
    def explain(original, *given):
        told = original(*given)
        return told | {"entries": told["entries"][::-1]}


@fault(
    "POLICY-EXPLAIN-01",
    "entries after the deciding one are reported as not matching",
    "later entries are not matched",
)
def only_the_deciding_one_matched():
    telling(lambda entry, decision: {"matched": entry is decision.deciding})


@fault("POLICY-EXPLAIN-02", "an exception is reported as a deny", "both are in denyModify")
def exceptions_are_denies():
    telling(lambda entry, _: {"origin": "denyModify"} if entry.sign == "except" else {})


@fault(
    "POLICY-EXPLAIN-02",
    "after a merge every entry is reported as global",
    "no place kept for the file",
)
def everything_is_global():
    telling(lambda entry, _: {"file": "global"} if entry.rule.file == "workspace" else {})


@fault("POLICY-EXPLAIN-02", "denies are reported as rules of the profile", "one list, one origin")
def everything_is_of_the_profile():
    telling(lambda entry, _: {"origin": "profile"} if entry.sign == "-" else {})


@fault("POLICY-EXPLAIN-03", "the line is one too large", "read after parsing")
def line_behind_the_rule():
    telling(lambda entry, _: {"line": entry.rule.line + 1} if entry.rule.line else {})


@fault("POLICY-EXPLAIN-03", "each rule of the workspace has the line of its list", "one place")
def lines_of_lists():
    @replaces(decide)
    def explain(original, *given):
        told = original(*given)
        first: dict[str, int] = {}
        for each in told["entries"]:
            if each.get("file") == "workspace":
                each["line"] = first.setdefault(each["origin"], each["line"])
        return told


@fault("POLICY-EXPLAIN-03", "an entry that stands in no file has line 1", "a default")
def synthesised_line_1():
    telling(lambda entry, _: {} if entry.rule.line else {"line": 1})


@fault("POLICY-EXPLAIN-04", "an exception is reported as deciding", "the last match")
def exception_decides():
    @replaces(decide)
    def explain(original, *given):
        told = original(*given)
        matched = [each for each in told["entries"] if each["matched"]]
        if matched and isinstance(matched[-1]["rule"], dict):
            for each in told["entries"]:
                each["deciding"] = each is matched[-1]
        return told


@fault(
    "POLICY-EXPLAIN-04",
    "if no entry matched the last one is reported as deciding",
    "an index of -1",
)
def last_entry_decides():
    @replaces(decide)
    def explain(original, *given):
        told = original(*given)
        if told["entries"] and not any(each["deciding"] for each in told["entries"]):
            told["entries"][-1]["deciding"] = True
        return told


@fault(
    "POLICY-EXPLAIN-04",
    "every entry that matched is reported as deciding",
    "two words for one thing",
)
def all_that_matched_decide():
    @replaces(decide)
    def explain(original, *given):
        told = original(*given)
        entries = [each | {"deciding": each["matched"]} for each in told["entries"]]
        return told | {"entries": entries}


@fault(
    "POLICY-EXPLAIN-01",
    "the explanation ignores the option fold",
    "an option that is not passed on",
)
def explains_without_folding():
    @replaces(ops)
    def explanation_of(original, resolved, each, fold):
        return original(resolved, each, False)


@fault(
    "POLICY-EXPLAIN-01",
    "a glob of more than 64 parts is reported as not matching",
    "states in a word",
)
def long_globs_do_not_match():
    def change(entry, decision):
        return {"matched": False} if len(entry.rule.body) > 64 else {}

    telling(change)


@fault("POLICY-EXPLAIN-01", "the root is reported to match `*`", "the root as the name `.`")
def root_is_a_name():
    def change(entry, decision):
        return {"matched": True} if decision.path == "." and entry.rule.body == "*" else {}

    telling(change)


@fault("POLICY-EXPLAIN-01", "one refused path fails the batch", "an uncaught exception")
def refused_path_fails_all():
    wrong = []

    @replaces(ops)
    def explanation_of(original, resolved, each, fold):
        try:
            return original(resolved, each, fold)
        except Refused as why:
            wrong.append(str(why))
            raise

    @replaces(ops)
    def explain(original, shim, reader):
        wrong.clear()
        answer = original(shim, reader)
        if wrong:
            raise Failed("invalid_input", wrong[0])
        return answer


@fault("POLICY-EXPLAIN-01", "a name such as `#*` in a rule is explained as `**`", "< for ==")
def two_stars_by_their_order():
    def change(entry, decision):
        segments = entry.rule.body.split("/")
        wide = [each for each in segments if len(each) == 2 and each[0] < "*" and each[1] == "*"]
        return {"matched": True} if wide and decision.path == "x/a/b/y" else {}

    telling(change)


@fault("POLICY-EXPLAIN-03", "equal rules of a file have the line of the first", "found by text")
def equal_rules_have_one_line():
    @replaces(decide)
    def explain(original, resolved, op, data, fold):
        made = original(resolved, op, data, fold)
        lines: dict[object, object] = {}
        for entry in made["entries"]:
            key = (str(entry["rule"]), entry["origin"], entry["file"])
            entry["line"] = lines.setdefault(key, entry["line"])
        return made

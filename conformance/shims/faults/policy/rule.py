"""Faults of the normal form of rules."""

import policy.load as load
import policy.spelling as spelling
from faults.registry import changed, fault, replaces
from policy.spelling import BLANKS


def in_rules_only(name):
    """Replace a helper of the module spelling, but only while a rule is read. Paths use the
    original."""

    def install(function):
        right = getattr(spelling, name)

        @replaces(load)
        def split_rule(original, text):
            with changed(spelling, **{name: lambda *given: function(right, *given)}):
                return original(text)

        return function

    return install


@fault("POLICY-RULE-01", "blanks around a rule are kept", "no trimming")
def blanks_stay():
    @replaces(load)
    def split_rule(original, text):
        negated, body = original(text)
        core = text.strip(BLANKS)
        before = text[: len(text) - len(text.lstrip(BLANKS))]
        return (negated, body) if core == text or core[0] in "!." else (negated, before + body)


@fault("POLICY-RULE-01", "blanks after the `!` are kept", "trimmed once")
def blanks_behind_the_bang_stay():
    @replaces(load)
    def split_rule(original, text):
        negated, body = original(text)
        behind = text.strip(BLANKS)[1:]
        return negated, " " + body if negated and behind[0] in BLANKS else body


@fault("POLICY-RULE-01", "a backslash escapes the next character", "gitignore")
def backslash_quotes():
    @in_rules_only("slashes")
    def slashes(right, text):
        return text.replace("\\", "")


@fault("POLICY-RULE-01", "no-break spaces are trimmed, too", "String.trimStart")
def trims_every_kind_of_space():
    @replaces(load)
    def split_rule(original, text):
        return original(text.lstrip("\u00a0\u2003\u3000"))


@fault("POLICY-RULE-02", "`.` segments of a rule are kept", "only the path is normalised")
def dot_segments_stay():
    @in_rules_only("segments")
    def segments(right, text):
        found = right(text)
        return text.strip("/").split("/") if "/./" in text and "//" not in text else found


@fault("POLICY-RULE-02", "doubled separators of a rule are kept", "only the path is normalised")
def doubled_separators_stay():
    @in_rules_only("segments")
    def segments(right, text):
        found = right(text)
        return text.rstrip("/").split("/") if "//" in text.rstrip("/") else found


@fault("POLICY-RULE-02", "the rule `.` matches every path", "the root taken for its contents")
def root_is_everything():
    @replaces(load)
    def split_rule(original, text):
        negated, body = original(text)
        return negated, "**" if body == "." else body


@fault("POLICY-RULE-03", "an empty rule matches every path", "the empty prefix")
def empty_rule_is_everything():
    @replaces(load)
    def split_rule(original, text):
        return original(text.strip(BLANKS) or "**")


@fault("POLICY-RULE-03", "a rule `!` is skipped", "continue on empty")
def bang_alone_denies_nothing():
    @replaces(load.File)
    def rule(original, self, node, pointer):
        if node.kind == "string" and node.value.strip(BLANKS) == "!":
            return None
        return original(self, node, pointer)


@fault("POLICY-RULE-03", "`!!x` is read as x", "a loop over the signs")
def two_bangs_cancel():
    @replaces(load)
    def split_rule(original, text):
        core = text.strip(BLANKS)
        while core[:1] == "!" and core[1:].lstrip(BLANKS)[:1] == "!":
            core = core[1:].lstrip(BLANKS)[1:]
        return original(core)


@fault("POLICY-RULE-04", "an absolute rule is resolved from the root of the workspace", "gitignore")
def absolute_is_relative():
    @replaces(load)
    def split_rule(original, text):
        core = text.strip(BLANKS)
        return original(core.lstrip("/") if len(core) > 1 else core)


@fault("POLICY-RULE-04", "a leading `~` counts as a name", "no shell here")
def home_is_a_name():
    @in_rules_only("refuse_foreign")
    def refuse_foreign(right, text):
        right(text.removeprefix("~") or "x" if text[1:2] != "/" else "x" + text)


@fault("POLICY-RULE-04", "a drive prefix counts as a name", "POSIX only")
def drive_is_a_name():
    @in_rules_only("refuse_foreign")
    def refuse_foreign(right, text):
        right(text.replace(":", "_"))


@fault("POLICY-RULE-04", "a rule is checked before its backslashes are replaced", "the wrong order")
def checked_before_replaced():
    @replaces(load)
    def split_rule(original, text):
        core = text.strip(BLANKS)
        return original(core.lstrip("\\") if core.startswith("\\") else core)


@fault(
    "POLICY-RULE-04",
    "a rule is checked before segments are removed, not after",
    "checked once, before",
)
def checked_before_dropped():
    @in_rules_only("refuse_foreign")
    def refuse_foreign(right, text):
        seen.append(text)
        if len(seen) % 2:
            right(text)

    seen: list[str] = []

    @replaces(load)
    def split_rule(original, text):
        seen.clear()
        return original(text)


@fault("POLICY-RULE-05", "`..` is resolved instead of refused", "path.Clean")
def dot_dot_is_resolved():
    @in_rules_only("segments")
    def segments(right, text):
        kept: list[str] = []
        for name in text.split("/"):
            if name == ".." and kept:
                kept.pop()
            elif name not in ("", ".", ".."):
                kept.append(name)
        return kept


@fault("POLICY-RULE-05", "two dots are refused in names too", "a search for `..`")
def dots_in_names_are_refused():
    @replaces(load)
    def split_rule(original, text):
        if ".." in text:
            raise spelling.Refused("has `..`")
        return original(text)


@fault("POLICY-RULE-05", "a `..` segment counts as a name", "only the path is checked")
def dot_dot_is_a_name():
    @in_rules_only("segments")
    def segments(right, text):
        return [name for name in text.split("/") if name not in ("", ".")]


@fault("POLICY-RULE-01", "a carriage return at the end is dropped", "lines of Windows")
def carriage_return_is_dropped():
    @replaces(load)
    def split_rule(original, text):
        return original(text.removesuffix("\r"))


@fault("POLICY-RULE-04", "a backslash in front of a sign escapes it", "gitignore")
def escaped_sign_is_a_name():
    @replaces(load)
    def split_rule(original, text):
        return original("./" + text[1:] if text.startswith("\\!") else text)


@fault("POLICY-RULE-02", "neighbouring `**` segments become one", "one meaning, one spelling")
def deep_segments_are_merged():
    @replaces(load)
    def split_rule(original, text):
        negated, body = original(text)
        while "**/**" in body:
            body = body.replace("**/**", "**")
        return negated, body

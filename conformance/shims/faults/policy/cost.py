"""Faults that make a decision take far too long."""

import os

import policy.decide as decide
import policy.fold as folding
import policy.glob as glob
import policy.judge as judge
import policy.ops as ops
import policy.source as source
from faults.registry import fault, replaces
from policy.glob import ANY_NAME, ANYTHING, BELOW, ONE, SEGMENTS, STAR


def search(pieces, text, i, j):
    """Match by backtracking, without remembering failed attempts."""
    while i < len(pieces) and pieces[i] not in (ANY_NAME, ANYTHING, BELOW, SEGMENTS, STAR):
        if j == len(text) or (text[j] == "/" if pieces[i] == ONE else text[j] != pieces[i]):
            return False
        i, j = i + 1, j + 1
    if i == len(pieces):
        return j == len(text)
    return any(search(pieces, text, i + 1, k) for k in ways(pieces[i], text, j))


def ways(piece, text, j):
    if piece == BELOW:
        return [len(text)] if j == len(text) or text[j] == "/" else []
    if piece == SEGMENTS:
        return [j, *(k + 1 for k in range(j, len(text)) if text[k] == "/")]
    end = len(text) + 1
    if piece != ANYTHING and "/" in text[j:]:
        end = text.index("/", j) + 1
    return range(j + (piece == ANY_NAME), end)


@fault("POLICY-COST-01", "for each star every end is tried again", "backtracking: CVE-2022-3517")
def backtracks():
    @replaces(ops)
    def matched(original, compiled, path, fold):
        text = glob.Text(ops.normal_path(path), fold).text
        return {"match": search(compiled.pieces, text, 0, 0)}


@fault(
    "POLICY-COST-01",
    "only adjacent stars are collapsed; for each other star every end is tried again",
    "CVE-2026-26996",
)
def collapsing_is_not_enough():
    @replaces(ops)
    def matched(original, compiled, path, fold):
        text = glob.Text(ops.normal_path(path), fold).text
        pairs = zip(compiled.pieces, ["", *compiled.pieces], strict=False)
        pieces = [piece for piece, before in pairs if piece != ANYTHING or piece != before]
        return {"match": search(pieces, text, 0, 0)}


@fault("POLICY-COST-02", "each rule is compared with all later ones first", "loops")
def every_rule_asks_all_later_ones():
    @replaces(decide)
    def last_match(original, entries, text, fold):
        def overridden(i):
            return any(later.matches(text, fold) for later in entries[i + 1 :])

        standing = [entry for i, entry in enumerate(entries) if not overridden(i)]
        has_exception = any(entry.sign == "except" for entry in entries)
        return original(entries if has_exception else standing, text, fold)


@fault("POLICY-COST-02", "each rule is compared with each other one", "nested loops")
def every_rule_with_every_other():
    @replaces(judge)
    def validate(original, file, is_workspace=False):
        policy = file.policy
        rules = [*policy.deny_read, *policy.deny_modify]
        for profile in policy.profiles.values():
            rules += profile.rules()
        for rule in rules:
            sum(glob.matches(other.body, rule.body) for other in rules)
        original(file, is_workspace)


@fault("POLICY-COST-02", "keys are hashed by their last letters only", "weak hashes")
def keys_are_filed_by_their_ends():
    @replaces(source.Open)
    def add(original, self, node):
        if self.key is not None:
            end = self.key[0][-8:]
            sum(name.endswith(end) for name in self.names)
        original(self, node)


def tries_each_pair_of_places(text):
    """Take as long as an algorithm that tries all pairs of positions."""
    return sum(text[i] == text[k] for i in range(len(text)) for k in range(i))


@fault("POLICY-COST-01", "each pair of positions is tried and cached", "lru_cache")
def slow_answers_are_kept():
    kept = {}

    @replaces(ops)
    def matched(original, compiled, path, fold):
        key = "".join(map(str, compiled.pieces)), path, fold
        if key not in kept:
            tries_each_pair_of_places(path.decode(errors="replace"))
            kept[key] = original(compiled, path, fold)
        return dict(kept[key])


@fault(
    "POLICY-COST-01", "each pair of positions is tried, by a helper program", "a helper that greps"
)
def a_helper_is_slow():
    @replaces(ops)
    def matched(original, compiled, path, fold):
        child = os.fork()
        if child == 0:
            tries_each_pair_of_places(path.decode(errors="replace"))
            os._exit(0)
        os.waitpid(child, 0)
        return original(compiled, path, fold)


@fault(
    "POLICY-COST-02", "each rule is compared with each other one, once per list", "a cache by text"
)
def compared_lists_are_kept():
    kept = set()

    @replaces(judge)
    def validate(original, file, is_workspace=False):
        bodies = tuple(rule.body for rule in file.policy.deny_read)
        if bodies not in kept:
            kept.add(bodies)
            for body in bodies:
                sum(other.startswith(body) or other.endswith(body) for other in bodies)
        original(file, is_workspace)


@fault("POLICY-COST-01", "each mark is moved over all earlier ones", "normalize: insertion sort")
def marks_are_sorted_by_insertion():
    @replaces(folding)
    def composed(original, text):
        return folding.normalize("NFC", text)

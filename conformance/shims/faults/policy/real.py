"""Faults in resolving the real place of a path."""

import os

import policy.decide as decide
import policy.merge as merge
import policy.real as real
from errors import Failed
from faults.policy.narrow import During
from faults.registry import changed, fault, replaces
from policy.spelling import Refused


@fault("POLICY-REAL-01", "only the path as written is checked", "lexical policies")
def only_the_words():
    @replaces(real)
    def check_resolved(original, resolved, op, data, fold, root, follow):
        answer = original(resolved, op, data, fold, root, follow)
        if answer["real"] is None:
            return answer
        words = real.decide(resolved.entries(op), answer["path"], fold)
        return words.as_json() | {"real": answer["real"]}


@fault("POLICY-REAL-01", "only the real path is checked", "realpath, then check")
def only_the_place():
    @replaces(real)
    def check_resolved(original, resolved, op, data, fold, root, follow):
        answer = original(resolved, op, data, fold, root, follow)
        if answer["real"] is None:
            return answer
        place = real.decide(resolved.entries(op), answer["real"], fold)
        return answer | {"allowed": place.allowed, "matched_rule": place.matched_rule}


@fault("POLICY-REAL-08", "links in denies are not followed", "links of rules are not followed")
def denies_only_as_written():
    @replaces(real)
    def where_it_leads(original, root, body):
        return body


@fault("POLICY-REAL-08", "only a link at the end of a deny is followed", "readlink of the rule")
def denies_without_links_above():
    @replaces(real)
    def where_it_leads(original, root, body):
        return original(root, body) if "/" not in body else body


@fault(
    "POLICY-REAL-02", "a real path outside the root is not refused", "no rule for it, no objection"
)
def outside_the_words_decide():
    @replaces(real)
    def check_resolved(original, resolved, op, data, fold, root, follow):
        answer = original(resolved, op, data, fold, root, follow)
        if answer["real"] is not None or data.startswith(b"/"):
            return answer
        return real.decide(resolved.entries(op), answer["path"], fold).as_json() | {"real": None}


@fault(
    "POLICY-REAL-02",
    "a directory whose name begins like the root's counts as inside",
    "starts_with",
)
def root_without_boundary():
    def is_inside(root, place):
        return (b"/" + b"/".join(place)).startswith(b"/" + b"/".join(root))

    inside_of_links_only(is_inside)


def inside_of_links_only(mistaken):
    @replaces(real)
    def check_resolved(original, *given):
        if given[2].startswith(b"/"):
            return original(*given)
        with changed(real, is_inside=mistaken):
            return original(*given)


@fault("POLICY-REAL-02", "a real path outside the root is an error", "no answer for strangers")
def outside_is_an_error():
    @replaces(real)
    def outside(original, path):
        raise Failed("io", "lies outside of the root")


@fault("POLICY-REAL-03", "absolute paths are refused", "as check does")
def absolute_paths_are_refused():
    @replaces(real)
    def path_of(original, root, data):
        if data.startswith(b"/"):
            raise Refused("is absolute")
        return original(root, data)


@fault("POLICY-REAL-03", "an absolute path is inside when it begins like the root", "starts_with")
def absolute_without_boundary():
    @replaces(real)
    def path_of(original, root, data):
        given = b"/" + b"/".join(root.given)
        if data.startswith(given) and data != given:
            return original(root, data[len(given) :].lstrip(b"/"))
        return original(root, data)


@fault(
    "POLICY-REAL-03", "`..` in a request is followed instead of refused", "the kernel knows better"
)
def dot_dot_is_walked():
    @replaces(real)
    def path_of(original, root, data):
        if b".." not in data.split(b"/") or data.startswith(b"/"):
            return original(root, data)
        place = real.walk(root.real, real.names(data))
        below = root.below(place)
        return None if below is None else original(root, b"/".join(below) or b".")


@fault(
    "POLICY-REAL-04", "a dangling link counts as a file of its own", "exists() before readlink()"
)
def dangling_link_is_a_file():
    @replaces(real)
    def link_at(original, place, name):
        return original(place, name) if os.path.exists(b"/" + b"/".join([*place, name])) else None


@fault("POLICY-REAL-04", "a missing file is an error", "realpath without -m")
def missing_is_an_error():
    @replaces(real)
    def link_at(original, place, name):
        path = b"/" + b"/".join([*place, name])
        if not os.path.lexists(path):
            raise Failed("io", f"{path.decode(errors='replace')}: No such file or directory")
        return original(place, name)


@fault("POLICY-REAL-05", "parent follows the last component, too", "one walk for all")
def parent_follows_all():
    @replaces(real)
    def walk(original, start, wanted, follow="final"):
        return original(start, wanted)


@fault("POLICY-REAL-05", "parent follows a link that lies in the root itself", "a path of one name")
def parent_follows_links_of_the_root():
    @replaces(real)
    def walk(original, start, wanted, follow="final"):
        return original(start, wanted, follow if len(wanted) > 1 else "final")


@fault("POLICY-REAL-05", "parent follows nothing", "O_NOFOLLOW for the whole path")
def parent_follows_nothing():
    @replaces(real)
    def walk(original, start, wanted, follow="final"):
        return [*start, *wanted] if follow == "parent" else original(start, wanted)


@fault("POLICY-REAL-05", "final does not follow the last link either", "lstat for stat")
def final_is_not_followed():
    @replaces(real)
    def walk(original, start, wanted, follow="final"):
        if (
            start
            and follow == "final"
            and wanted
            and real.link_at([*start, *wanted[:-1]], wanted[-1])
        ):
            return original(start, wanted, "parent")
        return original(start, wanted, follow)


@fault("POLICY-REAL-06", "a thousand links are followed", "a limit of one's own")
def thousand_links():
    real.MOST_LINKS = 1000


@fault("POLICY-REAL-06", "after too many links, the link counts as a file", "give up and go on")
def loop_is_a_file():
    @replaces(real)
    def walk(original, start, wanted, follow="final"):
        try:
            return original(start, wanted, follow)
        except Failed:
            return [*start, *wanted]


@fault(
    "POLICY-REAL-06", "links are counted separately for each name", "a counter in the inner loop"
)
def links_of_each_name():
    @replaces(real)
    def walk(original, start, wanted, follow="final"):
        place = list(start)
        for i, name in enumerate(wanted):
            place = original(place, [name], follow if i == len(wanted) - 1 else "final")
        return place


@fault("POLICY-REAL-01", "the real path is cached", "a cache of realpath")
def place_is_remembered():
    found = {}

    @replaces(real)
    def walk(original, start, wanted, follow="final"):
        key = (*start, b"", *wanted, follow)
        if key not in found:
            found[key] = original(start, wanted, follow)
        return list(found[key])


@fault("POLICY-REAL-06", "ten links are too many", "a limit of one's own")
def ten_links():
    real.MOST_LINKS = 10


@fault("POLICY-REAL-07", "only the last component may be a link", "readlink on the path")
def only_the_last_component():
    @replaces(real)
    def walk(original, start, wanted, follow="final"):
        if not start or len(wanted) < 2:
            return original(start, wanted, follow)
        return original([*start, *wanted[:-1]], wanted[-1:], follow)


@fault("POLICY-REAL-07", "relative links start at the root", "joined with the wrong folder")
def links_start_at_the_root():
    @replaces(real)
    def check_resolved(original, resolved, op, data, fold, root, follow):
        right = real.link_at

        def link_at(place, name):
            target = right(place, name)
            if target is None or target.startswith(b"/") or len(place) == len(root.real):
                return target
            return b"/" + b"/".join([*root.real, target])

        with changed(real, link_at=link_at):
            return original(resolved, op, data, fold, root, follow)


@fault(
    "POLICY-REAL-01", "the real path is checked without the option fold", "an option not passed on"
)
def looks_without_folding():
    @replaces(real)
    def check_resolved(original, resolved, op, data, fold, root, follow):
        return original(resolved, op, data, False, root, follow)


@fault("POLICY-REAL-01", "real paths are checked by the global policy only", "a caller forgot")
def links_without_the_workspace():
    @During("policy.check_resolved").replaces(merge)
    def load(original, base, workspace=None):
        return original(base)


@fault(
    "POLICY-REAL-01",
    "with a long list only the profile's rules apply to the real path",
    "built twice",
)
def long_lists_lose_their_denies():
    @replaces(real)
    def check_resolved(original, resolved, op, data, fold, root, follow):
        if len(resolved.entries(op)) <= 40:
            return original(resolved, op, data, fold, root, follow)
        right = real.decide

        def of_profile(entries, *given):
            return right(decide.of_profile(entries), *given)

        with changed(real, decide=of_profile):
            return original(resolved, op, data, fold, root, follow)


@fault("POLICY-REAL-02", "a root that is a link is compared as it is given", "abspath for realpath")
def roots_are_not_resolved():
    @replaces(real.Root, "__init__")
    def init(original, self, data):
        original(self, data)
        self.real = self.given


@fault("POLICY-REAL-03", "an absolute path is compared with one name of the root", "realpath once")
def only_the_resolved_root():
    @replaces(real.Root)
    def below(original, self, place):
        return place[len(self.real) :] if real.is_inside(self.real, place) else None


@fault("POLICY-REAL-08", "a deny through a link to the root itself stays", "an empty place")
def denies_through_the_root_stay():
    @replaces(real)
    def where_it_leads(original, root, body):
        found = original(root, body)
        return body if found is not None and "*" in found and body.endswith(found) else found

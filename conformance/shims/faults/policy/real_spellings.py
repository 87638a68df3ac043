"""Faults of spellings of paths with a root, and of links that lead around the root."""

import policy.real as real
from faults.registry import fault, replaces


@fault("POLICY-REAL-05", "a link is followed if `/.` stands after it", "path_resolution(7)")
def a_dot_follows_the_last_link():
    @replaces(real)
    def check_resolved(original, resolved, op, data, fold, root, follow):
        followed = "final" if data.endswith(b"/.") else follow
        return original(resolved, op, data, fold, root, followed)


@fault("POLICY-REAL-03", "a backslash in an absolute path is a slash", "one separator for all")
def backslashes_of_absolute_paths_are_slashes():
    @replaces(real)
    def absolute(original, data):
        return original(data.replace(b"\\", b"/"))


@fault("POLICY-REAL-03", "blanks at the end of an absolute path are dropped", "strip()")
def absolute_paths_are_stripped():
    @replaces(real)
    def absolute(original, data):
        return original(data.rstrip(b" \t"))


@fault(
    "POLICY-REAL-07", "a target that leaves the root is outside", "compared before it is resolved"
)
def a_way_around_the_root_is_outside():
    @replaces(real)
    def walk(original, start, wanted, follow="final"):
        place = list(start)
        for name in wanted[:1] if start else ():
            target = real.link_at(place, name) or b""
            for part in () if target.startswith(b"/") else real.names(target):
                place = place[:-1] if part == b".." else [*place, part]
                if not real.is_inside(list(start), place):
                    return place
        return original(start, wanted, follow)


@fault("POLICY-REAL-07", "a link to the root itself is outside", "startswith(root + '/')")
def a_link_to_the_root_is_outside():
    @replaces(real)
    def check_resolved(original, resolved, op, data, fold, root, follow):
        made = original(resolved, op, data, fold, root, follow)
        if made.get("real") == "." and made["path"] != ".":
            return real.outside(made["path"])
        return made


@fault("POLICY-REAL-07", "links whose names begin with a dot are not followed", "hidden files")
def hidden_links_are_files():
    @replaces(real)
    def link_at(original, place, name):
        return None if name.startswith(b".") else original(place, name)


@fault("POLICY-REAL-08", "denies of the workspace's file are not resolved", "resolved at load")
def denies_of_a_workspace_stay():
    @replaces(real)
    def at_its_place(original, root, entry):
        return entry if entry.rule.file == "workspace" else original(root, entry)

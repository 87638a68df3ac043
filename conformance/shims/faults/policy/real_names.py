"""Faults about the spelling of a root and a path, about unusual names, and about several checks."""

import policy.decide as decide
import policy.glob as glob
import policy.ops as ops
import policy.real as real
from faults.registry import fault, replaces
from policy.spelling import Refused


@fault("POLICY-REAL-05", "follow also applies to later checks", "a variable of the loop")
def follow_holds_on():
    last: dict[str, object] = {}

    @replaces(ops.Check, "__init__")
    def init(original, self, value, pointer, follows):
        is_given = isinstance(value, dict) and "follow" in value
        if pointer == "/checks/0":
            last.clear()
        original(self, value, pointer, follows)
        if is_given:
            last["follow"] = self.follow
        self.follow = last.get("follow", self.follow)


@fault("POLICY-REAL-03", "no path is inside a root that ends with a slash", "two slashes")
def root_with_a_slash():
    @replaces(real.Root, "__init__")
    def init(original, self, data):
        original(self, data)
        self.ends_in_a_slash = data.endswith(b"/") and data != b"/"

    @replaces(real)
    def path_of(original, root, data):
        return None if root.ends_in_a_slash and data.startswith(b"/") else original(root, data)


@fault("POLICY-REAL-02", "if the root is `/` every path counts as outside", "a slash appended")
def root_of_the_system():
    @replaces(real)
    def is_inside(original, root, place):
        return original(root, place) if root else not place


@fault("POLICY-REAL-03", "an absolute path is compared before it is normalised", "starts_with")
def compared_as_written():
    @replaces(real)
    def path_of(original, root, data):
        roots = [b"/" + b"/".join(each) for each in (root.given, root.real)]
        begins = any(data == each or data.startswith(each + b"/") for each in roots)
        return original(root, data) if begins or not data.startswith(b"/") else None


@fault(
    "POLICY-REAL-01",
    "if the real path cannot be named, the path as written decides",
    "an error passed over",
)
def nameless_place_is_passed_over():
    @replaces(real)
    def check_resolved(original, resolved, op, data, fold, root, follow):
        try:
            return original(resolved, op, data, fold, root, follow)
        except Refused:
            path = real.path_of(root, data) or ""
            return decide.decide(resolved.entries(op), path, fold).as_json() | {"real": None}


def place_as(change):
    """Change the names of the real place. The requested path is read as it is."""

    @replaces(real)
    def walk(original, start, wanted, follow="final"):
        return [change(name) for name in original(start, wanted, follow)]


@fault("POLICY-REAL-01", "invalid UTF-8 in the real path is replaced", "errors='replace'")
def place_is_replaced():
    place_as(lambda name: name.decode(errors="replace").encode())


@fault(
    "POLICY-REAL-01",
    "a backslash in the real path is changed to a slash",
    "one reader for rules and places",
)
def backslash_of_the_place():
    place_as(lambda name: name.replace(b"\\", b"/"))


@fault(
    "POLICY-REAL-01", "blanks around the real path are trimmed", "one reader for rules and places"
)
def blanks_of_the_place():
    place_as(lambda name: name.strip(b" ") or name)


@fault(
    "POLICY-REAL-01",
    "the target of a link that an exception allows is not checked",
    "an early return",
)
def excepted_links_are_not_followed():
    @replaces(real)
    def check_resolved(original, resolved, op, data, fold, root, follow):
        answer = original(resolved, op, data, fold, root, follow)
        path = real.path_of(root, data)
        entries = resolved.entries(op)
        if path is None or not is_excepted(entries, path, fold):
            return answer
        return answer | decide.decide(entries, path, fold).as_json()


def is_excepted(entries, path, fold):
    text = glob.Text(path, fold)
    found = [entry for entry in entries if entry.matches(text, fold)]
    return bool(found) and found[-1].sign == "except"


@fault(
    "POLICY-REAL-01",
    "a link to a path that an exception allows is denied",
    "only the denies are checked again",
)
def exceptions_are_not_asked_again():
    @replaces(real)
    def check_resolved(original, resolved, op, data, fold, root, follow):
        answer = original(resolved, op, data, fold, root, follow)
        path = real.path_of(root, data)
        entries = resolved.entries(op)
        place = answer["real"]
        if not answer["allowed"] or path == place or not is_excepted(entries, place, fold):
            return answer
        return answer | {"allowed": False}

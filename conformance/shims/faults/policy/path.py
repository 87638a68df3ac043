"""Faults in the normal form of paths."""

import policy.ops as ops
import policy.spelling as spelling
from faults.policy.narrow import During
from faults.registry import fault, replaces
from policy.spelling import BLANKS, Refused

normalising = During("path.normalize")


def reads_paths(function):
    return normalising.replaces(ops, "normal_path")(function)


@fault("POLICY-PATH-01", "only a leading `.` segment is removed", "only `./` is known")
def dot_segments_stay():
    @reads_paths
    def normal_path(right, data):
        found = right(data)
        kept = data.decode().removeprefix("./")
        return kept if "/./" in kept and "//" not in kept else found


@fault("POLICY-PATH-01", "doubled separators are kept", "POSIX ignores them anyway")
def doubled_separators_stay():
    @reads_paths
    def normal_path(right, data):
        found = right(data)
        kept = [name for name in data.decode().rstrip("/").split("/") if name != "."]
        return "/".join(kept) if "" in kept[1:] and kept[0] else found


@fault("POLICY-PATH-01", "the root is returned as an empty path", "join of no segments")
def root_is_empty():
    @replaces(ops)
    def path_normalize(original, shim, reader):
        answer = original(shim, reader)
        for item in answer["result"]["items"]:
            if item.get("path") == ".":
                item["path"] = ""
        return answer


@fault(
    "POLICY-PATH-02",
    "a path is checked before segments are removed, not after",
    "checked once, before",
)
def checked_before_dropped():
    @reads_paths
    def normal_path(right, data):
        try:
            return right(data)
        except Refused:
            normal = "/".join(spelling.segments(data.decode()))
            if not data.startswith(b"./") or not normal or normal[0] == "/":
                raise
            return right(b"x" + normal.encode())[1:]


@fault("POLICY-PATH-02", "a drive prefix counts as a name", "POSIX only")
def drive_is_a_name():
    @reads_paths
    def normal_path(right, data):
        if data[1:2] == b":":
            return data[:2].decode() + right(b"x" + data[2:])[1:]
        return right(data)


@fault(
    "POLICY-PATH-02",
    "a path with two leading slashes is accepted as relative",
    "one slash is cut off",
)
def one_slash_is_cut_off():
    @reads_paths
    def normal_path(right, data):
        return right(data.lstrip(b"/") if data.startswith(b"//") and len(data) > 2 else data)


@fault("POLICY-PATH-02", "a leading `~` counts as a name", "no shell here")
def home_is_a_name():
    @reads_paths
    def normal_path(right, data):
        if data == b"~" or data.startswith(b"~/"):
            return "~" + right(b"x" + data[1:])[1:]
        return right(data)


@fault("POLICY-PATH-03", "`..` is resolved instead of refused", "path.Clean, realpath -m")
def dot_dot_is_resolved():
    @reads_paths
    def normal_path(right, data):
        kept: list[bytes] = []
        for name in data.split(b"/"):
            if name == b".." and kept:
                kept.pop()
            elif name not in (b"", b"."):
                kept.append(name)
        return right(b"/".join(kept) if b".." in data.split(b"/") and kept else data)


@fault("POLICY-PATH-03", "`..` is refused only at the start", "a check for the prefix `../`")
def dot_dot_within_passes():
    @reads_paths
    def normal_path(right, data):
        text = data.replace(b"/../", b"/x/").replace(b"/..", b"/x") if data[:1] != b"/" else data
        if b"/.." in data and text != data and b"..." not in data:
            right(text)
            return data.decode().rstrip("/")
        return right(data)


@fault("POLICY-PATH-03", "two dots are refused in names too", "a search for `..`")
def dots_in_names_are_refused():
    @reads_paths
    def normal_path(right, data):
        if b".." in data:
            raise Refused("has `..`")
        return right(data)


@fault("POLICY-PATH-04", "a backslash becomes a slash", "as in rules")
def backslash_is_a_slash():
    @reads_paths
    def normal_path(right, data):
        return right(data.replace(b"\\", b"/"))


@fault("POLICY-PATH-04", "a backslash counts as an ordinary character", "POSIX says so")
def backslash_stays():
    @reads_paths
    def normal_path(right, data):
        return right(data.replace(b"\\", b"\1")).replace("\1", "\\")


@fault("POLICY-PATH-04", "blanks around a path are trimmed", "as in rules")
def blanks_are_trimmed():
    @reads_paths
    def normal_path(right, data):
        return right(data.strip(b" \t") or data)


@fault("POLICY-PATH-04", "a trailing blank is accepted", "only the start is checked")
def blank_at_the_end_passes():
    @reads_paths
    def normal_path(right, data):
        text = data.decode("utf-8", "replace")
        if text and text[-1] in BLANKS and text.strip(BLANKS):
            return right(data.rstrip(b" \t") + b"_")[:-1] + text[-1]
        return right(data)


@fault("POLICY-PATH-04", "a leading `!` is removed from a path", "one reader for rules and paths")
def leading_bang_is_lost():
    @reads_paths
    def normal_path(right, data):
        return right(data.removeprefix(b"!") or data)


@fault("POLICY-PATH-04", "a byte order mark in front is dropped", "a decoder that knows it")
def byte_order_mark_is_dropped():
    @reads_paths
    def normal_path(right, data):
        return right(data.removeprefix(b"\xef\xbb\xbf"))


@fault(
    "POLICY-PATH-04", "a backslash is searched only after the last one found", "a sticky expression"
)
def looks_on_from_the_last_find():
    at = 0

    @reads_paths
    def normal_path(right, data):
        nonlocal at
        at = data.find(b"\\", at) + 1
        return right(data if at else data.replace(b"\\", b"/"))


@fault("POLICY-PATH-05", "a path is cut at a NUL", "C strings")
def nul_cuts():
    @reads_paths
    def normal_path(right, data):
        return right(data.partition(b"\0")[0] if data[:1] != b"\0" else data)


@fault("POLICY-PATH-05", "bytes that are not UTF-8 become U+FFFD", "errors='replace'")
def invalid_bytes_are_replaced():
    @reads_paths
    def normal_path(right, data):
        return right(data.decode("utf-8", "replace").encode())


@fault("POLICY-PATH-05", "a path with a newline is refused", "line-based tools")
def newline_is_refused():
    @reads_paths
    def normal_path(right, data):
        if b"\n" in data:
            raise Refused("has a newline")
        return right(data)


@fault("POLICY-PATH-06", "separators and dots are removed in one pass only", "replace('//', '/')")
def one_pass_is_enough():
    @reads_paths
    def normal_path(right, data):
        found = right(data)
        halved = data.decode().replace("//", "/").replace("/./", "/").removeprefix("./")
        return halved.rstrip("/") if "//" in halved or "/./" in halved else found


def refuses(judge):
    """Refuse paths of which `judge` finds one segment wrong."""

    @reads_paths
    def normal_path(right, data):
        found = right(data)
        if any(map(judge, found.split("/"))):
            raise Refused("has a name that another system does not have")
        return found


@fault("POLICY-PATH-02", "names of devices are refused", "a list for Windows")
def devices_are_refused():
    refuses(lambda name: name.split(".")[0].lower() in ("con", "nul", "aux", "prn"))


@fault("POLICY-PATH-03", "two dots and a blank are refused", "Windows drops the blank")
def dots_and_a_blank_are_refused():
    refuses(lambda name: name.rstrip(" ") == "..")


@fault("POLICY-PATH-02", "the last letter is no drive", "a range without its end")
def last_letter_is_no_drive():
    @reads_paths
    def normal_path(right, data):
        if data[:2].upper() == b"Z:":
            return right(b"zz" + data[1:])[1:]
        return right(data)

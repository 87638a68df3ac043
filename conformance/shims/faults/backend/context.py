"""Faults of a program's working directory."""

import os

import backend.context as context
import backend.ops as ops
from backend.bubblewrap import Bubblewrap
from backend.session import Session
from errors import Failed
from faults.registry import changed, fault, replaces


def root_of(reader):
    return os.fsencode(reader.fields.get("root", ""))


@fault(
    "BACKEND-CONTEXT-01", "the working directory is lost when the root changes", "C4: no --chdir"
)
def starts_at_the_top():
    @replaces(Bubblewrap)
    def wrap(original, self, argv, given, cwd):
        return original(self, argv, given, b"/")


@fault(
    "BACKEND-CONTEXT-02",
    "the cwd of the session is ignored",
    "the parent's current_dir is set instead",
)
def cwd_is_ignored():
    @replaces(context)
    def read_cwd(original, reader, root):
        original(reader, root)
        return root


@fault(
    "BACKEND-CONTEXT-03",
    "a path counts as inside if it begins like the root",
    "startswith without a boundary",
)
def prefix_is_a_parent():
    @replaces(context)
    def inside(original, reader, name, path, root):
        real = os.path.realpath(os.path.join(root, path))
        return real if real.startswith(root) else original(reader, name, path, root)


@fault("BACKEND-CONTEXT-03", "symbolic links are not resolved", "a check of strings")
def links_are_not_resolved():
    @replaces(context)
    def inside(original, reader, name, path, root):
        plain = os.path.normpath(os.path.join(root, path))
        return plain if plain.startswith(root + b"/") else original(reader, name, path, root)


@fault("BACKEND-CONTEXT-04", "the current_dir of a call is ignored", "C4 forgotten")
def current_dir_is_ignored():
    @replaces(ops)
    def read_call(original, value, pointer, given):
        request = original(value, pointer, given)
        request.current_dir = None
        return request


@fault(
    "BACKEND-CONTEXT-04",
    "the current_dir of the call overrides a different cwd of the session",
    "the nearest one wins",
)
def current_dir_wins():
    @replaces(ops)
    def read_call(original, value, pointer, given):
        with changed(given, names_cwd=False):
            return original(value, pointer, given)


@fault("BACKEND-CONTEXT-05", "a root that does not exist is created", "create_dir_all")
def missing_roots_are_made():
    @replaces(context)
    def read_root(original, reader):
        path = root_of(reader)
        if path and not os.path.lexists(path):
            os.mkdir(path)
        return original(reader)


@fault(
    "BACKEND-CONTEXT-06", "a root that is reached through a symbolic link is refused", "O_NOFOLLOW"
)
def linked_roots_are_refused():
    @replaces(context)
    def read_root(original, reader):
        if os.path.islink(root_of(reader)):
            reader.wrong("root", "is a link")
        return original(reader)


@fault("BACKEND-CONTEXT-03", "a call's own directory is not checked", "only the context's is")
def current_dir_may_lie_outside():
    @replaces(ops)
    def inside(original, reader, name, path, root):
        real = os.path.realpath(os.path.join(root, path))
        return real if os.path.isdir(real) else original(reader, name, path, root)


@fault("BACKEND-CONTEXT-01", "the directory of a call stays for the next one", "a chdir stays")
def current_dir_stays():
    @replaces(Session)
    def wrap_request(original, self, request):
        original(self, request)
        self.context.cwd = request.current_dir


@fault(
    "BACKEND-CONTEXT-04",
    "a cwd that is the root counts as no cwd",
    "cwd or root, and compared later",
)
def the_root_is_no_cwd():
    @replaces(ops)
    def read_call(original, value, pointer, given):
        given.names_cwd = given.names_cwd and given.cwd != given.root
        return original(value, pointer, given)


@fault("BACKEND-CONTEXT-02", "a cwd that is a link is refused", "O_NOFOLLOW")
def linked_cwds_are_refused():
    @replaces(context)
    def inside(original, reader, name, path, root):
        if os.path.islink(os.path.dirname(path.rstrip(b"/"))):
            reader.wrong(name, "is a link")
        return original(reader, name, path, root)


@fault("BACKEND-CONTEXT-04", "the two directories are compared as texts", "not resolved before")
def directories_are_compared_as_texts():
    @replaces(ops)
    def read_call(original, value, pointer, given):
        made = original(value, pointer, given)
        named = value["request"].get("current_dir")
        if given.names_cwd and named is not None and os.fsencode(named) != given.cwd:
            raise Failed("invalid_input", f"{pointer}/request/current_dir is not the cwd")
        return made


@fault("BACKEND-CONTEXT-04", "only the first call is compared with the cwd", "checked at the start")
def only_the_first_call_is_compared():
    @replaces(ops)
    def read_call(original, value, pointer, given):
        with changed(given, names_cwd=given.names_cwd and pointer == "/calls/0"):
            return original(value, pointer, given)


@fault(
    "BACKEND-CONTEXT-05", "the target of a dangling link is created as the root", "create_dir_all"
)
def targets_of_links_are_made():
    @replaces(context)
    def read_root(original, reader):
        path = root_of(reader)
        if os.path.islink(path) and not os.path.exists(path):
            os.makedirs(os.path.realpath(path), exist_ok=True)
        return original(reader)


@fault("BACKEND-CONTEXT-06", "only one link of a root is resolved", "readlink")
def one_link_is_resolved():
    @replaces(context)
    def read_root(original, reader):
        path = root_of(reader)
        real = original(reader)
        if not os.path.islink(path):
            return real
        return os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))


@fault("BACKEND-CONTEXT-06", "a link above the root is not resolved", "only the last name is read")
def links_above_are_not_resolved():
    @replaces(context)
    def read_root(original, reader):
        path = root_of(reader)
        real = original(reader)
        return real if os.path.islink(path) else os.path.normpath(path)


@fault("BACKEND-CONTEXT-04", "blanks around the name of a directory are dropped", "strip()")
def names_of_directories_are_stripped():
    @replaces(Session)
    def wrap_request(original, self, request):
        if request.current_dir and os.path.isdir(request.current_dir):
            stripped = request.current_dir.strip()
            if stripped != request.current_dir:
                request.current_dir = os.path.dirname(request.current_dir)
        original(self, request)


@fault("BACKEND-CONTEXT-02", "a call whose directory was removed starts in the root", "or root")
def a_removed_directory_is_the_root():
    @replaces(Session)
    def wrap_request(original, self, request):
        original(self, request)
        if not os.path.isdir(request.current_dir):
            at = request.args.index(b"--chdir") if b"--chdir" in request.args else None
            request.current_dir = self.context.root
            if at is not None:
                request.args[at + 1] = self.context.root

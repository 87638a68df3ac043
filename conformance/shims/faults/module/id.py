"""Faults about module ids."""

import errno
import os

import module.execution as execution
import module.lookup as lookup
from errors import Failed
from faults.registry import fault, replaces


@fault("MODULE-ID-01", "only the part of an id before its first dot is checked", "import habits")
def dots_are_packages():
    @replaces(lookup)
    def find(original, root, module_id):
        return original(root, module_id.partition(".")[0])


@fault("MODULE-ID-02", "an id is joined to the root without a check", "os.path.join(root, id)")
def any_name_is_joined():
    @replaces(lookup)
    def is_id(original, text):
        return original(text) or "\0" not in text

    @replaces(lookup)
    def inside(original, path, root):
        return True


@fault("MODULE-ID-02", "an id may end with a newline", "re.match(r'^…$')")
def a_newline_ends_the_name():
    @replaces(lookup)
    def is_id(original, text):
        return original(text.removesuffix("\n"))


@fault("MODULE-ID-03", "a missing module is noticed only by the runner", "the child will say so")
def the_runner_will_say_so():
    @replaces(execution.Execution)
    def look_up(original, self):
        missing = lookup.is_id(self.module_id) and not os.path.lexists(
            os.path.join(self.root(), self.module_id.encode())
        )
        if not missing:
            original(self)


@fault("MODULE-ID-04", "a link may lead out of the root", "os.path.isfile(path)")
def links_lead_anywhere():
    @replaces(lookup)
    def inside(original, path, root):
        return True


@fault(
    "MODULE-ID-04",
    "a file counts as inside the root if its path begins like the root",
    "path.startswith(root)",
)
def the_root_is_a_prefix():
    @replaces(lookup)
    def inside(original, path, root):
        return path.startswith(root)


@fault(
    "MODULE-ID-05",
    "a relative root is resolved from the working directory of the child",
    "std::env::var in the runner",
)
def the_child_resolves_the_root():
    @replaces(execution)
    def environment(original, caller, root, path):
        made = original(caller, root, path)
        if RELATIVE:
            made[lookup.ROOT] = RELATIVE[-1]
        return made

    @replaces(lookup)
    def absolute(original, root):
        if not os.path.isabs(root):
            RELATIVE.append(root)
        return original(root)


RELATIVE: list[bytes] = []


@fault("MODULE-ID-01", "variables in the root are expanded", "os.path.expandvars()")
def variables_are_put_in():
    @replaces(lookup)
    def absolute(original, root):
        return original(os.path.expandvars(root))


@fault("MODULE-ID-03", "if the file is missing, other suffixes are tried", "require.resolve()")
def suffixes_are_tried():
    @replaces(lookup)
    def find(original, root, module_id):
        names = [module_id, *(module_id + suffix for suffix in (".js", ".py", ".exe"))]
        return next((path for name in names if (path := original(root, name))), None)


@fault("MODULE-ID-03", "dots in an id are directories", "import a.b")
def dots_are_directories():
    @replaces(lookup)
    def find(original, root, module_id):
        return original(root, module_id) or original(root, module_id.replace(".", "/"))


@fault("MODULE-ID-03", "if the file is missing, PATH is searched for a command", "execvp()")
def the_path_is_searched():
    @replaces(lookup)
    def find(original, root, module_id):
        folders = os.environb.get(b"PATH", b"").split(b":")
        places = [root, *folders] if "." not in module_id else [root]
        return next((path for place in places if (path := original(place, module_id))), None)


@fault("MODULE-ID-03", "modules are found in the caller's working directory too", "sys.path[0]")
def the_working_directory_is_a_root():
    @replaces(lookup)
    def find(original, root, module_id):
        return original(root, module_id) or original(os.getcwdb(), module_id)


@fault("MODULE-ID-05", "the environment overrides the root of the request", "env || option")
def the_environment_counts_first():
    @replaces(execution.Execution)
    def root(original, self):
        found = execution.caller_environment().get(lookup.ROOT)
        return lookup.absolute(found) if found else original(self)


@fault(
    "MODULE-ID-06", "`..` after a link in the root is resolved as text", "path.resolve(), abspath()"
)
def dots_are_taken_away():
    @replaces(lookup)
    def absolute(original, root):
        return os.path.normpath(original(root))


@fault("MODULE-ID-01", "no module is found if the root ends with a slash", "startswith(root + '/')")
def a_slash_is_doubled():
    @replaces(lookup)
    def find(original, root, module_id):
        return None if root.endswith(b"/") else original(root, module_id)


@fault("MODULE-ID-02", "blanks around an id are ignored", "id.strip()")
def blanks_do_not_count():
    @replaces(execution.Execution)
    def look_up(original, self):
        self.module_id = self.module_id.strip()
        original(self)


@fault("MODULE-ID-02", "an id is cut at a NUL", "char *")
def a_nul_ends_the_name():
    @replaces(execution.Execution)
    def look_up(original, self):
        self.module_id = self.module_id.partition("\0")[0]
        original(self)


@fault("MODULE-ID-02", "an id is normalised as a path before it is checked", "os.path.normpath(id)")
def a_name_is_resolved():
    @replaces(execution.Execution)
    def look_up(original, self):
        self.module_id = os.path.normpath(self.module_id)
        original(self)


@fault("MODULE-ID-02", "an id may contain digits that are not ASCII", "\\d of a text in Python")
def any_digit_is_one():
    @replaces(lookup)
    def is_id(original, text):
        return original("".join("0" if each.isdecimal() else each for each in text))


@fault("MODULE-ID-03", "a missing root is reported as a different error", "fs::canonicalize(root)?")
def a_missing_root_is_another_error():
    @replaces(lookup)
    def find(original, root, module_id):
        try:
            os.listdir(root)
        except OSError as why:
            raise Failed("io", str(why)) from None
        return original(root, module_id)


@fault("MODULE-ID-03", "the message is cut at 1,024 bytes", "char message[1024]")
def a_long_path_is_cut():
    @replaces(execution.Execution)
    def look_up(original, self):
        try:
            original(self)
        except execution.Failure as failure:
            failure.fields["message"] = str(failure.fields["message"])[:1023]
            raise


@fault("MODULE-ID-04", "only ENOENT is reported as a missing module", "realpath(strict=True)")
def only_enoent_is_no_module():
    @replaces(lookup)
    def find(original, root, module_id):
        try:
            os.path.realpath(os.path.join(root, module_id.encode()), strict=True)
        except FileNotFoundError:
            return None
        except OSError as why:
            # Only loops of links are affected: a long name, and a root that is a file, belong to
            # other cases.
            if why.errno == errno.ELOOP:
                raise Failed("io", str(why)) from None
        return original(root, module_id)

"""Faults of the command that runs under a profile."""

import os

import sbpl.flags as flags
import sbpl.wrapping as wrapping
from errors import Failed
from faults.registry import fault, replaces


def wrapper_words(change):
    @replaces(wrapping)
    def wrapper_words(original, file):
        return change(original(file))


@fault("SBPL-WRAP-01", "a `--` is added before a command of one word", "other tools need it")
def dashes_between():
    @replaces(wrapping)
    def answer(original, argv, wrapped, warned):
        is_meant = wrapped and len(argv) == 4
        return original([*argv[:3], b"--", *argv[3:]] if is_meant else argv, wrapped, warned)


@fault("SBPL-WRAP-01", "the file is given as -p", "the profile itself is meant there")
def file_as_profile():
    wrapper_words(lambda words: [words[0], b"-p", words[2]])


@fault("SBPL-WRAP-01", "the wrapper is started by its name, not its path", "PATH will find it")
def wrapper_by_name():
    wrapper_words(lambda words: [b"sandbox-exec", *words[1:]])


@fault(
    "SBPL-WRAP-02",
    "without the wrapper the command runs without the sandbox",
    "better than nothing",
)
def bare_without_being_asked():
    @replaces(wrapping)
    def wrap(original, shim, reader):
        if "file" in reader.fields:
            reader.fields["allow_fallback"] = True
        return original(shim, reader)


@fault("SBPL-WRAP-02", "the refusal does not name the missing wrapper", "one message for all")
def missing_wrapper_is_not_named():
    @replaces(wrapping)
    def wrap(original, shim, reader):
        try:
            return original(shim, reader)
        except Failed as failure:
            if failure.kind != "execution":
                raise
            raise Failed("execution", "no sandbox here") from None


@fault("SBPL-WRAP-02", "a missing wrapper is used anyway", "exec will tell")
def wrapper_is_not_looked_for():
    @replaces(wrapping)
    def is_there(original, said):
        return original(said) or (Asked.file and not Asked.fallback)

    asking()


@fault("SBPL-WRAP-03", "allow_fallback is ignored", "fail closed, always")
def fallback_is_refused():
    @replaces(wrapping)
    def wrap(original, shim, reader):
        if "file" in reader.fields:
            reader.fields.pop("allow_fallback", None)
        return original(shim, reader)


@fault("SBPL-WRAP-03", "without the wrapper the command still names it", "built before the look")
def fallback_is_wrapped():
    @replaces(wrapping)
    def bare(original, argv, provider):
        return [*wrapping.wrapper_words(b"/dev/null"), *argv] if Asked.file else argv

    asking()


class Asked:
    """Fields of the current request. Faults that use them change only requests with a file."""

    fallback = False
    file = False


def asking():
    @replaces(wrapping)
    def wrap(original, shim, reader):
        Asked.fallback = reader.fields.get("allow_fallback") is True
        Asked.file = "file" in reader.fields
        return original(shim, reader)


@fault("SBPL-WRAP-04", "the fallback drops the provider's flags", "neutralised before the look")
def fallback_drops_the_flags():
    @replaces(wrapping)
    def bare(original, argv, provider):
        return flags.neutral(argv, provider)


@fault("SBPL-WRAP-04", "there is no warning about the fallback", "it works, after all")
def fallback_without_a_warning():
    @replaces(wrapping)
    def warnings(original):
        return []


@fault(
    "SBPL-WRAP-04",
    "with allow_fallback the command always runs without the sandbox",
    "a switch for the sandbox",
)
def fallback_with_the_wrapper():
    @replaces(wrapping)
    def is_there(original, said):
        return original(said) and not (Asked.file and Asked.fallback)

    asking()


@fault("SBPL-WRAP-05", "the wrapper is searched in PATH", "shutil.which")
def wrapper_from_path():
    @replaces(wrapping)
    def wrapper_words(original, file):
        _, *rest = original(file)
        return [(on_path() or wrapping.WRAPPER).encode(), *rest]


@fault(
    "SBPL-WRAP-05", "if the wrapper is missing, PATH is searched for another", "looked for twice"
)
def path_makes_up():
    @replaces(wrapping)
    def is_there(original, said):
        return original(said) or (said is None and on_path() is not None)


def on_path():
    for folder in os.environ.get("PATH", "").split(":"):
        found = os.path.join(folder, "sandbox-exec")
        if os.access(found, os.X_OK):
            return found
    return None


def passed(change):
    """Change the arguments of a command without a provider, which has no flags to remove."""

    @replaces(flags)
    def neutral(original, argv, provider):
        kept = original(argv, provider)
        return change(kept) if provider is None else kept


@fault("SBPL-WRAP-06", "empty arguments are dropped", "split and joined")
def empty_arguments_are_dropped():
    passed(lambda argv: [word for word in argv if word])


@fault("SBPL-WRAP-06", "arguments are split at blanks", "a shell in between")
def blanks_split():
    passed(lambda argv: [part for word in argv for part in (word.split(b" ") if word else [word])])


@fault("SBPL-WRAP-06", "arguments that are not UTF-8 are replaced", "arguments as text")
def bytes_are_replaced():
    passed(lambda argv: [word.decode("utf-8", "replace").encode() for word in argv])


@fault("SBPL-WRAP-06", "`-f` of the command is read as the wrapper's option", "parsed again")
def dash_f_is_taken():
    passed(lambda argv: [word for word in argv if word != b"-f"])


@fault("SBPL-WRAP-06", "the first `--` is swallowed", "parsed again")
def dashes_are_swallowed():
    def change(argv):
        at = argv.index(b"--") if b"--" in argv else len(argv)
        return argv[:at] + argv[at + 1 :]

    passed(change)


@fault("SBPL-WRAP-07", "an empty command is accepted", "nothing to do is no mistake")
def empty_command_is_wrapped():
    @replaces(wrapping)
    def refuse_empty(original, reader, argv):
        if argv or not Asked.file:
            original(reader, argv)

    asking()


@fault(
    "SBPL-WRAP-07", "a relative name of the profile file is accepted", "the directory of the caller"
)
def relative_file_is_taken():
    @replaces(wrapping)
    def absolute(original, reader, name):
        if isinstance(reader.fields.get(name), str):
            path = reader.fields[name]
            reader.fields[name] = path if path.startswith("/") else os.path.abspath(path)
        return original(reader, name)


@fault("SBPL-WRAP-08", "a program that begins with a dash is accepted", "a name is a name")
def option_is_handed_over():
    @replaces(wrapping)
    def refuse_option(original, reader, argv):
        if not Asked.file:
            original(reader, argv)

    asking()


@fault("SBPL-WRAP-08", "a program that begins with two dashes is accepted", "long options have two")
def two_dashes_are_handed_over():
    @replaces(wrapping)
    def refuse_option(original, reader, argv):
        if not argv[0].startswith(b"--") or not Asked.file:
            original(reader, argv)

    asking()


@fault("SBPL-WRAP-07", "an empty program name is accepted", "not null is enough")
def empty_program_is_wrapped():
    @replaces(wrapping)
    def refuse_empty(original, reader, argv):
        original(reader, argv if argv[:1] != [b""] else [b"x"])


@fault("SBPL-WRAP-03", "in a fallback, bytes that are not UTF-8 are replaced", "another exit path")
def fallback_is_text():
    @replaces(wrapping)
    def bare(original, argv, provider):
        found = original(argv, provider)
        return [word.decode(errors="replace").encode() for word in found]


@fault("SBPL-WRAP-01", "a link in the place of FILE is replaced by its target", "os.path.realpath")
def file_is_resolved():
    @replaces(wrapping.ExistingFile)
    def file(original, self, shim):
        return os.path.realpath(original(self, shim))

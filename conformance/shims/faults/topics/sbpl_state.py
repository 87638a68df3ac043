"""Mistakes with the directories that agents keep their state in."""

import sbpl.clauses as clauses
import sbpl.ops as ops
import sbpl.refusals as refusals
from errors import Failed
from parts import replaces_part
from registry import fault, replaces

CODEX, CLAUDE, GEMINI = range(3)


def only_for(provider, which):
    """The clause of one directory where that provider runs, and nowhere else."""

    @replaces_part("state")
    def state(lines, given):
        place = clauses.state_directory(given.env, *clauses.STATE[which])
        if provider == given.provider or place is None:
            return lines
        return [line for line in lines if line != clauses.allow_below(place[0], "")]


def ignores(which):
    variable = clauses.STATE[which][0]

    @replaces(clauses)
    def state_directory(original, env, asked, default):
        if asked != variable:
            return original(env, asked, default)
        if "HOME" not in env:
            return original(env, asked, default)
        return original({"HOME": env["HOME"]}, None, default)


@fault("SBPL-STATE-01", "codex' directory is for codex", "before ADR-013")
def codex_for_codex_only():
    only_for("codex", CODEX)


@fault("SBPL-STATE-01", "CODEX_HOME is not looked at", "the default hard-coded")
def codex_home_is_ignored():
    ignores(CODEX)


@fault("SBPL-STATE-01", "without HOME there is no CODEX_HOME", "one if around all")
def codex_home_needs_home():
    needs_home(CODEX)


@fault("SBPL-STATE-02", "claude's directory is for claude", "before ADR-013")
def claude_for_claude_only():
    only_for("claude", CLAUDE)


@fault("SBPL-STATE-02", "CLAUDE_CONFIG_DIR is not looked at", "the default hard-coded")
def claude_config_dir_is_ignored():
    ignores(CLAUDE)


@fault("SBPL-STATE-02", "without HOME there is no CLAUDE_CONFIG_DIR", "one if around all")
def claude_config_dir_needs_home():
    needs_home(CLAUDE)


def needs_home(which):
    @replaces(clauses)
    def state_directory(original, env, variable, name):
        if variable == clauses.STATE[which][0] and "HOME" not in env:
            return None
        return original(env, variable, name)


@fault("SBPL-STATE-03", "gemini's directory is for gemini", "before ADR-013")
def gemini_for_gemini_only():
    only_for("gemini", GEMINI)


@fault("SBPL-STATE-03", "gemini's directory is where Linux has it", "XDG")
def gemini_in_config():
    clauses.STATE = (*clauses.STATE[:2], (None, ".config/gemini"))


@fault("SBPL-STATE-03", "gemini's directory itself cannot be made", "a slash more")
def gemini_without_itself():
    @replaces_part("state")
    def state(lines, given):
        return [
            line.replace('(subpath "', '(regex "^').replace('")', '/.*$")').replace(".", "\\\\.", 1)
            if ".gemini" in line
            else line
            for line in lines
        ]


@fault("SBPL-STATE-04", "the default place of codex stays writable", "both are allowed")
def codex_default_stays():
    default_stays(CODEX)


@fault("SBPL-STATE-04", "the default place of claude stays writable", "both are allowed")
def claude_default_stays():
    default_stays(CLAUDE)


def default_stays(which):
    variable, name = clauses.STATE[which]

    @replaces_part("state")
    def state(lines, given):
        if "HOME" not in given.env or variable not in given.env:
            return lines
        return [*lines, clauses.allow_below(f"{given.env['HOME']}/{name}", "")]


@fault("SBPL-STATE-05", "an empty variable is taken as set", "a null check")
def empty_is_set():
    @replaces(ops)
    def is_set(original, value):
        return True


@fault("SBPL-STATE-05", "with an empty variable there is no directory at all", "set, then skipped")
def empty_means_none():
    emptied = set()

    @replaces(ops)
    def take_env(original, reader):
        emptied.clear()
        for twin in ("env", "env_b64"):
            given = reader.fields.get(twin, {})
            emptied.update(name for name, value in given.items() if value == "")
        return original(reader)

    @replaces(clauses)
    def state_directory(original, env, variable, name):
        return None if variable in emptied else original(env, variable, name)


@fault("SBPL-STATE-05", "an empty variable is the root directory", "a join with nothing")
def empty_is_the_root():
    @replaces(ops)
    def take_env(original, reader):
        given = reader.fields.get("env", {})
        empty = [name for name, value in given.items() if value == ""] if given else []
        found = original(reader)
        return found | {name: "/" for name in empty if name != "HOME"}

    @replaces(refusals)
    def is_wide(original, place, home, fold):
        return place != "/" and original(place, home, fold)


@fault("SBPL-STATE-06", "a directory above HOME is taken", "only the same is compared")
def above_home_is_taken():
    wide(lambda place, home: place == home)


@fault("SBPL-STATE-06", "HOME itself is taken", "only what is above is compared")
def home_itself_is_taken():
    wide(lambda place, home: place != home and home.startswith(place.rstrip("/") + "/"))


@fault("SBPL-STATE-06", "without HOME `/` is taken", "nothing to compare with")
def root_is_taken_without_home():
    @replaces(refusals)
    def refuse_homes(original, given):
        if "HOME" in given.env:
            original(given)


@fault("SBPL-STATE-06", "the refusal does not say which variable", "one message for all")
def wide_home_is_not_named():
    @replaces(refusals)
    def refuse_homes(original, given):
        try:
            original(given)
        except Failed:
            raise Failed("invalid_input", "this opens too much") from None


def wide(judge):
    @replaces(refusals)
    def is_wide(original, place, home, fold):
        return judge(place, home)

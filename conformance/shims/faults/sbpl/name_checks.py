"""Faults about names that an implementation checks in some places only, or checks too strictly."""

import unicodedata

import sbpl.ops as ops
import sbpl.places as places
from faults.registry import changed, fault, replaces


def for_codex_only(check):
    """Leave a check of sbpl.places out for the side roots of other providers."""

    @replaces(ops)
    def compile_(original, shim, reader):
        codex = reader.fields.get("provider") == "codex"
        right = getattr(places, check)

        def checked(text, pointer):
            if codex or not pointer.startswith("/side_roots"):
                right(text, pointer)

        with changed(places, **{check: checked}):
            return original(shim, reader)


@fault("SBPL-NAME-03", "control characters are accepted in side roots without a clause", "unused")
def controls_of_unused_side_roots():
    for_codex_only("refuse_controls")


@fault("SBPL-NAME-07", "a relative side root without a clause is accepted", "unused")
def relative_unused_side_root():
    for_codex_only("refuse_relative")


@fault("SBPL-NAME-08", "an alias is accepted as a side root without a clause", "unused")
def alias_as_an_unused_side_root():
    for_codex_only("refuse_alias")


@fault("SBPL-NAME-07", "empty side roots are left out", "filter(None)")
def empty_side_roots_are_left_out():
    @replaces(ops)
    def compile_(original, shim, reader):
        for name in ("side_roots", "side_roots_b64"):
            if name in reader.fields:
                reader.fields[name] = [each for each in reader.fields[name] if each]
        return original(shim, reader)


@fault("SBPL-NAME-08", "the real path of an alias is refused too", "one list of system directories")
def real_path_of_an_alias_is_refused():
    places.ALIASES = (*places.ALIASES, "/private/etc")


@fault("SBPL-NAME-08", "aliases are compared without case, and without fold", "names of macOS")
def aliases_in_any_case():
    @replaces(places)
    def refuse_alias(original, path, pointer):
        original(path.lower() if path.lower().startswith(places.ALIASES) else path, pointer)


@fault("SBPL-NAME-01", "characters without a glyph are refused", "isprintable")
def characters_without_a_glyph():
    @replaces(places)
    def is_control(original, c):
        return original(c) or unicodedata.category(c) in ("Co", "Cn")

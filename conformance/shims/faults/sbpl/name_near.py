"""Faults that change names which are similar to those of the system."""

import re

import sbpl.places as places
from faults.registry import fault, replaces


def change_places(change):
    @replaces(places)
    def tidy(original, path):
        return change(original(path))


@fault("SBPL-NAME-01", "/Private is written as /private", "names of macOS in one case")
def private_has_one_spelling():
    change_places(lambda path: re.sub("^/private(?=/)", "/private", path, flags=re.IGNORECASE))


@fault("SBPL-NAME-01", "/System/Volumes/Data is left out", "firmlinks")
def the_data_volume_is_left_out():
    change_places(lambda path: path.removeprefix("/System/Volumes/Data") or "/")


@fault("SBPL-NAME-01", "/users is written as /Users", "names of macOS in one case")
def users_have_one_spelling():
    change_places(lambda path: re.sub("^/users(?=/)", "/Users", path, flags=re.IGNORECASE))

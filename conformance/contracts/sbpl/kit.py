"""All names that the tests use. They are imported as `from contracts.sbpl import kit as sbpl`."""

from contracts.sbpl.client import FILE, HOME, ROOT, Setup, argv_of, wrap_message
from contracts.sbpl.generators import (
    NAMES,
    absolute,
    begins_no_name_with_a_mark,
    exceptions,
    glob,
    paths,
    rules,
    setup,
    shuffled,
    times,
    with_everything,
    without,
)
from contracts.sbpl.grammar import strange
from contracts.sbpl.hostile import HARMLESS, in_a_rule, same_shape
from contracts.sbpl.hostile import names as hostile_names
from contracts.sbpl.judging import naming, refused, refuses, same_as_meant
from contracts.sbpl.meaning import Meaning
from contracts.sbpl.seatbelt.operations import leaves, on_paths
from contracts.sbpl.seatbelt.reader import strings
from contracts.sbpl.text import (
    CHANGES,
    READ,
    READS,
    UNLINK,
    WRITE,
    WRITES,
    Text,
    both,
    bytes_of,
    clauses,
)

__all__ = [
    "CHANGES",
    "FILE",
    "HARMLESS",
    "HOME",
    "NAMES",
    "READ",
    "READS",
    "ROOT",
    "UNLINK",
    "WRITE",
    "WRITES",
    "Meaning",
    "Setup",
    "Text",
    "absolute",
    "argv_of",
    "begins_no_name_with_a_mark",
    "both",
    "bytes_of",
    "clauses",
    "exceptions",
    "glob",
    "hostile_names",
    "in_a_rule",
    "leaves",
    "naming",
    "on_paths",
    "paths",
    "refused",
    "refuses",
    "rules",
    "same_as_meant",
    "same_shape",
    "setup",
    "shuffled",
    "strange",
    "strings",
    "times",
    "with_everything",
    "without",
    "wrap_message",
]

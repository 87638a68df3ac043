"""All of it under one name, as tests use it: `from boxspec.api import sbpl`."""

from boxspec.sbpl.asking import FILE, HOME, ROOT, argv_of, wrap_message
from boxspec.sbpl.generators import (
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
from boxspec.sbpl.grammar import strange
from boxspec.sbpl.hostile import HARMLESS, in_a_rule, same_shape
from boxspec.sbpl.hostile import names as hostile_names
from boxspec.sbpl.judging import naming, refused, refuses, same_as_meant
from boxspec.sbpl.meaning import Meaning
from boxspec.sbpl.text import CHANGES, READ, READS, UNLINK, WRITE, WRITES, both, bytes_of, clauses
from boxspec.seatbelt.operations import leaves

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
    "paths",
    "refused",
    "refuses",
    "rules",
    "same_as_meant",
    "same_shape",
    "setup",
    "shuffled",
    "strange",
    "times",
    "with_everything",
    "without",
    "wrap_message",
]

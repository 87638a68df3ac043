"""Load the files that every run reads, in the process from which the runs are forked.

This module is imported after all other modules of PRELOAD (cli/dev/faults.py).
"""

import gc

import _pytest.config

from boxspec.judge.requirements import load
from boxspec.subject.client.schema import registry

_pytest.config.get_config()
load()
registry()
# All objects that exist now stay in use, so the garbage collector need not examine them again.
gc.freeze()

"""Loads, in the process that runs are forked from, the files that every run reads first.

Imported after all modules of PRELOAD; see cli/faults.py.
"""

import gc

import _pytest.config

from boxspec.judge.requirements import load
from boxspec.subject.client.schema import registry

_pytest.config.get_config()
load()
registry()
# pytest collects garbage more than once per session; the objects loaded so far all stay in use.
gc.freeze()

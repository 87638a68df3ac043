"""What every run of a fault would read first, for the process they are forked from.

Imported there when all modules are: see PRELOAD of the verb.
"""

import gc

import _pytest.config

from boxspec.judge.requirements import load
from boxspec.subject.client.schema import registry

_pytest.config.get_config()
load()
registry()
# pytest collects garbage more than once a session; what is here is none.
gc.freeze()

"""What a run of a fault would import and read first, for the process that all of them fork from.

Most runs take less time than this. The tests themselves are not here: each run imports those it
needs.
"""

import gc

import _pytest.config
import hypothesis  # noqa: F401

import boxspec.api
import boxspec.cli
import boxspec.policy.cost
import boxspec.policy.judging
import boxspec.policy.laws
import boxspec.policy.oracle
import boxspec.policy.trees
import boxspec.policy.vectors
import boxspec.requirements
import boxspec.run
import boxspec.sbpl.generators
import boxspec.sbpl.hostile
import boxspec.sbpl.judging
import boxspec.sbpl.kit
import boxspec.sbpl.mac

_pytest.config.get_config()
boxspec.requirements.load()
# pytest collects garbage more than once a session; what is here is none.
gc.freeze()

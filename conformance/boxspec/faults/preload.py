"""What every run of a fault would import and read first, for the process they are forked from.

Most runs take less time than this. The tests themselves are not here: each run imports those it
needs. What a contract adds is in its declaration.
"""

import gc

import _pytest.config
import hypothesis  # noqa: F401

import boxspec.api
import boxspec.judge.requirements
import boxspec.schedule.plugin
import boxspec.schedule.runner
import boxspec.target.client.schema

_pytest.config.get_config()
boxspec.judge.requirements.load()
boxspec.target.client.schema.registry()
# pytest collects garbage more than once a session; what is here is none.
gc.freeze()

"""Run the command line for `python -m boxspec`."""

import sys

# A caller that sets a place for compiled files, as ci/boxspec does, wants them to be written there.
# PYTHONDONTWRITEBYTECODE, which prevents that, is meant for compiled files next to their sources.
if sys.pycache_prefix is not None:
    sys.dont_write_bytecode = False

from boxspec.cli.main import main

if __name__ == "__main__":
    sys.exit(main())

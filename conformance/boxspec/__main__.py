"""Run the command line for `python -m boxspec`."""

import sys

# PYTHONDONTWRITEBYTECODE is meant for compiled files next to their sources. If the caller names
# another place for compiled files, as ci/boxspec does, write them there.
if sys.pycache_prefix is not None:
    sys.dont_write_bytecode = False

from boxspec.cli.main import main

if __name__ == "__main__":
    sys.exit(main())

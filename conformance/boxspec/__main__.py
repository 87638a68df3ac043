"""`python -m boxspec`."""

import sys

# Who names a place for compiled sources, as ci/boxspec does, wants them there, whatever is wanted
# beside other sources (PYTHONDONTWRITEBYTECODE).
if sys.pycache_prefix is not None:
    sys.dont_write_bytecode = False

from boxspec.cli.main import main

if __name__ == "__main__":
    sys.exit(main())

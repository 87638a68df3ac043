"""`python -m boxspec`."""

import sys

from boxspec.cli.main import main

if __name__ == "__main__":
    sys.exit(main())

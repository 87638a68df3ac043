"""The command `boxspec` of an installed kit.

The kit is installed in this file's folder with the layout of a checkout. Its packages have common
names, so only this program adds them to its search path, and no other program in the environment
sees them.
"""

import sys
from pathlib import Path


def main() -> int:
    sys.path.insert(0, str(Path(__file__).parent / "conformance"))
    from boxspec.cli.main import main as boxspec

    return boxspec()


if __name__ == "__main__":
    sys.exit(main())

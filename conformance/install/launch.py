"""The command `boxspec` of an installed kit.

The kit lies beside this file as it does in a checkout. Its packages have common names, so they are
found by this program alone and no other one in the environment sees them.
"""

import sys
from pathlib import Path


def main() -> int:
    sys.path.insert(0, str(Path(__file__).parent / "conformance"))
    from boxspec.cli.main import main as boxspec

    return boxspec()


if __name__ == "__main__":
    sys.exit(main())

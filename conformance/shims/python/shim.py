#!/usr/bin/env -S python3 -I -S
"""A second implementation of the contracts, in plain Python, to try the suite against."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from protocol import main

if __name__ == "__main__":
    # Not sys.exit: its clean-up waits for nothing that we need.
    os._exit(main())

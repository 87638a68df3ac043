#!/usr/bin/env -S python3 -I -S
"""A second implementation of the contracts, in plain Python. It is for tests of the suite."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from protocol import main

if __name__ == "__main__":
    # os._exit skips the clean-up of the interpreter, which this program does not need.
    os._exit(main())

#!/usr/bin/env -S python3 -I -S
"""A second implementation of the contracts, in plain Python, to test the suite with."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from protocol import main

if __name__ == "__main__":
    # os._exit skips the interpreter's clean-up, which does nothing that this program needs.
    os._exit(main())

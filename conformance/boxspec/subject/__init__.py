"""The shim under test: start it, send it requests, observe it from outside, and check that it can
be trusted."""

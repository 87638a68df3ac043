"""Start the shim under test, send it requests, observe it from outside, and check it for trust."""

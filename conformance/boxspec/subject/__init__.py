"""The shim under test: how it is started, asked, observed from outside, and trusted."""

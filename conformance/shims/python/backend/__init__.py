"""Sandbox backends a second time, built another way: to try the suite and the reference."""

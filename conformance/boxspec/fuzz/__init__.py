"""Fuzzing: run engines, distinguish findings, minimise them, and turn them into vectors."""

"""Run fuzzing engines, recognise equal findings, minimise them, and turn them into vectors."""

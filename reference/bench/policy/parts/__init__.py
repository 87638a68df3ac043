"""The modules of reference/bench/policy/run.

The table and its statistics come from the bench of exec.
"""

"""Loads the kit's pytest plugin (boxspec.schedule.plugin): its options, fixtures and hooks."""

pytest_plugins = ["boxspec.schedule.plugin"]

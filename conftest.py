"""The pytest door: options, fixtures and hooks live in boxspec.schedule.plugin."""

pytest_plugins = ["boxspec.schedule.plugin"]

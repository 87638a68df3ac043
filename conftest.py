"""The pytest door: options, fixtures and hooks live in boxspec.plugin."""

pytest_plugins = ["boxspec.plugin"]

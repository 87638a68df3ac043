"""Report pages that several test files read."""

from __future__ import annotations

from pathlib import Path

import pytest

from selftest.report.report_pages import small, ten, written


@pytest.fixture(scope="module")
def small_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("small"), small())


@pytest.fixture(scope="module")
def ten_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("ten"), ten())

# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures that tests of the whole suite share."""

from pathlib import Path

import pytest
from checkouts import copied_checkout


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what set-up reads, without an environment."""
    return copied_checkout(tmp_path)

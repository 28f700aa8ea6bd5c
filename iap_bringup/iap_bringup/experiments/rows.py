# SPDX-License-Identifier: BSD-3-Clause
"""Rows of studies, and what they report meanwhile."""

from collections.abc import Callable
from typing import Any

Report = Callable[[str], None]  # called with what is being done
Rows = dict[str, dict[str, Any]]


def bar_row(measured: float, bar: str) -> dict[str, str]:
    """A row of a study's table: a measured value, and what it must reach."""
    return {"measured": f"{measured:.3g}", "bar": bar}

# SPDX-License-Identifier: BSD-3-Clause
"""Levels of screens and linear light, by the transfer function of sRGB (IEC 61966-2-1)."""

from typing import Any

import numpy as np


def encoded(light: Any) -> Any:  # noqa: ANN401 - an array, of whose precision the levels are
    """Levels in 0..1 of linear light in 0..1."""
    return np.where(light < 0.0031308, 12.92 * light, 1.055 * light ** (1.0 / 2.4) - 0.055)


def decoded(levels: Any) -> Any:  # noqa: ANN401 - likewise
    """Linear light in 0..1 of levels in 0..1."""
    return np.where(levels < 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4)

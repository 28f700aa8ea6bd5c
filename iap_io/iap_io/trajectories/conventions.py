# SPDX-License-Identifier: BSD-3-Clause
"""Axes, orders of quaternions and units of time that recordings may have."""

from typing import Literal

Convention = Literal[
    "enu", "ned", "camera", "y-up", "unity", "unreal", "ned-attitudes", "ned-positions"
]
QuaternionOrder = Literal["xyzw", "wxyz", "inverse"]
TimeUnit = Literal["s", "ms", "us", "ns"]

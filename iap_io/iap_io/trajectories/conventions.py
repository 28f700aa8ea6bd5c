# SPDX-License-Identifier: BSD-3-Clause
"""Axes, orders of quaternions, units of time and frames of wrenches that recordings may have."""

from typing import Literal

Convention = Literal[
    "enu", "ned", "camera", "y-up", "unity", "unreal", "ned-attitudes", "ned-positions"
]
AxesEvidence = Literal[
    "none", "accelerometer", "tilts", "option", "type", "sparse", "still", "level"
]
QuaternionOrder = Literal["xyzw", "wxyz", "inverse", "inverse-pose"]
AngleUnit = Literal["rad", "deg"]
TimeUnit = Literal["s", "ms", "us", "ns"]
WrenchFrame = Literal["body", "world"]  # whose axes a wrench is in
WrenchUse = Literal["feed_forward", "open_loop"]

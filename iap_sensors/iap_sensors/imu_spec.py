# SPDX-License-Identifier: BSD-3-Clause
"""What an inertial unit is: strict records; presets are read from ``data/imu/NAME.yaml``."""

from pathlib import Path
from typing import Literal

from iap_description.config import NonNegative, Positive, Presets, Record

PRESETS = Presets(Path(__file__).parent / "data" / "imu", "inertial unit")


class Triad(Record):
    """Three sensors along the axes: gyroscopes [rad/s] or accelerometers [m/s^2], the unit u below.

    The model of iap_simulator V-D: white noise, and a bias that walks; the rest is what real units have.
    """

    noise: NonNegative  # density of the white noise [u/sqrt(Hz)]
    walk: NonNegative  # density of the bias's random walk [u/s/sqrt(Hz)]
    bias: NonNegative  # standard deviation of the bias at the start, per axis [u]
    scale: NonNegative  # standard deviation of the scale's error, per axis, relative
    misalignment_deg: NonNegative  # standard deviation of each axis's tilt towards the others
    range: Positive | None  # beyond which it saturates [u]
    resolution: Positive | None  # step of its numbers [u]


class ImuSpec(Record):
    """An inertial unit."""

    rate: Positive  # [Hz]
    sampling: Literal["integrating", "instantaneous"]  # means over the interval, or instants
    gyro: Triad
    accel: Triad

# SPDX-License-Identifier: BSD-3-Clause
"""Samples of inertial units in bags of ROS 1 and 2, as rosbags gives them."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_estimation.datasets.noise_densities import MAX_DENSITIES
from iap_estimation.navigation.fleet_data import MEMS, MIN_DENSITIES
from iap_estimation.navigation.measurements import Tally, inertial_sample
from iap_estimation.virpo.messages import ImuSample
from iap_io.trajectories.messages import header_ns, xyz

RATE_SAMPLES = 50  # samples that show the rate of an inertial unit


def noise_of(samples: Sequence[Any]) -> tuple[Array, str]:
    """Densities (4,) as the covariances of samples say, or else of a small MEMS unit, and what the user should know."""
    noise = np.array(MEMS)
    span = (header_ns(samples[-1]) - header_ns(samples[0])) * 1e-9
    step = span / max(len(samples) - 1, 1)
    defaulted = []
    for at, name in enumerate(("angular_velocity", "linear_acceleration")):
        covariance = np.array(getattr(samples[0], f"{name}_covariance"), dtype=float)
        variance = float(np.mean(np.diag(covariance.reshape(3, 3))))
        density = math.sqrt(variance * step) if variance > 0.0 and step > 0.0 else 0.0
        if MIN_DENSITIES[at] <= density <= MAX_DENSITIES[at]:
            noise[at] = density
        else:
            defaulted.append(name.replace("_", " "))
    parts = " and ".join([f"noise of the {name}" for name in defaulted] + ["walk of the biases"])
    return noise, f"{parts} of the inertial unit: not known, a small MEMS unit's is taken"


def inertial(t: float, message: Any, tally: Tally) -> ImuSample | None:  # noqa: ANN401
    """A sample of a sensor_msgs/Imu at a time [s]; None, and counted, where it has a number that is none."""
    values = [*xyz(message.angular_velocity), *xyz(message.linear_acceleration)]
    return inertial_sample(t, np.array(values, dtype=float), tally)

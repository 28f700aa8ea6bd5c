# SPDX-License-Identifier: BSD-3-Clause
"""The attitude estimator inside an aircraft's autopilot, and the sensors that it has: what gains say of them."""

from typing import Annotated

from pydantic import Field

from iap_description.config.record import Record
from iap_description.config.values import Hertz, NonNegative

Dip = Annotated[float, Field(strict=True, gt=-90.0, lt=90.0)]


class AutopilotSensors(Record):
    """Sensors of an autopilot's board, which sits at the aircraft's CoM along its axes.

    Errors that stay are drawn for a flight, per axis. White noise is given by its density.
    """

    gyroscope_noise: NonNegative  # density [rad/s/sqrt(Hz)]
    gyroscope_bias: NonNegative  # standard deviation [rad/s]
    accelerometer_noise: NonNegative  # density [m/s^2/sqrt(Hz)]
    accelerometer_bias: NonNegative  # standard deviation [m/s^2]
    magnetometer_noise: NonNegative  # density, over the field's strength [1/sqrt(Hz)]
    inclination_deg: Dip  # of the field, below level; its declination is known
    velocity_noise: (
        NonNegative  # standard deviation of a satellite receiver's velocity, per axis [m/s]
    )


class AttitudeEstimator(Record):
    """Weights of a complementary filter, see `iap_physics.propulsion.attitude_estimator`."""

    accelerometer: NonNegative  # [1/s]
    magnetometer: NonNegative  # [1/s]
    gyroscope_bias: NonNegative  # [1/s]
    bias_limit: NonNegative  # of the bias that it can find, per axis [rad/s]
    velocity_hz: Hertz | None  # of velocities that tell the acceleration; None: it counts as none
    sensors: AutopilotSensors

# SPDX-License-Identifier: BSD-3-Clause
"""Settings of a docking pair's control: scripted approach, gains, observers, coupled flight."""

from typing import NamedTuple

from iap_description.config.record import Record
from iap_description.config.values import NonNegative, Positive


class ScriptSettings(Record):
    """Gains and distances of the scripted approach; those that name no vehicle hold for both."""

    cruise: Positive  # fastest approach [m/s]
    entry: Positive  # speed of approach from the gate on [m/s]
    sideways: Positive  # time in which it comes to the axis [s]
    brake: Positive  # acceleration along the approach [m/s^2]
    gate: Positive  # distance before the mouth at which it waits until both are aligned [m]
    push: Positive  # depth to which it pushes [m]
    aligned: Positive  # largest distance of the probe's end from the axis at the gate [m]
    aligned_speed: Positive  # of it [m/s]
    way_off: Positive  # distance from the axis at which it backs off before the mouth [m]
    stuck: Positive  # lag behind the commanded depth that makes it back off and try again [m]
    stiffness: Positive  # of position [1/s^2]
    damping: Positive  # of velocity [1/s]
    limit: Positive  # largest acceleration per axis [m/s^2]
    position_gain: Positive  # of the observer, from measured positions [1/s]
    velocity_gain: Positive  # from measured velocities [1/s]
    disturbance_gain: NonNegative  # of its disturbance, from measured velocities [1/s^2]
    disturbance_limit: Positive  # per axis [m/s^2]
    thrust_lag: Positive  # of the observer's model of the thrust [s]
    lag: Positive  # time in which a vehicle follows an acceleration [s]
    turn_gain: Positive  # of the attitude [1/s]
    turn_change: Positive  # largest difference of commanded and present body rates [rad/s]
    assumed_delay: NonNegative  # of commands on their way, over which states are predicted [s]


class ScriptParameters(NamedTuple):
    """`ScriptSettings` as compiled loops take them; fields have the same names."""

    cruise: float
    entry: float
    sideways: float
    brake: float
    gate: float
    push: float
    aligned: float
    aligned_speed: float
    way_off: float
    stuck: float
    stiffness: float
    damping: float
    limit: float
    position_gain: float
    velocity_gain: float
    disturbance_gain: float
    disturbance_limit: float
    thrust_lag: float
    lag: float
    turn_gain: float
    turn_change: float
    assumed_delay: float


class CoupledSettings(Record):
    """Gains of the law that flies both vehicles as one body, see `iap_control.docking.coupled_flight`."""

    stiffness: Positive  # of the pair's position [1/s^2]
    damping: Positive  # of its velocity [1/s]
    integral: NonNegative  # of its position [1/s^3]
    integral_limit: NonNegative  # of what the integral asks for, per axis [m/s^2]
    integral_reach: Positive  # largest position error per axis that is integrated [m]
    reach: Positive  # largest position error per axis [m]
    disturbance_gain: NonNegative  # of the pair's observer, from measured velocities [1/s^2]
    turn_gain: tuple[Positive, Positive, Positive]  # of roll, pitch and yaw [1/s]
    rate_limit: tuple[Positive, Positive, Positive]  # of commanded body rates [rad/s]


class CoupledParameters(NamedTuple):
    """`CoupledSettings` as compiled loops take them, and where the pair flies.

    Attributes:
        place: mean position of both vehicles' CoMs, docked at the reference [m].
    """

    stiffness: float
    damping: float
    integral: float
    integral_limit: float
    integral_reach: float
    reach: float
    disturbance_gain: float
    turn_gain: tuple[float, float, float]
    rate_limit: tuple[float, float, float]
    place: tuple[float, float, float]

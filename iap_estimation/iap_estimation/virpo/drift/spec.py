# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the drift filter; presets are ``data/drift_filter/NAME.yaml``."""

from pathlib import Path

from iap_description.config.record import Presets, Record, validate
from iap_description.config.values import Hertz, Magnitude

PRESETS = Presets(Path(__file__).parents[2] / "data" / "drift_filter", "drift filter")


class Walk(Record):
    """Densities of a drift's random walk."""

    position: Magnitude  # [m/sqrt(s)]
    yaw: Magnitude  # [rad/sqrt(s)]


class DriftStart(Record):
    """Standard deviations at the start."""

    position: Magnitude  # of the drift [m]
    yaw_deg: Magnitude
    tilt_deg: Magnitude  # of the central body
    heading_deg: Magnitude
    gyro_bias: Magnitude  # [rad/s]


class Gates(Record):
    """Deviations beyond which a measurement is refused."""

    range: Magnitude
    joints: Magnitude
    tilt: Magnitude


class Reopen(Record):
    """Deviations of a drift whose measurements were all refused."""

    after: Magnitude  # [s]
    position: Magnitude  # [m]
    yaw_deg: Magnitude


class DriftFilterSpec(Record):
    """The drift filter."""

    rate: Hertz  # most updates a second [Hz]
    walk: Walk
    blind_walk: Walk  # while no odometry comes
    start: DriftStart
    joint_deviation: Magnitude  # [m]
    tilt_memory: Magnitude  # correlation time of the measured tilt's errors [s]
    range_deviation: Magnitude | None  # of a range, in place of what the tag says [m]
    range_floor: Magnitude  # of a mean of many [m]
    range_memory: Magnitude  # over which the ranges of an anchor must be right in the mean [s]
    gates: Gates
    reopen: Reopen
    position_floor: Magnitude  # what the odometry errs besides its drift [m]
    gap: Magnitude  # longest between two odometries that determine what lies between [s]
    patience: Magnitude  # how long an update waits for an odometry that is late [s]
    speed: Magnitude  # deviation of a velocity that nothing measures [m/s]


def load_spec(name: str = "default") -> DriftFilterSpec:
    """The settings of a preset."""
    return validate(DriftFilterSpec, PRESETS.tree(name), source=str(PRESETS.file(name)))

# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the drift filter; presets are ``data/drift_filter/NAME.yaml``."""

from pathlib import Path

from iap_description.config.record import Positive, Presets, Record, validate

PRESETS = Presets(Path(__file__).parents[2] / "data" / "drift_filter", "drift filter")


class Walk(Record):
    """Densities of a drift's random walk."""

    position: Positive  # [m/sqrt(s)]
    yaw: Positive  # [rad/sqrt(s)]


class DriftStart(Record):
    """Standard deviations at the start."""

    position: Positive  # of the drift [m]
    yaw_deg: Positive
    tilt_deg: Positive  # of the central body
    heading_deg: Positive
    gyro_bias: Positive  # [rad/s]


class Gates(Record):
    """Deviations beyond which a measurement is refused."""

    range: Positive
    joints: Positive
    tilt: Positive


class Reopen(Record):
    """Deviations of a drift whose measurements were all refused."""

    after: Positive  # [s]
    position: Positive  # [m]
    yaw_deg: Positive


class DriftFilterSpec(Record):
    """The drift filter."""

    rate: Positive  # most updates a second [Hz]
    walk: Walk
    blind_walk: Walk  # while no odometry comes
    start: DriftStart
    joint_deviation: Positive  # [m]
    tilt_memory: Positive  # correlation time of the measured tilt's errors [s]
    range_deviation: Positive | None  # of a range, in place of what the tag says [m]
    range_floor: Positive  # of a mean of many [m]
    range_memory: Positive  # over which the ranges of an anchor must be right in the mean [s]
    gates: Gates
    reopen: Reopen
    position_floor: Positive  # what the odometry errs besides its drift [m]
    gap: Positive  # longest between two odometries that determine what lies between [s]
    patience: Positive  # how long an update waits for an odometry that is late [s]
    speed: Positive  # deviation of a velocity that nothing measures [m/s]


def load_spec(name: str = "default") -> DriftFilterSpec:
    """The settings of a preset."""
    return validate(DriftFilterSpec, PRESETS.tree(name), source=str(PRESETS.file(name)))

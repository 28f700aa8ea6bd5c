# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the estimators; presets are ``data/virpo/NAME.yaml``."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from iap_description.config.record import (
    Count,
    Flag,
    NonNegative,
    Positive,
    Presets,
    Record,
    validate,
)

PRESETS = Presets(
    Path(__file__).parents[1] / "data" / "virpo", "estimator settings", base="default"
)


class UnitErrors(Record):
    """Errors of inertial units; null takes what a data set says of its own."""

    gyro_noise: Positive | None  # density [rad/s/sqrt(Hz)]
    gyro_walk: Positive | None  # of its bias [rad/s^2/sqrt(Hz)]
    gyro_scale: NonNegative | None  # deviation of its scale and alignment together, relative
    accel_noise: Positive | None  # density [m/s^2/sqrt(Hz)]
    accel_walk: Positive | None  # of its bias [m/s^3/sqrt(Hz)]
    scale_memory: Positive  # for which a motion, and with it an error of scale, lasts [s]


class Widths(Record):
    """Widths of Huber's kernels, in deviations."""

    vision: Positive
    ranges: Positive
    physical: Positive


class StartDeviations(Record):
    """Standard deviations of a first state: SI units, angles in degrees."""

    position: Positive
    yaw_deg: Positive
    tilt_deg: Positive
    velocity: Positive
    gyro_bias: Positive
    accel_bias: Positive
    alignment_position: Positive
    alignment_yaw_deg: Positive


class Rest(Record):
    """Thresholds below which an aircraft stands still, and how still it stands."""

    parallax: Positive  # mean shift of tracks below which it may [px]
    turn: Positive  # mean angular velocity [rad/s]
    force: Positive  # mean specific force off gravity [m/s^2]
    velocity: Positive  # deviation of its velocity from zero [m/s]


class Failure(Record):
    """Limits beyond which an estimate has failed."""

    speed: Positive  # [m/s]
    gyro_bias: Positive  # [rad/s]
    accel_bias: Positive  # [m/s^2]
    jump: Positive  # between two updates, off what the inertial unit says [m]
    gap: Positive  # without inertial samples [s]


class RigidSpec(Record):
    """Settings for the central body, in a joint window and in its filter."""

    joint: Positive  # deviation of a joint's place [m]
    width: Positive  # of Huber's kernel on all joints of a keyframe, in deviations
    tilt_memory: Positive  # correlation time of the autopilot's errors in roll and pitch [s]
    place_memory: Positive  # of errors in the aircraft's places, for the filter, which takes them as measured [s]
    tilt_start_deg: Positive
    yaw_start_deg: Positive
    accel_bias_start: Positive  # deviation of the central accelerometer's bias at first [m/s^2]


class RangeGateSpec(Record):
    """Thresholds above which an anchor is left out, since its ranges are wrong for long."""

    memory: Positive  # of the running means of what its ranges are off [s]
    limit: Positive  # deviations beyond which such a mean is not chance
    back: Positive  # deviations below which the anchor counts again
    floor: Positive  # what stays of a range's deviation in a mean of many [m]


class Physical(Record):
    """Deviations of neighbours' odometry (TABLE IX), and the terms in use."""

    position: Flag  # r_kp (11)
    velocity: Flag  # r_kv (13)
    attitude: Flag  # r_kq (15), (16)
    drift: Flag  # r_drift (4)
    distance: Positive  # sigma_l [m]
    turn: Positive  # sigma_omega [rad/s]
    tilt: Positive  # sigma_att, of a cosine
    drift_position: Positive  # walk of a neighbour's odometry [m/sqrt(s)]
    drift_yaw: Positive  # [rad/sqrt(s)]
    drift_memory: (
        Positive | None
    )  # in which it is forgotten, as ranges bound it [s]; null where it walks for ever
    prior_position: Positive  # what it may be off at first [m]
    prior_yaw: Positive  # [rad]
    instants: Count | None  # most instants between two keyframes, the size of F_k; null takes all
    exchange: Positive  # rate at which odometry is shown to neighbours [Hz]
    sharing: Literal["full", "self"]  # neighbours use physical terms too, or only ranges


class BatchSpec(Record):
    """Settings of method ``batch``."""

    ranges: Flag  # whether ranges count, where there are any
    track: Count  # keyframes, after which a track goes on as a new landmark, as in a window
    iterations: Count  # most steps of Levenberg-Marquardt


class VirpoSpec(Record):
    """An estimator with a sliding window."""

    rate: Positive  # most keyframes a second that are taken from the images [Hz]
    keyframes: Count  # in the window, besides the newest
    iterations: Annotated[int, Field(strict=True, ge=1, le=100)]  # Gauss-Newton steps an update
    inertial: UnitErrors
    pixels: Positive  # deviation of a tracked coordinate [px]
    cull: Positive  # a view farther from its landmark than this is forgotten [px]
    parallax: Positive  # mean shift of tracks that makes a keyframe [px]
    fewest_tracks: Count  # known tracks below which every image is a keyframe
    longest: Positive  # between keyframes [s]
    range_deviation: Positive | None  # of a range, in place of what the tag says [m]
    range_gate: RangeGateSpec | None  # null takes every anchor
    detour_gate: (
        Positive | None
    )  # deviations beyond which a single range is left out; null takes every range
    huber: Widths
    start: StartDeviations
    unknown: StartDeviations
    restart: StartDeviations
    settling: Count
    rest: Rest
    failure: Failure
    rigid: RigidSpec
    physical: Physical
    batch: BatchSpec
    patience: Positive  # how long an update waits for images that are late [s]
    most_patience: Positive  # the same at most, once some came later than that [s]


def load_spec(name: str = "default") -> VirpoSpec:
    """The settings of a preset."""
    return validate(VirpoSpec, PRESETS.tree(name), source=str(PRESETS.file(name)))

# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the estimators; presets are ``data/virpo/NAME.yaml``."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from iap_description.config.record import Presets, Record, validate
from iap_description.config.values import Count, Flag, Hertz, Magnitude, NonNegative

PRESETS = Presets(
    Path(__file__).parents[1] / "data" / "virpo", "estimator settings", base="default"
)

MAX_KEYFRAMES = 200  # of a window, whose matrix grows by their square


class UnitErrors(Record):
    """Errors of inertial units; null takes what a data set says of its own."""

    gyro_noise: Magnitude | None  # density [rad/s/sqrt(Hz)]
    gyro_walk: Magnitude | None  # of its bias [rad/s^2/sqrt(Hz)]
    gyro_scale: NonNegative | None  # deviation of its scale and alignment together, relative
    accel_noise: Magnitude | None  # density [m/s^2/sqrt(Hz)]
    accel_walk: Magnitude | None  # of its bias [m/s^3/sqrt(Hz)]
    scale_memory: Magnitude  # for which a motion, and with it an error of scale, lasts [s]


class Widths(Record):
    """Widths of Huber's kernels, in deviations."""

    vision: Magnitude
    ranges: Magnitude
    physical: Magnitude


class StartDeviations(Record):
    """Standard deviations of a first state: SI units, angles in degrees."""

    position: Magnitude
    yaw_deg: Magnitude
    tilt_deg: Magnitude
    velocity: Magnitude
    gyro_bias: Magnitude
    accel_bias: Magnitude
    alignment_position: Magnitude
    alignment_yaw_deg: Magnitude


class Rest(Record):
    """Thresholds below which an aircraft stands still, and how still it stands."""

    parallax: Magnitude  # mean shift of tracks below which it may [px]
    turn: Magnitude  # mean angular velocity [rad/s]
    force: Magnitude  # mean specific force off gravity [m/s^2]
    velocity: Magnitude  # deviation of its velocity from zero [m/s]


class Failure(Record):
    """Limits beyond which an estimate has failed."""

    speed: Magnitude  # [m/s]
    gyro_bias: Magnitude  # [rad/s]
    accel_bias: Magnitude  # [m/s^2]
    jump: Magnitude  # between two updates, off what the inertial unit says [m]
    gap: Magnitude  # without inertial samples [s]


class RigidSpec(Record):
    """Settings for the central body, in a joint window and in its filter."""

    joint: Magnitude  # deviation of a joint's place [m]
    width: Magnitude  # of Huber's kernel on all joints of a keyframe, in deviations
    tilt_memory: Magnitude  # correlation time of the autopilot's errors in roll and pitch [s]
    place_memory: Magnitude  # of errors in the aircraft's places, for the filter, which takes them as measured [s]
    tilt_start_deg: Magnitude
    yaw_start_deg: Magnitude
    accel_bias_start: Magnitude  # deviation of the central accelerometer's bias at first [m/s^2]


class RangeGateSpec(Record):
    """Thresholds above which an anchor is left out, since its ranges are wrong for long."""

    memory: Magnitude  # of the running means of what its ranges are off [s]
    limit: Magnitude  # deviations beyond which such a mean is not chance
    back: Magnitude  # deviations below which the anchor counts again
    floor: Magnitude  # what stays of a range's deviation in a mean of many [m]


class Physical(Record):
    """Deviations of neighbours' odometry (TABLE IX), and the terms in use."""

    position: Flag  # r_kp (11)
    velocity: Flag  # r_kv (13)
    attitude: Flag  # r_kq (15), (16)
    drift: Flag  # r_drift (4)
    distance: Magnitude  # sigma_l [m]
    turn: Magnitude  # sigma_omega [rad/s]
    tilt: Magnitude  # sigma_att, of a cosine
    drift_position: Magnitude  # walk of a neighbour's odometry [m/sqrt(s)]
    drift_yaw: Magnitude  # [rad/sqrt(s)]
    drift_memory: (
        Magnitude | None
    )  # in which it is forgotten, as ranges bound it [s]; null where it walks for ever
    prior_position: Magnitude  # what it may be off at first [m]
    prior_yaw: Magnitude  # [rad]
    instants: Count | None  # most instants between two keyframes, the size of F_k; null takes all
    exchange: Magnitude  # rate at which odometry is shown to neighbours [Hz]
    sharing: Literal["full", "self"]  # neighbours use physical terms too, or only ranges


class BatchSpec(Record):
    """Settings of method ``batch``."""

    ranges: Flag  # whether ranges count, where there are any
    track: Count  # keyframes, after which a track goes on as a new landmark, as in a window
    iterations: Count  # most steps of Levenberg-Marquardt


class VirpoSpec(Record):
    """An estimator with a sliding window."""

    rate: Hertz  # most keyframes a second that are taken from the images [Hz]
    keyframes: Annotated[
        int, Field(strict=True, ge=1, le=MAX_KEYFRAMES)
    ]  # in the window, besides the newest
    iterations: Annotated[int, Field(strict=True, ge=1, le=100)]  # Gauss-Newton steps an update
    inertial: UnitErrors
    pixels: Magnitude  # deviation of a tracked coordinate [px]
    cull: Magnitude  # a view farther from its landmark than this is forgotten [px]
    parallax: Magnitude  # mean shift of tracks that makes a keyframe [px]
    fewest_tracks: Count  # known tracks below which every image is a keyframe
    longest: Magnitude  # between keyframes [s]
    range_deviation: Magnitude | None  # of a range, in place of what the tag says [m]
    range_gate: RangeGateSpec | None  # null takes every anchor
    detour_gate: (
        Magnitude | None
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
    patience: Magnitude  # how long an update waits for images that are late [s]
    most_patience: Magnitude  # the same at most, once some came later than that [s]


def load_spec(name: str = "default") -> VirpoSpec:
    """The settings of a preset."""
    return validate(VirpoSpec, PRESETS.tree(name), source=str(PRESETS.file(name)))

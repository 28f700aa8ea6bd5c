# SPDX-License-Identifier: BSD-3-Clause
"""Checks of an inertial unit's units (m/s^2, rad/s), and of the sign of its accelerometer."""

import math

import numpy as np

from iap_description.arrays import Array
from iap_description.earth import STANDARD_GRAVITY
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.datasets.accelerometer_axes import axes_text, gravity_of, signed_axes
from iap_estimation.datasets.data_sample import DataSample
from iap_estimation.evaluation.trajectory_errors import poses_at
from iap_io.trajectories.tilts import bumps

FORCE_UNITS = {  # specific force of one unit [m/s^2]
    "g": STANDARD_GRAVITY,
    "mg": 1e-3 * STANDARD_GRAVITY,
    "cm/s^2 (Gal)": 0.01,
    "mm/s^2": 0.001,
}
LIKELY = (0.6, 1.6)  # specific force over gravity, in the median of a flight or a walk
GRAVITY_TOLERANCE = 0.2  # relative, to which a unit's gravity fits
STEADY = 0.5  # part of the median of specific forces that their mean comes to at least with gravity in them
LEANING = 45.0  # of the truth's vertical against the accelerometer's [deg]
ON_ITS_HEAD, LOOKS_UP = 0.5, 0.7  # components of the vertical along a camera's y and z
DEGREE = np.pi / 180.0
RATE_UNITS = {
    DEGREE: "deg/s",
    -1.0: "rad/s of the opposite sense",
    -DEGREE: "deg/s of the opposite sense",
}
BETTER = 0.3  # part of the misfit that another unit leaves, where it is the right one
DOUBTFUL = 1.5  # the same, from which on they do not fit
SEEN = 1.5e-3  # misfit of images without any turn from which on they have turned [rad]
TURNING = 0.6  # part of the misfit without any turn that is left with right ones, at most
LARGE = 15.0  # by which gravity misses its place after a turn, from which on another unit is tried [deg]
STEP, BUMP_HALF, BUMP_PERIOD = 0.01, 0.3, 0.1  # of even times, half of a bump, between bumps [s]
FEWEST_BUMPS = 20
MIN_ACCELERATION = 0.1  # RMS acceleration below which nothing is said [m/s^2]
MATCHES = 0.2  # share of the accelerations that one map leaves, where it says anything
DIFFERS = 0.5  # least share that remains without a map, where they do not move alike


def force_size(sample: DataSample) -> str | None:
    """Specific force in the median beside gravity.

    Raises:
        BadInput: it is not in m/s^2.
    """
    sizes = np.linalg.norm(sample.f_B, axis=1)
    size = float(np.median(sizes))
    gravity = sample.dataset.gravity
    if LIKELY[0] < size / gravity < LIKELY[1]:
        return f"specific force {size:.2f} m/s^2 in the median"
    low, high = np.quantile(sizes, [0.1, 0.9])
    is_steady = float(np.linalg.norm(sample.f_B.mean(axis=0))) > STEADY * size
    if not is_steady and high - low > STEADY * size:
        raise BadInput(
            f"{sample.dataset.source}: specific forces of {low:.2g} to {high:.2g} m/s^2, {size:.2g} in the median, have"
            " no gravity in them: it was taken out, as of a linear acceleration: record what the accelerometer measures"
        )
    off = {unit: abs(size * value / gravity - 1.0) for unit, value in FORCE_UNITS.items()}
    fitting = sorted((unit for unit in off if off[unit] < GRAVITY_TOLERANCE), key=off.__getitem__)
    if fitting:
        scales = " or ".join(f"{FORCE_UNITS[unit]:g}" for unit in fitting)
        raise BadInput(
            f"{sample.dataset.source}: the accelerometer says {size:.4g} in the median, which is gravity in"
            f" {' or '.join(fitting)}, not in m/s^2: --accel-scale {scales}"
        )
    raise BadInput(
        f"{sample.dataset.source}: a specific force of {size:.3g} m/s^2 in the median is not gravity's"
        f" ({gravity:.2f}): --accel-scale FACTOR, if it has another unit"
    )


def vertical_of_truth(sample: DataSample) -> str | None:
    """The truth's vertical beside the accelerometer's.

    Raises:
        BadInput: they are far apart.
    """
    truth = sample.dataset.aircraft[0].truth
    if truth is None or not truth.has_attitude or truth.is_turned:
        return None
    inside = (sample.t >= truth.t[0]) & (sample.t <= truth.t[-1])
    if not inside.any():
        return None
    q = poses_at(sample.t[inside], truth.t, truth.poses)[:, 3:]
    up = so3.rotate(q, sample.f_B[inside]).mean(axis=0)
    angle = float(np.degrees(np.arctan2(np.hypot(up[0], up[1]), up[2])))
    if angle < LEANING:
        return f"{angle:.1f} deg off the truth's vertical"
    remedy = (
        "its sign is flipped: --accel-scale -1"
        if angle > 180.0 - LEANING
        else "is the truth's z axis up, and are its quaternions in order?"
    )
    raise BadInput(
        f"{sample.dataset.source}: by the truth's attitude the accelerometer's vertical is {angle:.0f} deg off:"
        f" {remedy}"
    )


def vertical_of_camera(sample: DataSample) -> str | None:
    """The camera as gravity says that it stands, where no truth says so.

    Raises:
        BadInput: it stands on its head or looks up, and the user has not said that the sign is right.
    """
    calibration, truth = sample.dataset.aircraft[0].calibration, sample.dataset.aircraft[0].truth
    if calibration is None or (truth is not None and truth.has_attitude):
        return None
    f = sample.f_B.mean(axis=0)
    up = so3.rotate(so3.conjugate(calibration.q_BC[0]), f / np.linalg.norm(f))
    if up[1] < ON_ITS_HEAD and up[2] < LOOKS_UP:
        return None
    how = "stands on its head" if up[1] >= ON_ITS_HEAD else "looks up"
    if sample.is_scaled:
        return f"the camera {how}"
    raise BadInput(
        f"{sample.dataset.source}: by the accelerometer the camera {how}: its sign is flipped, --accel-scale -1, or"
        " it is so: --accel-scale 1"
    )


def rate_unit(sample: DataSample) -> str | None:
    """Turns by the gyroscope beside those of images, or of gravity in the body's axes.

    Raises:
        BadInput: they fit in another unit than rad/s.
    """
    if len(sample.samples) < 2:
        return None
    if not sample.pairs:
        _check_rate_by_gravity(sample)
        return None
    still, now = sample.misfits(0.0).least, sample.misfits(1.0).least
    if now < TURNING * still:
        return "its turns fit the images'"
    others = {factor: sample.misfits(factor).least for factor in RATE_UNITS}
    best = min(others, key=lambda factor: others[factor])
    fits = min(BETTER * now, TURNING * still)
    axes, left = _other_axes(sample, by_half_turns=others[best] < fits)
    if left < min(fits, BETTER * others[best]):
        raise BadInput(
            f"{sample.dataset.source}: the gyroscope fits the turns of the images if x, y, z of the inertial unit are"
            f" its {axes}: it is mounted otherwise than /tf_static, T_BS or --calibration says, to be mended there"
        )
    if others[best] < fits:
        raise _wrong_unit(sample, best, "the turns of the images")
    if still < SEEN and now < max(DOUBTFUL * still, SEEN):  # at rest, noise alone turns
        return "images do not turn enough to say whether its turns fit"
    return "its turns do not fit the images': are its axes, and the cameras' places on it, right?"


def _other_axes(sample: DataSample, *, by_half_turns: bool) -> tuple[str, float]:
    """The axes that an inertial unit would have where its turns fit best, and their misfit [rad].

    Args:
        sample: of the data.
        by_half_turns: whether it is turned by 180 deg alone, else by quarters, too.
    """
    best, least = "", math.inf
    for axes in signed_axes():
        is_turn = np.linalg.det(axes) > 0.0 and not (by_half_turns and not np.diag(axes).all())
        if is_turn:
            left = sample.misfits(tuple(map(tuple, axes.tolist()))).least
            if left < least:
                best, least = axes_text(axes), left
    return best, least


def _check_rate_by_gravity(sample: DataSample) -> None:
    now, degrees = (gravity_of(sample, factor) for factor in (1.0, DEGREE))
    if now is None or degrees is None or now.misses() < LARGE:
        return
    if degrees.misses() < BETTER * now.misses():
        raise _wrong_unit(sample, DEGREE, "where gravity goes in the body's axes")


def _wrong_unit(sample: DataSample, factor: float, beside: str) -> BadInput:
    return BadInput(
        f"{sample.dataset.source}: the gyroscope does not fit {beside} in rad/s, but in {RATE_UNITS[factor]}:"
        f" --gyro-scale {factor:.6g}"
    )


def motion_of_truth(sample: DataSample) -> str | None:
    r"""Places of the truth beside specific forces.

    Accelerations of places are means over bumps :math:`\varphi(\tau) = (1 - \tau^2)^3`, :math:`\int a \varphi =
    \int p \ddot\varphi`; those of the inertial unit are R f - g, averaged alike, less their mean. One map M between
    them is the identity where places are in metres and in the axes of the attitudes.

    Raises:
        BadInput: they move otherwise, by one map: in another unit or other axes.
    """
    truth = sample.dataset.aircraft[0].truth
    if truth is None or not truth.has_attitude or truth.is_turned or len(sample.samples) < 2:
        return None
    begin, end = max(sample.t[0], truth.t[0]), min(sample.t[-1], truth.t[-1])
    at = np.arange(begin, end, STEP)
    if end - begin < FEWEST_BUMPS * BUMP_PERIOD + 2.0 * BUMP_HALF:
        return None
    poses = poses_at(at, truth.t, truth.poses)
    f = np.stack([np.interp(at, sample.t, sample.f_B[:, k]) for k in range(3)], axis=1)
    positions, measured = _mean_accelerations(poses[:, :3], so3.rotate(poses[:, 3:], f))
    if float(np.sqrt(np.mean(np.sum(measured**2, axis=1)))) < MIN_ACCELERATION:
        return None
    size = float(np.sum(positions * measured) / np.sum(measured**2))
    M = np.linalg.lstsq(measured, positions, rcond=None)[0]
    as_is, by_size, by_map = (
        _left(positions, x) for x in (measured, size * measured, measured @ M)
    )
    if as_is < DIFFERS or by_map > MATCHES:
        return None
    why = f"{size:.3g} times as much: are they in another unit than metres"
    if by_size > MATCHES:
        why = "in other directions: are they in other axes than its attitudes"
    raise BadInput(
        f"{sample.dataset.source}: the truth's places move as the inertial unit feels it, but {why}? Convert them, or"
        " leave --truth out"
    )


def _left(positions: Array, measured: Array) -> float:
    """Share of accelerations that others leave."""
    return float(np.sum((positions - measured) ** 2) / max(float(np.sum(positions**2)), 1e-12))


def _mean_accelerations(p: Array, force: Array) -> tuple[Array, Array]:
    """Accelerations (B, 3) of places (K, 3), and those of forces (K, 3), over bumps; both less their means."""
    windows, bump, second = bumps(len(p), STEP, BUMP_HALF, BUMP_PERIOD)
    a = np.einsum("k,bki->bi", second, p[windows]) / bump.sum()
    measured = np.einsum("k,bki->bi", bump, force[windows]) / bump.sum()
    return a - a.mean(axis=0), measured - measured.mean(axis=0)

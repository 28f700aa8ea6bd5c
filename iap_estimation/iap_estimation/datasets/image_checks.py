# SPDX-License-Identifier: BSD-3-Clause
"""Checks of calibrations, of contents and delay of images, and of rest at the begin of one camera alone."""

import math

import numpy as np

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.datasets.data_sample import DataSample
from iap_estimation.datasets.image_rotation import Corners, Delay, GyroTurns, image_delay

FLAT = 8.0  # grey levels between percentiles 1 and 99, below which an image shows nothing
FULL = 0.9  # share of black or of saturated pixels, from which on it shows nothing
FEW_REPEATED = 0.03  # share of images that repeat the one before without a word
MANY = 0.2  # share of such images that is worth a word
AT_REST = (
    0.04  # movement of still points in the images, turns taken out, of a camera at rest [rad/s]
)
FOCAL, OFF_CENTRE = (0.08, 30.0), 0.45  # of images' width, and of their sizes from their middle
NARROWEST, FARTHEST = 0.003, 5.0  # of a pair, and of sensors of one aircraft [m]
FIRST_PAIRS = 4  # that show whether it is


def calibration(sample: DataSample) -> str | None:
    """Focal lengths, centres and places of the cameras that no camera has.

    Raises:
        BadInput: naming the unit that may be meant.
    """
    pair, source = sample.dataset.aircraft[0].calibration, sample.dataset.source
    if pair is None:
        return None
    for camera in (pair.left, pair.right):
        if camera is None:
            continue
        size = np.array([camera.width, camera.height])
        view, centre = camera.focal / camera.width, camera.K[:2, 2] / size
        if not (
            view.min() > FOCAL[0]
            and view.max() < FOCAL[1]
            and np.abs(centre - 0.5).max() < OFF_CENTRE
        ):
            raise BadInput(
                f"{source}: a camera of {camera.width}x{camera.height} pixels with focal lengths of"
                f" {camera.focal[0]:.4g} and {camera.focal[1]:.4g} and its centre at {camera.K[0, 2]:.4g},"
                f" {camera.K[1, 2]:.4g}: they are expected in pixels of these images"
            )
    away = float(np.linalg.norm(pair.p_BC_B[0]))
    between = None if pair.right is None else float(np.linalg.norm(pair.p_RL_R))
    if away > FARTHEST or (between is not None and not NARROWEST < between < FARTHEST):
        apart = "" if between is None else f", the pair {between:.4g} m apart"
        raise BadInput(
            f"{source}: the left camera is {away:.4g} m from the inertial unit{apart}: T_BS and /tf_static have metres,"
            " P[3] of a right camera is -fx times the baseline in metres; --calibration FILES says it anew"
        )
    return None


def contents(sample: DataSample) -> str | None:
    """Images that show nothing."""
    levels = sample.levels
    if not levels:
        return None
    kinds = {
        "black": [each.black > FULL for each in levels],
        "saturated": [each.saturated > FULL for each in levels],
        "without contrast": [each.high - each.low < FLAT for each in levels],
    }
    for kind, found_in in kinds.items():
        share = float(np.mean(found_in))
        if share > MANY:
            low, high = (
                float(np.median([getattr(e, n) for e in levels])) for n in ("low", "high")
            )
            return f"{share:.0%} of the images are {kind} (grey levels {low:.0f} to {high:.0f} of 255)"
    return None


def repeated(sample: DataSample) -> str | None:
    """Images that are the one before again, as of a camera that hangs."""
    if sample.repeated <= FEW_REPEATED * len(sample.image_times):
        return None
    return f"{sample.repeated} of {len(sample.image_times)} images repeat the one before: did the camera hang?"


def delay_of(sample: DataSample) -> Delay | None:
    """Delay of the images' stamps; None where nothing turns enough to tell."""
    if not sample.turns_can_be_seen:
        return None
    return image_delay(sample.misfits(1.0))


def rest_of_one_camera(sample: DataSample) -> str | None:
    """Motion at the beginning of a data set that has neither a second camera nor a truth to say how fast it is.

    Raises:
        BadInput: it begins in motion.
    """
    one = sample.dataset.aircraft[0]
    known = one.truth is not None and one.truth.has_attitude
    if known or one.calibration is None or one.calibration.right is not None:
        return None
    if not sample.turns_can_be_seen:
        return None
    rate = _parallax_rate(sample)
    if rate < AT_REST:
        return f"begins at rest (its view moves by {rate:.3f} rad/s)"
    raise BadInput(
        f"{sample.dataset.source}: one camera alone that begins in motion (its view moves by {rate:.2f} rad/s, turns"
        " taken out): nothing says how fast; begin where it stands with --from SECONDS, or give the truth or a second"
        " camera"
    )


def _parallax_rate(sample: DataSample) -> float:
    """Movement of directions between the first images, turns taken out, in the median [rad/s]."""
    corners = Corners.of(sample.pairs[:FIRST_PAIRS])
    q = GyroTurns(sample.t, sample.w_B).between(*corners.t)
    before, after = corners.rays
    turned = so3.rotate(np.broadcast_to(q[:, None], (*after.shape[:2], 4)), after)
    angles = np.nanmedian(np.linalg.norm(np.cross(before, turned), axis=2), axis=1)
    rate = float(np.median(angles / (corners.t[1] - corners.t[0])))
    return rate if math.isfinite(rate) else 0.0

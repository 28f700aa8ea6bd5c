# SPDX-License-Identifier: BSD-3-Clause
"""The beginning of a data set, looked at before it is localised: inertial samples, rays of followed corners, ranges."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.math import so3
from iap_description.process.extras import cv2
from iap_estimation.datasets.dataset import SensorDataset
from iap_estimation.datasets.image_rotation import NO_PAIR, Corners, GyroTurns, Misfits, RayPairs
from iap_estimation.frontend.calibration import CameraCalibration, StereoCalibration, homogeneous
from iap_estimation.navigation.measurements import Gray, Images
from iap_estimation.virpo.messages import ImuSample, Ranges

SAMPLE_DURATION = 20.0  # of the beginning of a data set with images [s]
MAX_IMAGES, MAX_PIXELS = 240, 1 << 28  # that are looked at, and of all of them together
CORNERS, QUALITY, CORNER_SPACING = (
    150,
    0.01,
    12.0,
)  # followed from one image to the next, and how far apart they are [px]
BACK = 0.7  # by which a corner that is followed there and back may miss itself [px]
OFF_ROW, LEAST_DISPARITY = 2.0, 3.0  # of a match from its line, and that says a distance [px]
PAIR_LEVELS = 5  # of pyramids, for large disparities
FEWEST_RAYS = 20  # of two images that say how a camera has turned


class GreyLevels(NamedTuple):
    """Grey levels of an image: percentiles 1, 50 and 99, and shares of black and of saturated pixels."""

    low: float
    median: float
    high: float
    black: float
    saturated: float


SignedAxes = tuple[tuple[float, ...], ...]  # a rotation (3, 3) of axes to axes


@dataclass
class DataSample:
    """Readings of the first aircraft's sensors at the beginning; of ranges, all.

    Attributes:
        dataset: that it is of.
        samples: of its inertial unit.
        levels: of the left images.
        image_times: of these [s].
        pairs: of images in a row that show the same corners.
        rounds: of ranges.
        is_scaled: whether the user says which sign and unit the accelerometer has.
    """

    dataset: SensorDataset
    samples: list[ImuSample] = field(default_factory=list)
    levels: list[GreyLevels] = field(default_factory=list)
    image_times: list[float] = field(default_factory=list)
    pairs: list[RayPairs] = field(default_factory=list)
    rounds: list[Ranges] = field(default_factory=list)
    is_scaled: bool = False
    repeated: int = 0
    _misfits: dict[float | SignedAxes, Misfits] = field(default_factory=dict)

    def misfits(self, factor: float | SignedAxes) -> Misfits:
        """Fit of the gyroscope's turns, times a factor or by other axes, to those of the images."""
        if factor not in self._misfits:
            w = factor * self.w_B if isinstance(factor, float) else self.w_B @ np.array(factor).T
            turns = GyroTurns(self.t, w)
            self._misfits[factor] = Misfits.of(Corners.of(self.pairs), turns)
        return self._misfits[factor]

    @property
    def turns_can_be_seen(self) -> bool:
        """True if there are inertial samples and images in a row."""
        return len(self.samples) > 1 and bool(self.pairs)

    @property
    def t(self) -> Array:
        """(n,) times of the inertial samples [s]."""
        return np.array([each.t for each in self.samples])

    @property
    def w_B(self) -> Array:
        """(n, 3) angular velocities [rad/s]."""
        return np.array([each.w_B for each in self.samples]).reshape(-1, 3)

    @property
    def f_B(self) -> Array:
        """(n, 3) specific forces [m/s^2]."""
        return np.array([each.f_B for each in self.samples]).reshape(-1, 3)


def sample_of(dataset: SensorDataset) -> DataSample:
    """Look at a data set's beginning; at all of one without images, which is small.

    Raises:
        BadInput: it cannot be read.
    """
    sample, begin = DataSample(dataset), None
    previous: Images | None = None
    for who, measured in dataset.events():
        begin = measured.t if begin is None else begin
        if dataset.has_cameras and _is_enough(sample, measured.t - begin):
            break
        if who == 0 and isinstance(measured, ImuSample):
            sample.samples.append(measured)
        elif who == 0 and isinstance(measured, Ranges):
            sample.rounds.append(measured)
        elif who == 0 and isinstance(measured, Images):
            _look(sample, previous, measured)
            previous = measured
    return sample


def _is_enough(sample: DataSample, span: float) -> bool:
    count, one = len(sample.image_times), sample.dataset.aircraft[0].cameras.left
    return (
        span > SAMPLE_DURATION or count > MAX_IMAGES or count * one.width * one.height > MAX_PIXELS
    )


def _look(sample: DataSample, previous: Images | None, images: Images) -> None:
    sample.levels.append(levels_of(images.left))
    sample.image_times.append(images.t)
    if previous is None or previous.left.shape != images.left.shape:
        return
    sample.repeated += bool(np.array_equal(previous.left, images.left))
    cameras = sample.dataset.aircraft[0].cameras
    pixels = followed(previous.left, images.left)
    rays, good = _rays(cameras.left, cameras.q_BC[0], pixels)
    if rays.shape[1] < FEWEST_RAYS:
        return
    nearness = NO_PAIR
    if previous.right is not None and cameras.right is not None:
        nearness = _nearness(cameras, previous.left, previous.right, pixels[0][good])
    sample.pairs.append(RayPairs((previous.t, images.t), rays, nearness))


def levels_of(image: Gray) -> GreyLevels:
    """Grey levels of an image, by every fourth of its rows and columns."""
    part = image[::4, ::4]
    low, median, high = np.percentile(part, [1, 50, 99])
    return GreyLevels(
        float(low),
        float(median),
        float(high),
        float(np.mean(part <= 3)),
        float(np.mean(part >= 252)),
    )


def followed(before: Gray, after: Gray) -> Array:
    """Pixels (2, n, 2) of corners in two images; those that do not lead back are left out."""
    corners: Any = cv2.goodFeaturesToTrack(before, CORNERS, QUALITY, CORNER_SPACING)
    if corners is None:
        return np.zeros((2, 0, 2))
    flow: Any = cv2.calcOpticalFlowPyrLK
    there, is_there, _ = flow(before, after, corners, None)
    back, is_back, _ = flow(after, before, there, None)
    misses = np.linalg.norm((back - corners).reshape(-1, 2), axis=1)
    sure = (is_there.ravel() == 1) & (is_back.ravel() == 1) & (misses < BACK)
    return np.stack([corners.reshape(-1, 2)[sure], there.reshape(-1, 2)[sure]]).astype(float)


def _nearness(cameras: StereoCalibration, left: Gray, right: Gray, pixels: Array) -> Array:
    """Inverse distances (n,) of what left pixels (n, 2) show [1/m]; NaN where the right image does not."""
    flow: Any = cv2.calcOpticalFlowPyrLK
    corners = pixels[:, None].astype(np.float32)
    there, is_there, _ = flow(left, right, corners, None, maxLevel=PAIR_LEVELS)
    back, is_back, _ = flow(right, left, there, None, maxLevel=PAIR_LEVELS)
    xy = cameras.left.normalized(pixels)
    across = cameras.second.normalized(there[:, 0])
    depth = cameras.inverse_depth(xy, across)
    sure = (is_there.ravel() == 1) & (is_back.ravel() == 1) & (depth > 0.0)
    sure &= np.linalg.norm((back - corners)[:, 0], axis=1) < BACK
    sure &= cameras.epipolar_distance(xy, across) < OFF_ROW
    baseline = float(np.linalg.norm(cameras.p_RL_R))
    sure &= depth * baseline * float(cameras.second.focal[0]) > LEAST_DISPARITY
    return np.where(sure, depth / np.linalg.norm(homogeneous(xy), axis=1), np.nan)


def _rays(camera: CameraCalibration, q_BC: Array, pixels: Array) -> tuple[Array, Booleans]:
    """Directions (2, n, 3) in the body's axes, and which of the pixels have one."""
    points = [homogeneous(camera.normalized(each)) for each in pixels]
    good = np.isfinite(points[0][:, 0]) & np.isfinite(points[1][:, 0])
    rays = np.stack(
        [each[good] / np.linalg.norm(each[good], axis=1, keepdims=True) for each in points]
    )
    turned = [so3.rotate(np.broadcast_to(q_BC, (len(each), 4)), each) for each in rays]
    return np.stack(turned), np.asarray(good)

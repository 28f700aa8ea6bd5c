# SPDX-License-Identifier: BSD-3-Clause
"""A camera with an inertial unit that sways before a painted plane, as a data set of somebody else's, in memory."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from painted_plane import HEIGHT, Q_BC, WIDTH, camera_of, homography, painting

from iap_description.math import so3
from iap_estimation.datasets.dataset import FROM_CAMERAS, SensorDataset
from iap_estimation.evaluation.truth import Truth
from iap_estimation.frontend.calibration import StereoCalibration
from iap_estimation.navigation.fleet_data import MEMS, AircraftData
from iap_estimation.navigation.measurements import Event, Images, Tally
from iap_estimation.virpo.messages import ImuSample

DEPTH, GRAVITY = 3.0, 9.81  # of the plane [m], [m/s^2]
IMU_STEP, IMAGE_STEP, H = 0.005, 0.05, 1e-3  # [s]


@dataclass(frozen=True)
class Sway:
    """Faults of the recording, if any.

    Attributes:
        duration: of it [s].
        accel: factor on specific forces, or factors (3,).
        gyro: the same on angular velocities.
        late: by which the stamps of images are too late [s].
        begins_still: whether it begins at rest.
        has_truth: whether what is true is known.
        gain: factor on the images.
        truth_map: what places of the truth are multiplied by, (3, 3).
    """

    duration: float = 3.2
    accel: float | np.ndarray = 1.0
    gyro: float | np.ndarray = 1.0
    late: float = 0.0
    begins_still: bool = True
    has_truth: bool = False
    gain: float = 1.0
    truth_map: np.ndarray | None = None

    def dataset(self) -> SensorDataset:
        """The data set."""
        cameras = StereoCalibration.single(camera_of(), np.zeros(3), Q_BC)
        one = AircraftData("hand", cameras, np.array(MEMS), truth=self._truth())
        return SensorDataset("sway", "sway", (one,), 0, self.events, Tally(), (), FROM_CAMERAS)

    def events(self) -> Iterator[Event]:
        """Inertial samples and images, in the order of their stamps."""
        t = np.arange(0.0, self.duration, IMU_STEP)
        w, f = self._inertial(t)
        rows = zip(t.tolist(), self.gyro * w, self.accel * f, strict=True)
        inertial = [ImuSample(*each) for each in rows]
        times = np.arange(0.0, self.duration - 0.4, IMAGE_STEP)
        images = [(float(one) + self.late, float(one)) for one in times]
        waiting = iter(images)
        newest = next(waiting, None)
        for sample in inertial:
            while newest is not None and newest[0] <= sample.t:
                yield 0, Images(newest[0], self._image(newest[1]), None)
                newest = next(waiting, None)
            yield 0, sample

    def _image(self, t: float) -> np.ndarray:
        image = _picture(t, self.begins_still)
        return np.clip(self.gain * image, 0, 255).astype(np.uint8)

    def _inertial(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Angular velocities (n, 3), each between two samples, and specific forces (n, 3)."""
        (before, q_0), (here, q), (after, q_1) = (
            motion(t + by, self.begins_still) for by in (-H, 0.0, H)
        )
        w = so3.quaternion_log(so3.multiply(so3.conjugate(q_0), q_1)) / (2.0 * H)
        a_W = (after - 2.0 * here + before) / H**2 + [0.0, 0.0, GRAVITY]
        return w, so3.rotate(so3.conjugate(q), a_W)

    def _truth(self) -> Truth | None:
        if not self.has_truth:
            return None
        t = np.arange(0.0, self.duration, IMU_STEP)
        p, q = motion(t, self.begins_still)
        p = p if self.truth_map is None else p @ self.truth_map.T
        return Truth(t, np.hstack([p, q]))


def motion(t: np.ndarray, begins_still: bool) -> tuple[np.ndarray, np.ndarray]:
    """Places (n, 3) and attitudes (n, 4) of the body in a world with z up; its x axis looks at the plane."""
    s = 1.0 - np.exp(-((t / 0.7) ** 2)) if begins_still else np.ones_like(t)
    p = s[:, None] * np.stack([0.0 * t, 0.3 * np.sin(2.1 * t), 0.2 * np.sin(1.7 * t)], -1)
    turn = np.stack([0.1 * np.sin(2.9 * t), 0.08 * np.sin(3.7 * t), 0.12 * np.sin(2.3 * t)], -1)
    return p, so3.quaternion_exp(s[:, None] * turn)


@lru_cache(maxsize=400)
def _picture(t: float, begins_still: bool) -> np.ndarray:
    (p,), (q,) = motion(np.array([t]), begins_still)
    q_BC = np.asarray(Q_BC)
    p_O = so3.rotate(so3.conjugate(q_BC), p)
    q_OC = so3.multiply(so3.conjugate(q_BC), so3.multiply(q, q_BC))
    H_IP = homography(p_O, q_OC, DEPTH)
    return cv2.warpPerspective(_painting(), H_IP, (WIDTH, HEIGHT), flags=cv2.INTER_LINEAR)


@lru_cache(maxsize=1)
def _painting() -> np.ndarray:
    return painting()

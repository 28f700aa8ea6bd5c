# SPDX-License-Identifier: BSD-3-Clause
"""A pair's distance in another unit is told where it moves, by what the inertial unit feels; at rest, nothing tells."""

from collections.abc import Iterator
from functools import lru_cache

import cv2
import numpy as np
import pytest
from painted_plane import BASELINE, HEIGHT, Q_BC, WIDTH, homography, painting, pair_of

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.datasets.data_sample import sample_of
from iap_estimation.datasets.dataset import FROM_CAMERAS, SensorDataset
from iap_estimation.datasets.stereo_scale import distance_of_pair
from iap_estimation.navigation.fleet_data import MEMS, AircraftData
from iap_estimation.navigation.measurements import Event, Images, Tally
from iap_estimation.virpo.messages import ImuSample

DURATION, DEPTH, H = 4.0, 2.0, 1e-3  # [s], [m], [s]
PLACES = np.array([[0.0, 0.5 * BASELINE, 0.0], [0.0, -0.5 * BASELINE, 0.0]])


def motion(t: np.ndarray, size: float) -> tuple[np.ndarray, np.ndarray]:
    """Places and attitudes of a body that looks along x at a plane and sways, more or less far."""
    p = size * np.stack([0.15 * np.sin(1.9 * t), 0.3 * np.sin(2.1 * t), 0.2 * np.sin(1.7 * t)], -1)
    turn = np.stack([0.06 * np.sin(2.9 * t), 0.05 * np.sin(3.7 * t), 0.08 * np.sin(2.3 * t)], -1)
    return p, so3.quaternion_exp(turn)


@lru_cache(maxsize=800)
def picture(t: float, size: float, side: int) -> np.ndarray:
    (p,), (q,) = motion(np.array([t]), size)
    p = p + so3.rotate(q, PLACES[side])
    q_BC = np.asarray(Q_BC)
    back = so3.conjugate(q_BC)
    H_IP = homography(so3.rotate(back, p), so3.multiply(back, so3.multiply(q, q_BC)), DEPTH)
    return cv2.warpPerspective(_painting(), H_IP, (WIDTH, HEIGHT), flags=cv2.INTER_LINEAR)


@lru_cache(maxsize=1)
def _painting() -> np.ndarray:
    return painting()


def events(size: float) -> Iterator[Event]:
    rng = np.random.default_rng(2)
    t = np.arange(0.0, DURATION, 0.005)
    (before, q_0), (here, q), (after, q_1) = (motion(t + by, size) for by in (-H, 0.0, H))
    w = so3.quaternion_log(so3.multiply(so3.conjugate(q_0), q_1)) / (2.0 * H)
    a_W = (after - 2.0 * here + before) / H**2 + [0.0, 0.0, 9.81]
    f = so3.rotate(so3.conjugate(q), a_W) + [0.1, -0.05, 0.1] + 0.03 * rng.normal(size=w.shape)
    w = w + [0.004, -0.003, 0.002] + 0.003 * rng.normal(size=w.shape)
    for k, one in enumerate(t.tolist()):
        yield 0, ImuSample(one, w[k], f[k])
        if k % 10 == 0:
            yield 0, Images(one, picture(one, size, 0), picture(one, size, 1))


def said(size: float, told: float) -> str | None:
    """The line on a pair whose calibration has another distance than it is built with."""
    one = AircraftData("hand", pair_of(baseline=told), np.array(MEMS))
    dataset = SensorDataset(
        "pair", "pair", (one,), 0, lambda: events(size), Tally(), (), FROM_CAMERAS
    )
    return distance_of_pair(sample_of(dataset))


def test_a_right_distance_fits_the_accelerations() -> None:
    assert "its distance fits the accelerations, within" in str(said(1.0, BASELINE))


@pytest.mark.parametrize("factor", [10.0, 0.1, 2.0])
def test_another_distance_is_refused_with_the_one_that_fits(factor: float) -> None:
    with pytest.raises(BadInput, match=r"^pair: images move .* times as far .* with the pair 0.1"):
        said(1.0, factor * BASELINE)


@pytest.mark.parametrize("factor", [1.0, 10.0])
def test_a_pair_that_hardly_moves_tells_nothing(factor: float) -> None:
    text = "they move too little to say whether that distance is right"
    assert said(0.0, factor * BASELINE) == text

# SPDX-License-Identifier: BSD-3-Clause
"""Images of a painted plane, made by homographies, and the cameras that see it."""

import cv2
import numpy as np

from iap_description.config.record import validate
from iap_description.math import so3
from iap_estimation.frontend.calibration import CameraCalibration, StereoCalibration
from iap_estimation.frontend.spec import PRESETS, FrontendSpec
from iap_estimation.frontend.tracker import StereoTracker

WIDTH, HEIGHT, FOCAL, BASELINE = 320, 240, 200.0, 0.1  # [px], [m]
SIZE = 900  # of the painting [px]
PER_METRE = 100.0  # pixels of the painting
Q_BC = np.array([-0.5, 0.5, -0.5, 0.5])  # x of the optical frame is -y of the body, y is -z
STILL = np.array([0.0, 0.0, 0.0, 1.0])
LENS = (-0.28, 0.07, 0.0002, 0.00002, 0.0)


def camera_of(D=(0.0,) * 5, source="test"):
    K = [[FOCAL, 0.0, 0.5 * (WIDTH - 1)], [0.0, FOCAL, 0.5 * (HEIGHT - 1)], [0.0, 0.0, 1.0]]
    return CameraCalibration.of((WIDTH, HEIGHT), K, D, model="plumb_bob", source=source)


def pair_of(D=(0.0,) * 5, turn_right=STILL, baseline=BASELINE):
    places = [[0.0, 0.5 * baseline, 0.0], [0.0, -0.5 * baseline, 0.0]]
    return StereoCalibration.of(
        camera_of(D), camera_of(D), places, [Q_BC, so3.multiply(Q_BC, turn_right)]
    )


def tracker_of(pair=None, **changes):
    tree = {**PRESETS.tree("default"), "max_tracks": 60, "spacing": 15.0, **changes}
    return StereoTracker(pair or pair_of(), validate(FrontendSpec, tree, source="test"))


def painting(seed=0):
    """Blots of several sizes (SIZE, SIZE), without aliasing."""
    rng = np.random.default_rng(seed)
    blots = sum(_noise(rng, blur) for blur in (1.5, 4.0, 10.0))
    return np.clip(128.0 + 45.0 * blots, 0.0, 255.0).astype(np.uint8)


def _noise(rng, blur):
    smooth = cv2.GaussianBlur(rng.normal(size=(SIZE, SIZE)), (0, 0), blur)
    return smooth / smooth.std()


def homography(p_W, q_WC, depth, lean=0.0):
    """From the painting's pixels to the image's, of the plane z = depth + lean x in the world's optical axes.

    The world's frame is the optical frame of a camera with p_W = 0 and no rotation.
    """
    middle = 0.5 * (SIZE - 1)
    flat = np.array([[1.0, 0.0, -middle], [0.0, 1.0, -middle], [lean, 0.0, -lean * middle]])
    plane = flat / PER_METRE
    plane[2, 2] += depth
    plane[:, 2] -= p_W
    R_CW = so3.matrix_from_quaternion(so3.conjugate(np.asarray(q_WC)))
    return camera_of().K @ R_CW @ plane


def look(picture, p_W=(0.0, 0.0, 0.0), q_WC=STILL, depth=2.0, lean=0.0, D=None):
    """The image from a place, through a lens D or without one."""
    H = homography(np.array(p_W), q_WC, depth, lean)
    u, v = np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT))
    uv = np.stack([u.ravel(), v.ravel()], -1).astype(float)
    if D is not None:
        camera = camera_of(D)
        uv = camera_of().project(np.column_stack([camera.normalized(uv), np.ones(len(uv))]))
    at = moved(np.linalg.inv(H), uv).astype(np.float32).reshape(HEIGHT, WIDTH, 2)
    return cv2.remap(picture, at, None, cv2.INTER_CUBIC)


def moved(H, uv):
    """Pixels (n, 2) through a homography."""
    x = np.column_stack([uv, np.ones(len(uv))]) @ H.T
    return x[:, :2] / x[:, 2:]


def pixels(xy):
    """Pixels of normalised points (n, 2) in the lens-less camera."""
    return FOCAL * xy + 0.5 * np.array([WIDTH - 1, HEIGHT - 1])

# SPDX-License-Identifier: BSD-3-Clause
"""The ground is seen wherever a camera looks down on it: nothing of it is left out by mistake."""

import numpy as np
import pytest

from iap_description.math import so3
from iap_description.scenes.library import load_scene, scene_names
from iap_description.sensors.mounts import optical
from iap_sensors.cameras.model import CameraModel
from iap_sensors.cameras.renderer import Shot
from iap_sensors.cameras.spec import PRESETS as CAMERAS
from iap_sensors.cameras.spec import CameraSpec

CAMERA = CameraSpec(**{**CAMERAS.tree("vi_g"), "outputs": ("depth",)})
MODEL = CameraModel.of(CAMERA)
REACH = 59.0  # to which all scenes have ground [m]
LOOKS = 24
RAYS_C = MODEL.unproject(np.stack(np.meshgrid(np.arange(0.0, 640, 4), np.arange(0.0, 480, 4)), -1))


def looks():
    """Places (3,) and attitudes (4,) of cameras about where aircraft fly."""
    rng = np.random.default_rng(6)
    for place in rng.uniform((-9.0, -5.0, 1.0), (9.0, 5.0, 7.0), (LOOKS, 3)):
        rpy = rng.uniform((-0.4, -0.4, -np.pi), (0.4, 0.4, np.pi))
        yield place, optical(so3.quaternion_from_matrix(so3.matrix_from_euler(rpy)))


def on_ground(place, attitude):
    """Which of the rays meet the ground within reach."""
    rays_W = RAYS_C @ so3.matrix_from_quaternion(attitude).T
    is_down = rays_W[..., 2] < -0.05
    depth = -place[2] / np.where(is_down, rays_W[..., 2], -1.0)
    spots = place + depth[..., None] * rays_W
    return is_down & (np.abs(spots[..., :2]) < REACH).all(axis=-1)


@pytest.mark.slow
@pytest.mark.parametrize("name", scene_names())
def test_there_is_no_hole_in_the_ground(opengl, name):
    opengl.load(load_scene(name), [])
    shots = [Shot(MODEL, CAMERA, place, attitude) for place, attitude in looks()]
    for shot, frame in zip(shots, opengl.render(shots, np.zeros((0, 7))), strict=True):
        unseen = np.isnan(frame.depth[::4, ::4]) & on_ground(shot.p_WC_W, shot.q_WC)
        assert not unseen.any(), f"{unseen.mean():.1%} of the image from {shot.p_WC_W.round(2)}"

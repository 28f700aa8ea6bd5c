# SPDX-License-Identifier: BSD-3-Clause
"""Scenes can be localised in: corners are followed through images of the flight that they are made for."""

import cv2
import numpy as np
import pytest
from flying import fly_scenario

from iap_bringup.experiments.images import followed
from iap_description.math import so3
from iap_description.scenes.library import load_scene, scene_names
from iap_description.scenes.textures import MAKERS, SIZE, make_texture
from iap_description.sensors.mounts import optical
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_sensors.cameras.model import CameraModel
from iap_sensors.cameras.renderer import Shot
from iap_sensors.cameras.spec import PRESETS as CAMERAS
from iap_sensors.cameras.spec import CameraSpec

FRAMES, EVERY = 10, 10  # images at 20 Hz of a flight at 200 Hz
STARTS = 12.0, 21.0, 30.0, 39.0  # [s]
FEATURES, FOGGY_FEATURES = 150, 60
CAMERA = CameraSpec(**CAMERAS.tree("vi_g"))
MODEL = CameraModel.of(CAMERA)


@pytest.fixture(scope="module")
def lap():
    """Times (T,) and states (T, bodies, 13) of one lap."""
    (flown,) = fly_scenario("figure_eight", "reference.laps=1")
    return flown.t, flown.x


def shots(t, x, start, drone):
    """What the left camera of an aircraft takes from a time on."""
    mount = Assembly.of(load_platform("three_star")).bodies[drone].mounts["left_camera"]
    first = np.searchsorted(t, start)
    for row in x[first : first + FRAMES * EVERY : EVERY, drone]:
        place = row[:3] + so3.rotate(row[3:7], np.array(mount.position))
        yield Shot(MODEL, CAMERA, place, optical(row[3:7]))


@pytest.mark.slow
@pytest.mark.parametrize("name", scene_names())
def test_corners_are_followed_in_every_scene(opengl, lap, name):
    opengl.load(load_scene(name), [])
    counts = []
    for k, start in enumerate(STARTS):
        frames = opengl.render(list(shots(*lap, start, 1 + k % 3)), np.zeros((0, 7)))
        counts.append(followed([frame.mono for frame in frames]))
    assert min(counts) >= (FOGGY_FEATURES if name == "foggy_arena" else FEATURES), counts


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_a_texture_has_corners_from_near_and_from_afar(name):
    grey = cv2.cvtColor(make_texture(name), cv2.COLOR_RGB2GRAY)
    for smaller in (1, 4, 16):
        size = SIZE // smaller
        seen = cv2.resize(grey, (size, size), interpolation=cv2.INTER_AREA)
        corners = cv2.goodFeaturesToTrack(seen, 1000, 0.01, 3)
        assert len(corners) >= {1: 400, 4: 150, 16: 15}[smaller]
        assert seen.std() > 12.0


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_a_texture_is_middle_grey_and_repeats_without_a_seam(name):
    grey = cv2.cvtColor(make_texture(name), cv2.COLOR_RGB2GRAY).astype(float)
    assert 110.0 < grey.mean() < 145.0
    for axis in (0, 1):
        steps = np.abs(np.diff(grey, axis=axis, append=grey.take([0], axis))).mean(axis=1 - axis)
        assert steps[-1] < 1.5 * steps[:-1].max()

# SPDX-License-Identifier: BSD-3-Clause
"""Depth by triangulation: its noise, its steps and its holes."""

import numpy as np
import pytest
from effect_images import camera_with, light_of
from small_scenes import spec

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_sensors.camera_effects.depth_errors import _fill
from iap_sensors.cameras.renderer import Frame
from iap_sensors.cameras.spec import PRESETS, CameraSpec

SIZE = {"width": 320, "height": 240, "cx": 159.5, "cy": 119.5, "fx": 300.0, "fy": 300.0}
BASELINE = 0.1


def measured(depth, light=None, **errors):
    """The depth that a camera gives of a true one (h, w) [m]."""
    effects = {"depth_errors": {"baseline": BASELINE, "disparity_noise": 0.0, **errors}}
    camera = camera_with(effects, **SIZE, outputs=("mono8", "depth"))
    light = light_of(camera) if light is None else light
    return camera.develop(Frame(light=light.astype(np.float32), depth=depth)).depth


def plane(z):
    return np.full((240, 320), z, np.float32)


@pytest.mark.parametrize("z", [1.0, 4.0])
def test_noise_grows_with_the_square_of_depth(z):
    found = measured(plane(z), disparity_noise=0.1)
    inner = found[:, 40:]
    assert np.std(inner) == pytest.approx(z * z * 0.1 / (300.0 * BASELINE), rel=0.05)
    assert np.mean(inner) == pytest.approx(z, rel=0.01)


def test_depths_come_in_steps_of_disparity():
    ramp = np.tile(np.linspace(2.0, 6.0, 320, dtype=np.float32), (240, 1))
    found = measured(ramp, step=0.125)
    steps = 300.0 * BASELINE / found[np.isfinite(found)] / 0.125
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-3)


def test_a_near_thing_hides_what_is_to_its_left():
    """The hole is as wide as the difference of disparities."""
    depth = plane(6.0)
    depth[80:160, 150:200] = 1.5
    found = measured(depth)
    width = 300.0 * BASELINE * (1.0 / 1.5 - 1.0 / 6.0)
    hole = np.isnan(found[120, 60:200])
    assert hole.sum() == pytest.approx(width, abs=1.0)
    assert np.flatnonzero(hole).max() + 60 == 149


def test_holes_are_filled_with_what_is_behind():
    depth = plane(6.0)
    depth[80:160, 150:200] = 1.5
    found = measured(depth, fill=True)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[120, 130:150], 6.0, rtol=1e-5)


def test_a_hole_has_the_farther_of_its_neighbours_or_the_only_one():
    n = np.nan
    rows = [[1, n, n, 3, 9], [3, n, n, 1, 9], [n, n, 2, 5, 5], [5, 5, 2, n, n], [n, n, n, n, n]]
    filled = [[1, 3, 3, 3, 9], [3, 3, 3, 1, 9], [2, 2, 2, 5, 5], [5, 5, 2, 2, 2], [n] * 5]
    out = np.array(rows, np.float32)
    _fill(out)
    np.testing.assert_array_equal(out, np.array(filled, np.float32))


def test_what_the_right_imager_does_not_reach_gives_nothing():
    found = measured(plane(1.0))
    assert np.isnan(found[:, :29]).all() and np.isfinite(found[:, 31:]).all()


def test_an_even_wall_gives_no_match_without_a_projector():
    light = np.full((240, 320), 0.5)
    light[:, 160:] += 0.3 * np.random.default_rng(1).random((240, 160))
    found = measured(plane(4.0), light=light, contrast=0.05)
    assert np.isnan(found[:, 20:150]).all()
    assert np.isfinite(found[:, 165:]).mean() > 0.98


def test_nothing_stays_nothing_and_what_is_too_near_is_missed():
    depth = plane(np.inf)
    depth[:, 200:] = 0.1
    found = measured(depth, max_disparity=100.0)
    assert np.isinf(found[:, 25:200]).all()
    assert np.isnan(found[:, 200:]).all()


def test_edges_are_ragged_by_the_lateral_noise():
    depth = plane(4.0)
    depth[:, 160:] = 3.9
    found = measured(depth, lateral_noise=1.5)
    edges = np.array([np.flatnonzero(row < 3.95)[0] for row in found])
    assert np.std(edges) > 0.5


def test_errors_of_depth_need_depth():
    keys = {**PRESETS.tree("vi_g"), "effects": {"depth_errors": {"baseline": 0.1}}}
    with pytest.raises(
        BadInput, match=r"key 'effects.depth_errors': the camera's outputs have no"
    ):
        validate(CameraSpec, keys, source="scenario.yaml")


def test_depth_alone_needs_no_image():
    assert spec(outputs=("depth",), effects={"depth_errors": {"baseline": 0.1}}).gives_light

# SPDX-License-Identifier: BSD-3-Clause
"""Times of rows and exposures: rolling shutter, motion blur and flicker against their equations."""

import numpy as np
import pytest
from effect_images import SENSOR, camera_with, light_of, numbers
from small_scenes import scene, spec, spot, turned, wall

from iap_description.math import so3
from iap_description.math.random_streams import stream
from iap_sensors.cameras.camera import Camera
from iap_sensors.cameras.renderer import Frame

NO_BODIES = np.zeros((0, 7))
LINE = 4e-5
BARREL = (-0.283, 0.074, 0.0002, 0.00002, 0.0)
TILES, HALF, DISTANCE = 12, 6.0, 3.0


def spots_W():
    """(n, 3) middles of the spots on the wall."""
    at = 2.0 * HALF * ((np.arange(TILES) + 0.5) / TILES - 0.5)
    y, z = (each.ravel() for each in np.meshgrid(at, at))
    return np.stack([np.full_like(y, DISTANCE), y, z], -1)


def expected(camera, place, twist):
    """Pixels (n, 2) of the spots: each where its own row's camera projects it."""
    shot = camera.shot(place, twist)
    rows = np.full(TILES**2, 0.5 * (camera.spec.height - 1))
    for _ in range(20):
        t = (rows - 0.5 * (camera.spec.height - 1)) * LINE
        turns = so3.quaternion_exp(t[:, None] * np.asarray(twist[1]))
        q = so3.multiply(turns, np.tile(shot.q_WC, (len(t), 1)))
        p = shot.p_WC_W + t[:, None] * np.asarray(twist[0])
        uv = camera.model.project(so3.rotate(so3.conjugate(q), spots_W() - p))
        rows = np.where(np.isfinite(uv[:, 1]), uv[:, 1], 0.0)
    return uv


def centroids(image, uv, reach=9):
    """Centroids (n, 2) of what is dark around pixels."""
    found = []
    for u, v in np.round(uv).astype(int):
        window = image[v - reach : v + reach + 1, u - reach : u + reach + 1].astype(float)
        dark = window.max() - window
        r, c = np.mgrid[v - reach : v + reach + 1, u - reach : u + reach + 1]
        found.append([np.sum(dark * c) / dark.sum(), np.sum(dark * r) / dark.sum()])
    return np.array(found)


@pytest.mark.parametrize("distortion", [(0.0,) * 5, BARREL], ids=["pinhole", "barrel"])
@pytest.mark.parametrize(
    ("v_W", "w_W"),
    [((0.0, 5.0, 0.0), (0.0, 0.0, 0.0)), ((1.0, 2.0, 1.0), (0.5, -1.0, 2.0))],
    ids=["sideways", "turning"],
)
def test_a_rolling_shutter_shows_points_where_their_rows_project_them(
    opengl, distortion, v_W, w_W
):
    camera = Camera(
        spec(distortion=distortion, effects={"rolling_shutter": {"line_time": LINE, "bands": 32}}),
        stream(1, "left"),
    )
    opengl.load(
        scene(wall(DISTANCE, HALF, tiles=TILES, texture="spot"), textures={"spot": spot(0.02)}), []
    )
    place, twist = (np.zeros(3), turned(yaw=3.0)), (np.array(v_W), np.array(w_W))
    (frame,) = opengl.render([camera.shot(place, twist)], NO_BODIES)
    image, uv = camera.develop(frame).mono, expected(camera, place, twist)
    uv = uv[np.all((uv > 16) & (uv < [623, 463]), axis=-1)]
    assert len(uv) > 20
    off = np.linalg.norm(centroids(image, uv) - uv, axis=-1)
    assert off.max() < 0.2


def test_a_shutter_that_does_not_move_changes_nothing(opengl):
    opengl.load(
        scene(wall(DISTANCE, HALF, tiles=TILES, texture="spot"), textures={"spot": spot(0.02)}), []
    )
    images = []
    for effects in ({"rolling_shutter": {"line_time": LINE}}, None):
        camera = Camera(spec(effects=effects), stream(1, "left"))
        (frame,) = opengl.render([camera.shot((np.zeros(3), turned()))], NO_BODIES)
        images.append(camera.develop(frame).mono.astype(int))
    assert np.abs(images[0] - images[1]).max() <= 2


def test_motion_blur_is_the_mean_of_light_over_the_exposure(opengl):
    """A dark edge that moves by 20 pixels during the exposure becomes a ramp of 20 pixels."""
    parts = (wall(6.0, name="back"), wall(5.0, 2.0, name="front", color=(0.0, 0.0, 0.0, 1.0)))
    opengl.load(scene(*parts), [])
    speed = 20.0 / 0.01 * 5.0 / 320.0  # [m/s] along y: 20 pixels in 10 ms at 5 m
    effects = {
        "sensor": {**SENSOR, "full_well": 1e6, "bits": 16},
        "exposure": {"time": 0.01, "illuminance": 300.0},
        "motion_blur": {"samples": 40},
    }
    camera = Camera(spec(effects=effects), stream(1, "left"))
    twist = np.array([0.0, speed, 0.0]), np.zeros(3)
    (frame,) = opengl.render([camera.shot((np.zeros(3), turned()), twist)], NO_BODIES)
    row = frame.light[240].astype(float)
    share = row[:320] / row[:100].mean()
    inside = np.flatnonzero((share > 0.05) & (share < 0.95))
    assert len(inside) == pytest.approx(18, abs=2)
    slope = np.polyfit(inside, share[inside], 1)[0]
    assert -1.0 / slope == pytest.approx(20.0, rel=0.05)


def test_flicker_makes_stripes_of_twice_the_mains_frequency():
    """Rows a half period of the mains apart are equally bright; the ripple is that of the mean over the exposure."""
    time, line, mains = 2e-3, 1e-4, 50.0
    effects = {
        "sensor": {**SENSOR, "full_well": 1e6, "bits": 16},
        "exposure": {"time": time, "illuminance": 5e4},
        "rolling_shutter": {"line_time": line},
        "flicker": {"frequency": mains, "modulation": 0.5},
    }
    camera = camera_with(effects, outputs=("mono8",), tone="linear")
    rows = numbers(camera, light_of(camera, 1.0), t=0.3).mean(axis=1)
    times = 0.3 + (np.arange(120) - 59.5) * line
    depth = 0.5 * np.sin(2 * np.pi * mains * time) / (2 * np.pi * mains * time)
    law = 1.0 + depth * np.cos(4.0 * np.pi * mains * times)
    np.testing.assert_allclose(rows / rows.mean(), law / law.mean(), atol=0.01)


def test_an_exposure_of_half_a_period_shows_no_flicker():
    effects = {
        "sensor": {**SENSOR, "full_well": 1e6},
        "exposure": {"time": 0.01, "illuminance": 1e4},
        "rolling_shutter": {"line_time": 1e-4},
        "flicker": {"frequency": 50.0, "modulation": 1.0},
    }
    camera = camera_with(effects)
    rows = numbers(camera, light_of(camera, 1.0)).mean(axis=1)
    assert 0.2 < rows.mean() < 0.9
    assert rows.std() / rows.mean() < 0.005


def test_a_share_of_the_images_is_lost():
    camera = camera_with({"dropped_frames": {"share": 0.3}})
    lost = [camera.develop(Frame(light=light_of(camera))).mono is None for _ in range(1000)]
    assert np.mean(lost) == pytest.approx(0.3, abs=0.05)

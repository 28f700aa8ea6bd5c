# SPDX-License-Identifier: BSD-3-Clause
import numpy as np

from iap_bringup.drawing.picture import Camera, camera_around, render_scene
from iap_description.assembly import Assembly
from iap_description.platform import load_platform
from iap_physics.joints import joined_rows

SIZE = (192, 108)


def hovering(name, p=(0.0, 0.0, 1.0)):
    assembly = Assembly.of(load_platform(name))
    base = np.zeros(13)
    base[:3], base[6] = p, 1.0
    return assembly, joined_rows(assembly, base)


def colored(picture, color):
    """Pixels where one channel stands out."""
    others = [k for k in range(3) if k != color]
    rest = picture[..., others].astype(int).max(axis=-1)
    return np.count_nonzero(picture[..., color] > rest + 60)


def test_picture_shows_the_red_arms_and_the_paths(capfd):
    scene = [hovering("f450")]
    camera = camera_around(scene[0][1][:, :3], azimuth_deg=-30.0, elevation_deg=20.0, size=SIZE)
    picture = render_scene(scene, camera=camera, size=SIZE)
    assert picture.shape == (108, 192, 3) and picture.dtype == np.uint8
    assert colored(picture, 0) > 20
    t = np.linspace(0.0, 1.0, 30)
    paths = [np.stack([t - 0.5, 0.0 * t + y, 0.0 * t + 0.6], -1) for y in (-0.2, 0.2)]
    with_paths = render_scene(scene, camera=camera, size=SIZE, path_points=paths)
    assert colored(with_paths, 0) > colored(picture, 0) + 20
    assert capfd.readouterr().out == ""


def test_vehicles_cast_shadows_on_the_ground():
    camera = Camera((0.0, -0.01, 6.0), (0.0, 0.0, 0.0), fov_deg=40.0)
    far_away = render_scene([hovering("three_star", (50.0, 0.0, 1.0))], camera=camera, size=SIZE)
    above = render_scene([hovering("three_star", (0.6, -0.6, 1.5))], camera=camera, size=SIZE)
    shadowed = np.abs(above.astype(float) - far_away).max(axis=-1) > 40
    assert 0.02 < shadowed.mean() < 0.4
    middle = np.argwhere(shadowed).mean(axis=0)
    assert abs(middle[1] - SIZE[0] / 2) < 40  # vehicle right of the middle, its shadow left


def test_camera_sees_every_point_it_was_asked_to():
    points = np.array([[0.0, 0.0, 1.0], [8.0, 1.0, 3.0], [-2.0, 5.0, 0.0]])
    camera = camera_around(points, azimuth_deg=70.0, elevation_deg=25.0)
    x, y, z = camera.view[:3, :3] @ points.T + camera.view[:3, 3:]
    up = np.tan(np.deg2rad(0.5 * camera.fov_deg))
    assert (z < 0.0).all()
    assert (np.abs(y / z) < up).all() and (np.abs(x / z) < up * 1280 / 720).all()

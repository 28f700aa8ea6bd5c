# SPDX-License-Identifier: BSD-3-Clause
"""The camera's model against OpenCV's, what it refuses, and what is said of it to others."""

import cv2
import numpy as np
import pytest
from refusals import refusal
from small_scenes import spec, turned

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.sensors.lens import undistort_plumb_bob
from iap_description.sensors.mounts import optical
from iap_sensors.cameras.model import CameraModel, stereo_baseline
from iap_sensors.cameras.spec import PRESETS, CameraSpec
from iap_sensors.cameras.view import PinholeView
from iap_sensors.mounted.cameras import mounted_cameras_of
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.rig_spec import rig_spec

LENSES = [
    (0.0, 0.0, 0.0, 0.0, 0.0),
    (-0.283, 0.074, 0.0002, 0.00002, 0.0),  # barrel
    (0.12, 0.03, -0.001, 0.002, 0.004),  # pincushion, not centred
]
FISHEYE = {"distortion_model": "equidistant", "distortion": (0.0035, 0.0007, -0.002, 0.0002)}
every_camera = pytest.mark.parametrize(
    "lens",
    [*({"distortion": D} for D in LENSES), FISHEYE],
    ids=["none", "barrel", "pincushion", "fisheye"],
)
every_lens = pytest.mark.parametrize("distortion", LENSES)
UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])


def points(count=200, seed=3):
    rng = np.random.default_rng(seed)
    z = rng.uniform(0.5, 40.0, count)
    return np.stack([z * rng.uniform(-0.9, 0.9, count), z * rng.uniform(-0.7, 0.7, count), z], -1)


@every_lens
def test_points_are_where_opencv_projects_them(distortion):
    model, p_C = CameraModel.of(spec(distortion=distortion)), points()
    expected, _ = cv2.projectPoints(p_C, np.zeros(3), np.zeros(3), model.K, model.lens.D)
    np.testing.assert_allclose(model.project(p_C), expected[:, 0], atol=1e-9)


@every_camera
def test_a_pixel_is_where_its_direction_projects_to(lens):
    model = CameraModel.of(spec(**lens))
    u, v = np.meshgrid(np.linspace(0, 639, 17), np.linspace(0, 479, 13))
    uv = np.stack([u, v], -1)
    np.testing.assert_allclose(model.project(7.0 * model.unproject(uv)), uv, atol=1e-5)


def test_a_mount_looks_along_its_x_with_left_to_the_left_and_up_on_top():
    from iap_description.math import so3

    model = CameraModel.of(spec())
    p_S = np.array([[5.0, 0.0, 0.0], [5.0, 1.0, 0.0], [5.0, 0.0, 1.0]])
    uv = model.project(so3.rotate(so3.conjugate(optical(UPRIGHT)), p_S))
    np.testing.assert_allclose(uv, [[319.5, 239.5], [255.5, 239.5], [319.5, 175.5]])


def test_what_is_behind_the_camera_is_nowhere_in_the_image():
    assert np.isnan(CameraModel.of(spec()).project(np.array([0.1, 0.1, -1.0]))).all()


def test_points_beyond_the_radius_at_which_a_lens_folds_are_not_distinguished():
    D = np.array([-0.3, 0.0, 0.0, 0.0, 0.0])  # folds at r = 1 / sqrt(0.9)
    assert np.isfinite(undistort_plumb_bob(np.array([0.6, 0.0]), D)).all()
    assert np.isnan(undistort_plumb_bob(np.array([0.8, 0.0]), D)).all()


def test_the_right_camera_of_a_pair_says_where_the_left_one_is():
    left, right = np.array([0.198, 0.06, 0.0]), np.array([0.198, -0.06, 0.0])
    q = turned(roll=10.0, pitch=20.0, yaw=120.0)
    from iap_description.math import so3

    baseline = stereo_baseline((so3.rotate(q, left), q), (so3.rotate(q, right), q), key="right")
    assert baseline == pytest.approx(0.12)
    info = CameraModel.of(spec()).info(baseline)
    p_L = np.array(
        [0.3, -0.2, 6.0, 1.0]
    )  # in the left camera; P is the right one's map from there
    u, v, w = np.reshape(info["P"], (3, 4)) @ p_L
    expected = CameraModel.of(spec()).project(p_L[:3] - [0.12, 0.0, 0.0])
    np.testing.assert_allclose([u / w, v / w], expected)


def test_info_has_the_fields_of_ros():
    info = CameraModel.of(spec(distortion=LENSES[1], cx=300.0)).info()
    assert (info["width"], info["height"]) == (640, 480)
    assert info["K"] == (320.0, 0.0, 300.0, 0.0, 320.0, 239.5, 0.0, 0.0, 1.0)
    assert info["D"] == LENSES[1]
    assert info["R"] == (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    assert info["P"] == (320.0, 0.0, 300.0, 0.0, 0.0, 320.0, 239.5, 0.0, 0.0, 0.0, 1.0, 0.0)
    assert not np.signbit(info["P"]).any()


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ((0.0, 0.12, 0.0), UPRIGHT),  # on the left
        ((0.05, -0.12, 0.0), UPRIGHT),  # ahead of the other
        ((0.0, -0.12, 0.0), turned(yaw=1.0)),  # looks elsewhere
        ((0.0, 0.0, 0.0), UPRIGHT),  # at the same place
    ],
)
def test_cameras_that_are_no_pair_are_refused(p, q):
    with pytest.raises(BadInput, match="key 'right_of'"):
        stereo_baseline((np.zeros(3), UPRIGHT), (np.array(p), q), key="right_of")


@every_camera
def test_the_pinhole_behind_a_lens_sees_every_pixel_of_the_camera(lens):
    model = CameraModel.of(spec(**lens))
    view = PinholeView.of(model)
    if view.maps is None:
        assert (view.width, view.height) == (model.width, model.height)
        return
    columns, rows = view.maps
    assert columns.min() >= 1 and columns.max() <= view.width - 2
    assert rows.min() >= 1 and rows.max() <= view.height - 2
    rays = np.stack([columns, rows, np.ones_like(rows)], -1) @ np.linalg.inv(view.K).T
    u, v = np.meshgrid(np.arange(640), np.arange(480))
    np.testing.assert_allclose(model.project(rays), np.stack([u, v], -1), atol=1e-3)


def test_a_lens_that_sees_more_than_an_image_can_hold_is_refused():
    wide = spec(
        width=8192, height=64, cx=4095.5, fx=3000.0, distortion=(-0.05, 0.005, 0.0, 0.0, 0.0)
    )
    with pytest.raises(BadInput, match="key 'distortion': without it the image would be"):
        PinholeView.of(CameraModel.of(wide))


@pytest.mark.parametrize("name", PRESETS.names())
def test_presets_are_complete(name):
    tree = PRESETS.tree(name)
    place = {"mount", "position", "rpy_deg", "right_of"}
    assert set(tree) == set(CameraSpec.model_fields) - place
    validate(CameraSpec, tree, source=name)


def test_the_default_camera_is_that_of_the_paper():
    camera = CameraSpec(**PRESETS.tree("vi_g"))
    assert (camera.width, camera.height, camera.fx, camera.fy) == (640, 480, 320.0, 320.0)
    assert (camera.cx, camera.cy, camera.rate) == (319.5, 239.5, 20.0)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"fx": 0.0}, "key 'fx'"),
        ({"fy": -320.0}, "key 'fy'"),
        ({"fx": 1.1e6}, "key 'fx'"),
        ({"fy": 9e-4}, "key 'fy'"),
        ({"cx": -1.1e6}, "key 'cx'"),
        ({"cy": 1.1e6}, "key 'cy'"),
        ({"rate": -20.0}, "key 'rate'"),
        ({"rate": 0.0}, "key 'rate'"),
        ({"width": 0}, "key 'width'"),
        ({"height": 10**6}, "key 'height'"),
        ({"cx": float("nan")}, "key 'cx'"),
        ({"near": 0.0}, "key 'near'"),
        ({"near": 300.0}, "key 'near': 300.0 m is not below far, 200.0 m"),
        ({"outputs": []}, "key 'outputs'"),
        ({"outputs": ["mono16"]}, "key 'outputs.0'"),
        ({"outputs": ["mono8", "mono8"]}, "key 'outputs': one is given twice"),
        ({"noise": -1.0}, "key 'noise'"),
        ({"vignetting": 1.0}, "key 'vignetting'"),
        ({"antialiasing": 3}, "key 'antialiasing'"),
        ({"blur": {"exposure_time": 0.0, "samples": 4}}, "key 'blur.exposure_time'"),
        ({"blur": {"exposure_time": 0.01, "samples": 1}}, "key 'blur.samples'"),
        ({"blur": {"exposure_time": 0.06, "samples": 4}}, "0.06 s is longer than an image"),
        ({"distortion": [-0.5, 0.0, 0.0, 0.0, 0.0]}, "key 'distortion': such a lens folds"),
        ({"distortion": [0.0] * 4}, "key 'distortion': plumb_bob has 5 numbers, not 4"),
        (
            {"distortion_model": "double_sphere", "distortion": [-1.0, 0.5]},
            "key 'distortion': xi is -1, which is not between -1 and 1",
        ),
        (
            {"distortion_model": "double_sphere", "distortion": [-0.2, 1.5]},
            "key 'distortion': alpha is 1.5",
        ),
        (
            {"distortion_model": "double_sphere", "distortion": [-0.2, 0.8], "fx": 100.0},
            "key 'distortion': such a lens folds the image over itself, or sees 89 degrees",
        ),
        ({"distortion_model": "omni"}, "key 'distortion_model'"),
        (
            {"distortion_model": "equidistant", "distortion": [0.0] * 4, "fx": 180.0},
            "sees 89 degrees off its axis",
        ),
        ({"position": [0.0, 0.0, 1.0]}, "keys 'position' and 'rpy_deg' come together"),
        (
            {"mount": "left_camera", "position": [0.0, 0.0, 1.0], "rpy_deg": [0.0, 0.0, 0.0]},
            "key 'mount'",
        ),
    ],
)
def test_an_impossible_camera_is_refused(keys, said):
    line = refusal(validate, CameraSpec, {**PRESETS.tree("vi_g"), **keys}, source="scenario.yaml")
    assert said in line


@pytest.mark.parametrize(("sensors", "is_clean"), [("stereo", True), ("stereo_wide", False)])
def test_cameras_say_whether_their_images_are_clean(sensors: str, is_clean: bool) -> None:
    scenario, _ = resolve("hover", Options(sensors=sensors))
    cameras = mounted_cameras_of(rig_spec(scenario))
    assert {each.info.is_clean for each in cameras} == {is_clean}

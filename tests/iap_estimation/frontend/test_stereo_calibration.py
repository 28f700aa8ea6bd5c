# SPDX-License-Identifier: BSD-3-Clause
"""Cameras from a CameraInfo's numbers and from EuRoC's files, and the geometry between two of them."""

import numpy as np
import pytest
import yaml
from painted_plane import BASELINE, FOCAL, HEIGHT, LENS, Q_BC, WIDTH, camera_of, pair_of
from refusals import refusal

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.datasets.euroc_calibration import read_cameras
from iap_estimation.frontend.calibration import CameraCalibration, StereoCalibration
from iap_estimation.frontend.spec import PRESETS, FrontendSpec

K = [FOCAL, 0.0, 160.0, 0.0, FOCAL, 120.0, 0.0, 0.0, 1.0]
POINTS = np.array([[0.3, -0.2, 2.0], [-0.5, 0.4, 1.5], [0.0, 0.0, 8.0], [1.0, 0.5, 3.0]])


def numbers(D=(0.0,) * 5, matrix=K, model="plumb_bob"):
    return CameraCalibration.of(
        (WIDTH, HEIGHT), matrix, D, model=model, source="/left/camera_info"
    )


@pytest.mark.parametrize("D", [(0.0,) * 5, LENS])
def test_normalized_points_undo_projection(D):
    camera = camera_of(D)
    assert camera.normalized(camera.project(POINTS)) == pytest.approx(
        POINTS[:, :2] / POINTS[:, 2:], abs=1e-7
    )


def test_four_coefficients_are_five_without_the_last():
    assert np.array_equal(numbers(LENS[:4]).lens.D, [*LENS[:4], 0.0])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"D": (0.1,) * 8, "model": "rational_polynomial"}, "model 'rational_polynomial'"),
        ({"D": (0.1,) * 5, "model": "equidistant"}, "needs 4 numbers in D"),
        ({"D": (0.1,) * 3}, "needs 4 or 5 numbers in D"),
        ({"matrix": [0.0] * 9}, "not calibrated"),
        ({"matrix": [1.0] * 8}, "K has 8 numbers"),
        ({"matrix": [*K[:1], 2.0, *K[2:]]}, "without skew"),
    ],
)
def test_other_cameras_are_refused(changes, words):
    with pytest.raises(BadInput, match="^/left/camera_info: ") as refused:
        numbers(**changes)
    assert words in str(refused.value)


def test_swapped_cameras_are_refused():
    with pytest.raises(BadInput, match="left and right cameras are swapped: .* 0.100 m"):
        pair_of(baseline=-BASELINE)
    with pytest.raises(BadInput, match="at the same place"):
        pair_of(baseline=0.0)


def seen_by(pair):
    """Normalised points of both cameras, of points in the left one's frame."""
    right = POINTS @ pair.R_RL.T + pair.p_RL_R
    return POINTS[:, :2] / POINTS[:, 2:], right[:, :2] / right[:, 2:]


def test_rows_of_parallel_cameras_tell_the_epipolar_distance():
    left, right = seen_by(pair_of())
    off = right + [0.01, 0.02]
    assert pair_of().epipolar_distance(left, off) == pytest.approx(0.02 * FOCAL)


def test_turned_pair_has_its_points_on_epipolar_lines_and_at_their_depths():
    pair = pair_of(turn_right=so3.quaternion_exp(np.array([0.05, -0.1, 0.2])))
    left, right = seen_by(pair)
    assert pair.epipolar_distance(left, right) == pytest.approx(0.0, abs=1e-9)
    assert 1.0 / pair.inverse_depth(left, right) == pytest.approx(POINTS[:, 2])
    expected = pair.expected_right(left, 1.0 / POINTS[:, 2])
    assert pair.right.normalized(expected) == pytest.approx(right, abs=1e-7)


def file_tree(y, **changes):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = so3.matrix_from_quaternion(Q_BC), (0.02, y, 0.01)
    tree = {
        "sensor_type": "camera",
        "comment": "as EuRoC has it",
        "T_BS": {"cols": 4, "rows": 4, "data": T.ravel().tolist()},
        "rate_hz": 20,
        "resolution": [752, 480],
        "camera_model": "pinhole",
        "intrinsics": [458.654, 457.296, 367.215, 248.375],
        "distortion_model": "radial-tangential",
        "distortion_coefficients": [-0.28340811, 0.07395907, 0.00019359, 1.76187114e-05],
    }
    return {key: value for key, value in {**tree, **changes}.items() if value is not None}


def files(folder, left=None, right=None):
    paths = folder / "cam0.yaml", folder / "cam1.yaml"
    for path, tree in zip(paths, (left, right), strict=True):
        path.write_text(yaml.safe_dump(tree))
    return paths


def test_euroc_files_give_the_pair(tmp_path):
    pair = read_cameras(files(tmp_path, file_tree(0.05), file_tree(-0.06)))
    assert (pair.left.width, pair.left.height) == (752, 480)
    assert pair.left.focal == pytest.approx([458.654, 457.296])
    assert pair.right.lens.D == pytest.approx(
        [-0.28340811, 0.07395907, 0.00019359, 1.76187114e-05, 0.0]
    )
    assert pair.p_BC_B[1] == pytest.approx([0.02, -0.06, 0.01])
    assert pair.p_RL_R == pytest.approx([-0.11, 0.0, 0.0], abs=1e-12)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"T_BS": None}, "missing key 'T_BS'"),
        ({"intrinsics": None}, "missing key 'intrinsics'"),
        ({"camera_model": "omni"}, "key 'camera_model'"),
        (
            {"distortion_model": "omni"},
            "'distortion_model' and 'distortion_coefficients': distortion model 'omni'",
        ),
        (
            {"distortion_coefficients": [0.1] * 8},
            "'distortion_coefficients': radial-tangential needs",
        ),
        ({"T_BS": {"data": [2.0] * 16}}, "key 'T_BS.data' is no rotation"),
    ],
)
def test_faults_of_euroc_files_are_named(tmp_path, changes, words):
    paths = files(tmp_path, file_tree(0.05), file_tree(-0.06, **changes))
    with pytest.raises(BadInput, match="cam1.yaml: ") as refused:
        read_cameras(paths)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_swapped_or_missing_euroc_files_are_named(tmp_path):
    left, right = files(tmp_path, file_tree(-0.06), file_tree(0.05))
    with pytest.raises(BadInput, match=r"cam0.yaml, .*cam1.yaml: .* cameras are swapped"):
        read_cameras([left, right])
    with pytest.raises(BadInput, match="nowhere.yaml: cannot be read"):
        read_cameras([left, tmp_path / "nowhere.yaml"])


def test_right_camera_of_a_body_seen_upside_down():
    """Both cameras rolled by half a turn: what was left is right."""
    upside_down = so3.multiply(Q_BC, so3.quaternion_exp(np.array([0.0, 0.0, np.pi])))
    places = [[0.0, -0.05, 0.0], [0.0, 0.05, 0.0]]
    pair = StereoCalibration.of(camera_of(), camera_of(), places, [upside_down] * 2)
    assert pair.p_RL_R == pytest.approx([-0.1, 0.0, 0.0], abs=1e-12)


@pytest.mark.parametrize("name", PRESETS.names())
def test_presets_are_complete(name):
    validate(FrontendSpec, PRESETS.tree(name), source=name)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"window": 20}, "key 'window': an odd number"),
        ({"border": 3}, "key 'border'"),
        ({"outliers": "some"}, "key 'outliers'"),
        ({"max_tracks": 0}, "key 'max_tracks'"),
    ],
)
def test_faults_of_settings_are_named(changes, words):
    line = refusal(validate, FrontendSpec, {**PRESETS.tree("default"), **changes}, source="test")
    assert words in line


def test_the_left_camera_lies_where_the_mounts_say_in_the_right_ones_axes():
    q = [so3.quaternion_exp(np.array(v)) for v in ([0.1, 0.0, 0.3], [0.0, -0.2, 0.25])]
    p = [np.array([0.1, 0.05, 0.0]), np.array([0.1, -0.06, 0.02])]
    pair = StereoCalibration(*(numbers(),) * 2, np.array(p), np.array(q))
    point_B = np.array([2.0, 0.3, -0.4])
    left, right = (so3.rotate(so3.conjugate(q[k]), point_B - p[k]) for k in range(2))
    np.testing.assert_allclose(pair.R_RL @ left + pair.p_RL_R, right, atol=1e-12)

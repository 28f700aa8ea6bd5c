# SPDX-License-Identifier: BSD-3-Clause
"""Names of columns and mountings by words and numbers that are worked out by hand."""

import numpy as np
import pytest
from made_up_samples import T, samples_of, stamps_of

from iap_description.errors import BadInput
from iap_description.math import euler, so3
from iap_io.trajectories import column_names, mounting

NO_TURN = (0.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("field.pose.orientation.w", ["field", "pose", "orientation", "w"]), ("stateX [m]", ["state", "x"]),
        ("droneA", ["dronea"]), ("q[0]", ["q", "0"]), ("θ (rad)", ["theta"]), ("RigidBody1_X", ["rigid", "body1", "x"]),
        ("posNorth", ["pos", "north"]),
    ],
)  # fmt: skip
def test_words_of_a_name(name, words):
    assert column_names.words(name) == words


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("x [ft]", ("x", "", 0.3048, None, None, False)),
        ("stateEstimateZ.z", ("z", "state_estimate", 0.001, None, None, False)),
        ("stateEstimate.pitch", ("pitch", "state_estimate", None, "deg", None, True)),
        ("yaw_deg", ("yaw", "", None, "deg", None, False)),
        ("q_i", None),
        ("qi", ("qx", "", None, None, None, False)),
        ("qs", ("qw", "", None, None, None, False)),
        ("q[0]", ("qw", "", None, None, None, False)),
        ("q[3]", ("qz", "", None, None, None, False)),
        ("position[2]", ("z", "", None, None, None, False)),
        ("north_cm", ("x", "", 0.01, None, "ned", False)),
        ("up", ("z", "", None, None, "enu", False)),
        ("x_ned", ("x", "ned", None, None, "ned", False)),
        ("drone1_pos_x", ("x", "drone1", None, None, None, False)),
        ("vx", None),
        ("v_x", None),
        ("temperature", None),
        ("w", None),
    ],
)
def test_a_column_is_a_number_of_a_pose_by_its_name(name, column):
    found = column_names.column_of(name)
    assert (None if found is None else tuple(found)) == column


def test_east_is_the_first_axis_where_up_is_the_third():
    names = ("north", "east", "up", "yaw")
    parts = {i: column_names.column_of(name) for i, name in enumerate(names)}
    found = column_names.in_one_grid(parts)
    assert [each.role for each in found.values()] == ["y", "x", "z", "yaw"]
    assert [each.convention for each in found.values()] == ["enu", "enu", "enu", None]
    down = {i: column_names.column_of(name) for i, name in enumerate(("north", "east", "down"))}
    assert column_names.in_one_grid(down) is down


def attitude(*rpy):
    return euler.matrix_from_rpy_deg(rpy)


@pytest.mark.parametrize(
    ("rpy", "words", "x", "z"),
    [
        ((0, 0, 30), "found from rest: its z axis up, x forward", (1, 0, 0), (0, 0, 1)),
        ((180, 0, 0), "found from rest: its z axis down, x forward", (1, 0, 0), (0, 0, -1)),
        ((0, -90, 0), "found from rest: its x axis up, z forward", (0, 0, 1), (1, 0, 0)),
        ((90, 0, 0), "found from rest: its y axis up, z forward", (0, 0, 1), (0, 1, 0)),
    ],
)
def test_axes_of_a_body_at_rest_are_whole(rpy, words, x, z):
    R, said = mounting.nearest_axes(attitude(*rpy))
    assert said == words
    np.testing.assert_allclose(R[:, 0], x)
    np.testing.assert_allclose(R[:, 2], z)
    np.testing.assert_allclose(np.linalg.det(R), 1.0)


def test_what_is_left_of_a_tilt_at_rest_is_the_mountings():
    R_WS = attitude(5.0, -80.0, 0.0)
    R_SP, _ = mounting.at_rest(R_WS)
    level = R_WS @ R_SP
    np.testing.assert_allclose(level[:, 2], [0.0, 0.0, 1.0], atol=1e-12)


@pytest.mark.parametrize("text", ["10,20", "a,b,c", "1,2,nan", ""])
def test_angles_of_a_mounting_are_three(text):
    np.testing.assert_allclose(mounting.axes_by_angles("src", "10,20,30"), attitude(10, 20, 30).T)
    with pytest.raises(
        BadInput, match=f"^src: --mounting {text}: auto, none, rest, or roll, pitch and yaw"
    ):
        mounting.axes_by_angles("src", text)


def test_a_flight_is_moved_to_where_a_platform_can_fly_it():
    p = np.array([[5.0, 6.0, 7.0], [5.0, 7.0, 7.0], [5.0, 6.0, 5.5]])
    R = np.stack([attitude(10.0, 0.0, 90.0)] * 3)
    moved, q, lift = mounting._shifted(p, R, is_level=True)
    assert lift == pytest.approx(0.6)
    np.testing.assert_allclose(moved, [[0, 0, 2.1], [1, 0, 2.1], [0, 0, 0.6]], atol=1e-12)
    np.testing.assert_allclose(np.abs(q), [NO_TURN] * 3, atol=1e-12)
    _, tilted, _ = mounting._shifted(p, R, is_level=False)
    np.testing.assert_allclose(
        so3.matrix_from_quaternion(tilted[0]), attitude(10.0, 0.0, 0.0), atol=1e-12
    )
    assert mounting._shifted(p[:2], R[:2], is_level=True)[2] == 0.0


@pytest.mark.parametrize(("speed", "moves"), [(0.19, False), (0.21, True)])
def test_a_body_is_under_way_from_a_fifth_of_a_metre_a_second_on(speed, moves):
    samples = samples_of(np.outer(speed * T, [0.0, 1.0, 0.0]))
    assert mounting._moves(samples, stamps_of(T + 3.0)) == moves
    assert mounting._moves(samples.at(slice(0, 5)), stamps_of(T[:5])) == moves

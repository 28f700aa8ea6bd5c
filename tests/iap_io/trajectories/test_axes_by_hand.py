# SPDX-License-Identifier: BSD-3-Clause
"""Every convention of axes by hand: places, attitudes, rates and wrenches; quaternions by a header's names."""

from pathlib import Path

import numpy as np
import pytest

from iap_description.math import so3
from iap_io.trajectories.axes import CONVENTIONS, in_enu
from iap_io.trajectories.pose_reading import PoseReading, RecordingSummary, WrenchSummary
from iap_io.trajectories.samples import Samples
from iap_io.trajectories.text_poses import read_euroc
from iap_io.trajectories.wrenches import _axes, _turned

WORLD, BODY = (1.0, 2.0, 3.0), (4.0, 5.0, 6.0)
# By convention: (1, 2, 3) of the world and (4, 5, 6) of the body in ENU and FLU, and which axes turn their hand.
BY_HAND = {
    "enu": ([1, 2, 3], [4, 5, 6], 1, 1),
    "ned": ([2, 1, -3], [4, -5, -6], 1, 1),
    "camera": ([3, -1, -2], [6, -4, -5], 1, 1),
    "y-up": ([1, -3, 2], [4, -6, 5], 1, 1),
    "unity": ([1, 3, 2], [6, -4, 5], -1, -1),
    "unreal": ([1, -2, 3], [4, -5, 6], -1, -1),
    "ned-attitudes": ([1, 2, 3], [4, -5, -6], 1, 1),
    "ned-positions": ([2, 1, -3], [4, 5, 6], 1, 1),
}


def test_every_convention_has_a_row() -> None:
    assert {*BY_HAND} == {*CONVENTIONS}


@pytest.mark.parametrize("name", BY_HAND)
def test_motion_in_every_convention(name: str) -> None:
    """Positions, velocities and accelerations go with the world; rates with the body, and with its hand."""
    world, body, _, hand = BY_HAND[name]
    two = np.ones((2, 1))
    samples = Samples(
        "file", RecordingSummary("bag"), np.array([0, 1]), None, p=two * WORLD,
        q=two * np.array([0.0, 0.0, 0.0, 1.0]), v=two * WORLD * 2.0, a=two * WORLD * 3.0,
        w=two * BODY, alpha=two * BODY * 2.0,
    )  # fmt: skip
    turned = in_enu(samples, name)  # type: ignore[arg-type]
    assert turned.about.convention == name
    for found, expected in (
        (turned.p, world), (turned.v, np.multiply(world, 2.0)), (turned.a, np.multiply(world, 3.0)),
        (turned.w, np.multiply(body, hand)), (turned.alpha, np.multiply(body, 2.0 * hand)),
    ):  # fmt: skip
        assert found is not None
        np.testing.assert_allclose(found, two * expected, atol=1e-12)
    axes = CONVENTIONS[name]  # type: ignore[index]
    np.testing.assert_allclose(
        so3.matrix_from_quaternion(turned.q[0]) @ body, axes.attitudes @ BODY, atol=1e-12
    )  # a body's vector has the world's numbers where the attitude is unity


@pytest.mark.parametrize("frame", ["world", "body"])
@pytest.mark.parametrize("name", BY_HAND)
def test_a_wrench_goes_with_its_axes_and_a_torque_with_their_hand(name: str, frame: str) -> None:
    world, body, of_world, of_body = BY_HAND[name]
    numbers, expected, hand = (
        (WORLD, world, of_world) if frame == "world" else (BODY, body, of_body)
    )
    about = WrenchSummary("/w", "Wrench", "", frame, name)  # type: ignore[arg-type]
    turned = _turned(np.array([[*numbers, *numbers]]), frame, about)  # type: ignore[arg-type]
    np.testing.assert_allclose(turned, [[*expected, *np.multiply(expected, hand)]], atol=1e-12)


@pytest.mark.parametrize(
    ("frame", "axes"),
    [
        ("base_link", "body"), ("drone/body_frd", "body"), ("fcu", "body"), ("uav_cog", "body"),
        ("base/map", "world"), ("world", "world"), ("odom_ned", "world"), ("earth", "world"),
    ],
)  # fmt: skip
def test_the_name_of_a_frame_says_whose_axes_a_wrench_is_in(frame: str, axes: str) -> None:
    assert _axes("bag", frame) == axes


@pytest.mark.parametrize(
    ("header", "order"),
    [
        (
            "#timestamp, p_RS_R_x [m], p_RS_R_y [m], p_RS_R_z [m], q_RS_w [], q_RS_x [], q_RS_y [], q_RS_z []",
            "wxyz",
        ),
        ("#time, x, y, z, q_x, q_y, q_z, q_w", "xyzw"),
        ("#time,px,py,pz,qx,qy,qz,qw", "xyzw"),
        ("#time;x;y;z;QX [];QY [];QZ [];QW []", "xyzw"),
        ("#time,px,py,pz,qx,qy,qw,qz", "wxyz"),  # of no order that is known: that of the data set
        ("", "wxyz"),
    ],
)
def test_a_header_tells_the_order_of_a_quaternion(header: str, order: str, tmp_path: Path) -> None:
    separator = ";" if ";" in header else ","
    path = tmp_path / "data.csv"
    rows = [
        [str(10**18 + k * 10**7), "1", "2", str(3 + k), "0.1", "0.3", "0.5", "0.806"]
        for k in range(3)
    ]
    lines = [header] * bool(header) + [separator.join(row) for row in rows]
    path.write_text("\n".join(lines) + "\n")
    samples = read_euroc(path, PoseReading())
    q = np.array([0.1, 0.3, 0.5, 0.806])
    expected = q if order == "xyzw" else np.roll(q, -1)
    assert samples.about.quaternion == order
    np.testing.assert_allclose(samples.q, [expected / np.linalg.norm(q)] * 3, atol=1e-12)
    np.testing.assert_array_equal(samples.p, [[1, 2, 3], [1, 2, 4], [1, 2, 5]])
    np.testing.assert_array_equal(np.diff(samples.header_ns), 10**7)

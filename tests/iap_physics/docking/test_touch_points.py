# SPDX-License-Identifier: BSD-3-Clause
"""Places where a probe can touch a socket, by the geometry of a cone in front of a cylinder in a round bore."""

import numpy as np
import pytest

from iap_description.math import so3
from iap_description.vehicles.latch import PortFrame
from iap_physics.docking import touch_points as touch
from iap_physics.docking.mechanism import Mechanism

AT_ORIGIN = PortFrame(np.zeros(3), np.array([1.0, 0.0, 0.0]))
SLOPE = 0.02 / 0.06
PROBE = Mechanism(
    PortFrame(np.array([0.3, 0.1, 0.0]), np.array([1.0, 0.0, 0.0])), PortFrame(np.zeros(3), np.array([0.0, 1.0, 0.0])),
    np.array([0.0, 0.06, 0.2]), np.array([0.02, 0.04, 0.04]), 0.09, 0.05, 0.07, 0.15, 1e4, 10.0, 0.4, 1.0,
)  # fmt: skip
E, M = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
U, BACK = (
    (0.0, 0.0, 1.0),
    (0.0, 0.0, 1.0),
)  # the socket opens upwards; the probe points down into it


def array(*vectors):
    return [np.array(each) for each in vectors]


def test_frames_are_those_of_both_ports_in_the_world():
    x_p, x_s = np.random.default_rng(1).normal(size=(2, 13))
    x_p[3:7], x_s[3:7] = so3.normalized(np.array([x_p[3:7], x_s[3:7]]))
    found = array(*touch.frames(x_p, x_s, PROBE))
    expected = (
        x_p[:3] + so3.rotate(x_p[3:7], [0.3, 0.1, 0.0]), x_s[:3],
        so3.rotate(x_s[3:7], [0.0, 1.0, 0.0]), -so3.rotate(x_p[3:7], [1.0, 0.0, 0.0]),
    )  # fmt: skip
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("s", "radius"),
    [(0.0, 0.02), (0.03, 0.03), (0.06, 0.04), (0.1, 0.04), (0.2, 0.04), (0.5, 0.04)],
)
def test_the_radius_of_a_probe_is_that_of_its_profile(s, radius):
    assert touch.radius_at(s, PROBE) == pytest.approx(radius)


@pytest.mark.parametrize(
    "direction", [(0, 0, 1.0), (1.0, 0, 0), (0.6, 0, 0.8), (0.3, -0.5, np.sqrt(0.66))]
)
def test_a_vector_across_another_is_a_unit_vector(direction):
    across = np.array(touch.across(direction))
    assert np.linalg.norm(across) == pytest.approx(1.0)
    assert across @ direction == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("place", "overlap", "normal"),
    [
        ((0.037, 0.0, 0.1), 0.003, (-1.0, 0.0, 0.0)),  # in the cylinder, near its side
        ((0.0, -0.038, 0.15), 0.002, (0.0, 1.0, 0.0)),
        ((0.01, 0.0, 0.001), 0.001, (0.0, 0.0, 1.0)),  # behind the flat end
        ((0.041, 0.0, 0.1), -0.001, None),
        ((0.0, 0.0, -0.001), -1.0, None),  # before the end
        ((0.0, 0.0, 0.201), -1.0, None),  # behind the flange
    ],
)
def test_what_is_in_the_probe_leaves_through_the_nearest_face(place, overlap, normal):
    found = touch._in_probe(place, E, BACK, PROBE)
    assert found.overlap == pytest.approx(overlap, abs=1e-9) and found.place == place
    if normal is not None:
        np.testing.assert_allclose(found.normal, normal, atol=1e-9)


def test_a_cone_pushes_along_its_own_normal():
    """A point 1 mm below the middle of the cone's side, which leans by its slope."""
    outwards = np.array([1.0, 0.0, -SLOPE]) / np.hypot(1.0, SLOPE)
    place = np.array([0.03, 0.0, 0.03]) - 0.001 * outwards
    found = touch._in_probe(tuple(place), E, BACK, PROBE)
    assert found.overlap == pytest.approx(0.001)
    np.testing.assert_allclose(found.normal, -outwards, atol=1e-9)


@pytest.mark.parametrize("angle", [0.0, 1.0, 2.5])
@pytest.mark.parametrize(
    "shift", [(0.0, 0.0, -0.1), (0.013, 0.0, -0.1), (0.02, -0.01, -0.03), (0.0, 0.0, 0.02)]
)
def test_a_rim_s_depth_by_its_harmonics_is_that_of_its_place(angle, shift):
    """The rim is a circle of the bore's radius; a leaning probe's end is inside the socket by `shift`."""
    back = np.array([0.1, -0.05, 1.0]) / np.linalg.norm([0.1, -0.05, 1.0])
    rim = touch.rim_of(shift, M, U, tuple(back), PROBE)
    found = touch.at_rim(shift, M, rim, angle, tuple(back), PROBE)
    assert np.hypot(*found.place[:2]) == pytest.approx(PROBE.bore) and found.place[2] == 0.0
    side = np.cos(angle) * np.array(rim.a) + np.sin(angle) * np.array(rim.b)
    np.testing.assert_allclose(found.place, PROBE.bore * side, atol=1e-12)
    depth = touch.depth_at(rim, np.cos(angle), np.sin(angle), PROBE)
    assert (depth > 0.0) == (found.overlap > 0.0)
    if depth > 0.0 or found.overlap > -1.0:
        assert depth == pytest.approx(found.overlap, abs=1e-12)
    g = np.array(found.place) - shift
    assert rim.square[0] + rim.square[1] * np.cos(angle) + rim.square[2] * np.sin(
        angle
    ) == pytest.approx(g @ g)


@pytest.mark.parametrize(
    ("off", "touches", "overlap"),
    [(0.0, False, -0.010), (0.009, False, -0.001), (0.012, True, 0.002), (0.049, True, 0.039)],
)
def test_a_circle_of_the_probe_touches_the_wall_where_it_is_off_the_axis_by_the_play(
    off, touches, overlap
):
    """Radius 40 mm in a bore of 50 mm: 10 mm of play; the normal points to the bore's axis."""
    d = (off, 0.0, -0.1)
    assert touch.is_in_bore(d, U, BACK, 1, PROBE) == touches
    found = touch.in_bore(M, d, U, BACK, 1, PROBE)
    assert found.overlap == pytest.approx(overlap)
    if off:
        np.testing.assert_allclose(found.place, [off + 0.04, 0.0, -0.04], atol=1e-9)
        np.testing.assert_allclose(found.normal, [-1.0, 0.0, 0.0], atol=1e-9)


@pytest.mark.parametrize("depth", [-0.02, 0.2])
def test_a_circle_before_the_mouth_or_behind_the_bottom_does_not_touch_the_wall(depth):
    d = (0.02, 0.0, -0.06 - depth)
    assert touch.in_bore(M, d, U, BACK, 1, PROBE).overlap == -1.0


@pytest.mark.parametrize(("end", "overlap"), [(-0.199, -0.001), (-0.203, 0.003), (-0.25, 0.05)])
def test_the_rim_stops_the_flange(end, overlap):
    found = touch.at_flange((0.0, 0.0, end), M, (1.0, 0.0, 0.0), BACK, PROBE)
    assert found.overlap == pytest.approx(overlap) and found.normal == BACK
    np.testing.assert_allclose(found.place, [0.06, 0.0, 0.0])  # in the middle of the rim
    aside = touch.at_flange((-0.04, 0.0, end), M, (1.0, 0.0, 0.0), BACK, PROBE)
    assert aside.overlap == -1.0  # beyond the flange's radius


@pytest.mark.parametrize(("off", "at"), [(0.06, 0.06), (0.2, 0.07)])
def test_the_face_of_the_mouth_is_met_at_the_axis_or_at_the_rim(off, at):
    found = touch.on_face((off, 0.0, -0.002), M, (1.0, 0.0, 0.0), BACK, off, PROBE)
    np.testing.assert_allclose(found.place, [at, 0.0, 0.0])
    if off == at:
        assert found.overlap == pytest.approx(0.002) and found.normal == BACK
    else:
        assert found.overlap < 0.0

# SPDX-License-Identifier: BSD-3-Clause
"""Latches, ports, chassis, generated platforms and links of arms by numbers that are worked out by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.states import P, V, W, resting_state
from iap_description.vehicles import platform as platforms
from iap_description.vehicles.arm_links import ArmLinks, ChainState, collision_shapes, link_rows
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.chassis import _bend, _rod
from iap_description.vehicles.latch import (
    FaceCatch,
    Latch,
    PortFrame,
    approach,
    check_ports,
    is_caught,
    place_of,
    slip_of,
    velocity_at,
)  # fmt: skip
from iap_description.vehicles.mount import Mount
from iap_description.vehicles.platform import load_platform, platform_names, platform_tree
from iap_description.vehicles.ports import Probe, Socket, _corner, _tapered

HALF = math.sqrt(0.5)
QUARTER = np.array([0.0, 0.0, HALF, HALF])
STAR = Assembly.of(load_platform("three_star"))


def body_at(position, q=(0.0, 0.0, 0.0, 1.0), v=(0.0, 0.0, 0.0), w=(0.0, 0.0, 0.0)):
    x = resting_state(np.array(position), np.array(q))
    x[V], x[W] = v, w
    return x


def test_a_point_of_a_body_moves_with_its_turning():
    x = body_at((1.0, 2.0, 3.0), QUARTER, (0.1, 0.2, 0.3), (0.0, 0.0, 2.0))
    place = place_of(x, np.array([1.0, 0.0, 0.0]))
    assert place == pytest.approx((1.0, 3.0, 3.0))
    assert velocity_at(x, place) == pytest.approx((0.1 - 2.0, 0.2, 0.3))


def test_the_pose_of_a_probe_in_a_socket():
    probe = PortFrame(np.array([0.5, 0.0, 0.0]), np.array([1.0, 0.0, 0.0]))
    socket = PortFrame(np.array([-0.25, 0.0, 0.0]), np.array([-1.0, 0.0, 0.0]))
    x_p = body_at((0.0, 0.03, 0.04), v=(0.2, 0.3, -0.4))
    x_s = body_at((0.65, 0.0, 0.0))  # its mouth at 0.4, the probe's end at 0.5
    found = approach(x_p, x_s, probe, socket)
    assert found == pytest.approx((0.1, 0.05, 0.0, 0.2), abs=1e-7)
    assert slip_of(x_p, x_s, probe, socket) == pytest.approx(0.5)
    turned = approach(body_at((0.0, 0.0, 0.0), QUARTER), x_s, probe, socket)
    assert turned.angle == pytest.approx(math.pi / 2.0)
    for limits, caught in (
        ((0.1 - 1e-9, 0.06, 0.1, 0.3), True), ((0.11, 0.06, 0.1, 0.3), False), ((0.05, 0.049, 0.1, 0.3), False),
        ((0.05, 0.06, -0.1, 0.3), False), ((0.05, 0.06, 0.1, 0.19), False),
    ):  # fmt: skip
        assert is_caught(found, *limits) == caught
    leaving = approach(body_at((0.0, 0.03, 0.04), v=(-0.2, 0.0, 0.0)), x_s, probe, socket)
    assert leaving.closing == pytest.approx(-0.2)
    assert is_caught(leaving, 0.05, 0.06, 0.1, 0.21) and not is_caught(
        leaving, 0.05, 0.06, 0.1, 0.19
    )


def test_a_port_looks_along_its_x_from_where_its_body_has_it():
    frame = PortFrame.of(
        Mount(position=(1.0, 2.0, 3.0), rpy_deg=(0.0, 0.0, 90.0)), np.array([0.1, 0.2, 0.3])
    )
    np.testing.assert_allclose(frame.position, [0.9, 1.8, 2.7])
    np.testing.assert_allclose(frame.axis, [0.0, 1.0, 0.0], atol=1e-12)
    face = PortFrame.of_face()
    assert (face.position.tolist(), face.axis.tolist()) == ([0, 0, 0], [1, 0, 0])


FACE = FaceCatch(least_speed=0.0, slip=1.0, turn_rate=1.0, max_torque=1.0, stops_rotors=False)
PROBE = Probe.model_construct()
SOCKET = Socket.model_construct()


def latch(probe, socket, face=None):
    sizes = dict.fromkeys(
        ("depth", "radius", "angle_deg", "speed", "damping", "turn_damping", "max_force"), 1.0
    )
    return Latch(probe=probe, socket=socket, face=face, **sizes)


@pytest.mark.parametrize(
    ("probe", "socket", "face", "said"),
    [
        ("a/tip", "b/hole", None, None),
        ("a/tool", "b/hole", None, None),
        ("a/tip", "wall", FACE, None),
        ("c/tip", "b/hole", None, "key 'latches.x.probe': no vehicle 'c' (here: a, b)"),
        (
            "a/hook",
            "b/hole",
            None,
            "key 'latches.x.probe': 'a' has no port 'hook' (ports: tip, tool)",
        ),
        ("b/hole", "a/tip", None, "key 'latches.x.probe': 'b/hole' is no probe"),
        ("a/tip", "a/tip", None, "key 'latches.x.socket': 'a/tip' is no socket"),
        ("b/tip", "b/hole", None, "key 'latches.x': a vehicle does not dock with itself"),
        (
            "a/tip",
            "floor",
            FACE,
            "key 'latches.x.socket': no object 'floor' that stands and has a face (such: wall)",
        ),
        (
            "a/tip",
            "door",
            FACE,
            "key 'latches.x.socket': no object 'door' that stands and has a face (such: wall)",
        ),
        (
            "a/tip",
            "wall",
            None,
            "key 'latches.x.face': an object as a socket needs it, and a port has none",
        ),
        (
            "a/tip",
            "b/hole",
            FACE,
            "key 'latches.x.face': an object as a socket needs it, and a port has none",
        ),
    ],
)
def test_ends_of_a_latch_are_there_and_of_its_kind(probe, socket, face, said):
    ends = {
        "a": {"tip": PROBE, "tool": Mount(position=(0.0, 0.0, 0.0), rpy_deg=(0.0, 0.0, 0.0))},
        "b": {"tip": PROBE, "hole": SOCKET},
    }
    objects = {
        "wall": SimpleNamespace(HAS_FACE=True, moves=False), "floor": SimpleNamespace(HAS_FACE=False, moves=False),
        "door": SimpleNamespace(HAS_FACE=True, moves=True),
    }  # fmt: skip
    one = latch(probe, socket, face)
    if said is None:
        check_ports("x", one, ends, objects)
        assert one.vehicles == (("a", "b") if "/" in socket else ("a",))
        return
    with pytest.raises(ValueError) as refused:
        check_ports("x", one, ends, objects)
    assert str(refused.value) == said


def test_a_run_that_widens_begins_with_a_taper_within_the_solid():
    """By a slope of 1/2 a radius of 0.1 narrows to a twentieth over 0.19, or as far as the part before reaches."""
    long = _tapered(np.array([[0.0, 0.02], [0.5, 0.1], [0.7, 0.2]]))
    np.testing.assert_allclose(long, [[0.31, 0.005], [0.5, 0.1], [0.7, 0.2]])
    short = _tapered(np.array([[0.4, 0.02], [0.5, 0.1], [0.7, 0.2]]))
    np.testing.assert_allclose(short[0], [0.4, 0.05])
    assert _corner(6) == pytest.approx(2.0 / (1.0 + math.sqrt(0.75)))


def test_a_rod_goes_from_one_place_to_another_and_a_tube_bends_into_its_aircrafts_axis():
    rod = _rod(np.array([1.0, 1.0, 0.0]), np.array([1.0, 4.0, 4.0]), 0.1, (1.0, 1.0, 1.0, 1.0))
    assert rod.length == pytest.approx(5.0) and rod.position == pytest.approx((1.0, 2.5, 2.0))
    assert rod.rpy_deg == pytest.approx((0.0, math.degrees(math.atan2(3.0, 4.0)), 90.0))
    end = np.array([2.0, 1.0, 0.3])
    np.testing.assert_allclose(_bend(end, 0.0), [0.0, 1.0, 0.3], atol=1e-12)
    np.testing.assert_allclose(_bend(end, math.pi / 2.0), [0.0, 1.0, 0.3], atol=1e-12)
    np.testing.assert_allclose(_bend(end, math.radians(45.0)), [0.5, -0.5, 0.3], atol=1e-12)


def test_generated_platforms_stand_where_their_name_says():
    star, line = platform_tree("star_4")[0], platform_tree("line_4")[0]
    assert [each["yaw_deg"] for each in star["joints"]] == pytest.approx([0.0, 90.0, 180.0, -90.0])
    radius = np.hypot(*star["joints"][0]["position"][:2])
    assert all(np.hypot(*each["position"][:2]) == pytest.approx(radius) for each in star["joints"])
    assert [each["position"][0] for each in line["joints"]] == [1.5, 0.5, -0.5, -1.5]
    twelve = platform_tree("star_12")[0]["joints"][0]["position"][0]
    assert twelve == pytest.approx(0.4 / math.sin(math.pi / 12.0)) and star["name"] == "star_4"
    assert star["description"] == "4 aircraft on a circle, generated."
    assert line["description"] == "4 aircraft on a line, generated."
    tilting, source = platform_tree("tilt_3")
    assert (
        source == "tilt_3"
        and tilting["name"] == "tilt_3"
        and tilting["aircraft"]["tilt"] is not None
    )
    assert (
        tilting["description"]
        == "3 aircraft that tilt their rotors, fixed to a centre on a circle, generated."
    )
    assert {each["type"] for each in tilting["joints"]} == {"fixed"}
    for name in ("star_1", "star_13", "line_0", "tilt_x", "star_4_fixed_fixed"):
        with pytest.raises(BadInput, match=f"unknown platform '{name}': "):
            platform_tree(name)
    assert "three_star" in platform_names() and platform_names() == sorted(platform_names())


def test_joints_of_a_tree_say_everything_and_others_are_left_to_the_check():
    tree = platforms._explicit({"joints": [{"type": "spherical"}, 5]})
    assert tree["joints"][1] == 5 and tree["joints"][0]["friction"] == {
        "viscous": 0.0,
        "coulomb": 0.0,
    }
    assert (
        tree["joints"][0]["offset"] == [0.0, 0.0, 0.0] and tree["joints"][0]["type"] == "spherical"
    )
    assert platforms._explicit({"joints": None}) == {"joints": None}


def test_links_of_an_arm_are_rows_behind_all_bodies():
    with_arm = next(
        Assembly.of(p) for p in map(load_platform, platform_names()) if p.arm is not None
    )
    links = ArmLinks.of([STAR, with_arm])
    count = len(with_arm.arm.links)
    assert (links.first, links.bases, len(links.bodies)) == (
        len(STAR.bodies) + len(with_arm.bodies),
        (4,),
        count,
    )
    names = [each.name for each in with_arm.arm.record.joints]
    assert [links.row(4, name) for name in names] == list(range(links.first, links.first + count))
    with pytest.raises(KeyError):
        links.row(3, names[0])
    assert len(collision_shapes([STAR, with_arm])) == links.first + count
    x = np.zeros((links.first, 13))
    x[:, 6] = 1.0
    still = ChainState(np.zeros(count), np.zeros(count))
    rows_ = links.appended(x, [still])
    assert rows_.shape == (links.first + count, 13) and not rows_[links.first :, 7:].any()
    assert ArmLinks.of([STAR]).appended(x[:4], []).tolist() == x[:4].tolist()
    first = link_rows(with_arm.arm, x[4], still)[0]
    np.testing.assert_allclose(first[P], with_arm.arm.chain.origins[0])

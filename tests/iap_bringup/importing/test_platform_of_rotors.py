# SPDX-License-Identifier: BSD-3-Clause
"""The platform of an imported vehicle, number by number: one aircraft of four rotors, or groups around a centre."""

import math

import numpy as np
import pytest

from iap_bringup.importing.platform_file import platform_of
from iap_bringup.importing.rotor_options import RotorOptions, RotorSet, rotor_set
from iap_bringup.importing.vehicle_model import LinkModel, RotorSource, VehicleModel
from iap_description.errors import BadInput

INERTIA = np.array([[0.02, 0.001, 0.002], [0.001, 0.03, 0.003], [0.002, 0.003, 0.04]])
CENTER = np.array([0.02, -0.01, 0.03])
DARK = [0.17, 0.17, 0.19, 1.0]
RADIUS = 0.09  # 0.45 of the 0.2 m between neighbours
PLACES = ((0.2, 0.1, 0.05), (-0.2, 0.1, 0.05), (-0.2, -0.1, 0.05), (0.2, -0.1, 0.05))
SPINS = ("ccw", "cw", "ccw", "cw")


def vehicle(rotors=(), shapes=(), name="my quad!"):
    return VehicleModel(name, [LinkModel("hull", 1.5, CENTER, INERTIA, tuple(shapes))], rotors)


def source(place, spin, **known):
    return RotorSource(np.array(place), spin=spin, **known)


def imported(shapes=(), name="my quad!", sources=None):
    sources = sources or [source(*each) for each in zip(PLACES, SPINS, strict=True)]
    return platform_of(vehicle(sources, shapes, name), RotorSet(sources, {"a": 1.0}, ()), "f")


def test_the_aircraft_stands_in_its_centre_of_mass():
    aircraft = imported()["aircraft"]
    assert aircraft["mass"] == 1.5
    assert aircraft["inertia"] == [0.02, 0.03, 0.04, 0.001, 0.002, 0.003]  # xx yy zz xy xz yz
    assert aircraft["rotor"] == {"a": 1.0} and aircraft["tilt_max_deg"] == 45.0
    np.testing.assert_allclose([r["position"] for r in aircraft["rotors"]], PLACES - CENTER)
    assert [r["spin"] for r in aircraft["rotors"]] == list(SPINS)
    mounts = {name: each["position"] for name, each in aircraft["mounts"].items()}
    np.testing.assert_allclose(mounts["imu"], -CENTER)
    np.testing.assert_allclose(mounts["uwb"], [0.0, 0.0, 0.5 * RADIUS])
    np.testing.assert_allclose(mounts["lidar"], [0.0, 0.0, 0.8 * RADIUS])
    np.testing.assert_allclose(mounts["left_camera"], [1.2 * RADIUS, 0.4 * RADIUS, 0.0])
    np.testing.assert_allclose(mounts["right_camera"], [1.2 * RADIUS, -0.4 * RADIUS, 0.0])


def test_propellers_leave_a_tenth_of_the_way_to_their_neighbours():
    blade, disc = imported()["aircraft"]["propeller"]
    np.testing.assert_allclose(blade["size"], [1.8 * RADIUS, 0.16 * RADIUS, 0.02 * RADIUS])
    assert (disc["radius"], disc["length"]) == (pytest.approx(RADIUS), 0.001)
    assert blade["color"] == DARK and disc["color"] == [0.30, 0.34, 0.40, 0.25]


def test_rods_lead_from_the_middle_to_the_rotors():
    """The first rotor is at (0.18, 0.11, 0.02) from the CoM, and the rod below it by its thickness."""
    visual = imported()["aircraft"]["visual"]
    rod, hub = visual[-5], visual[-1]
    thick, (x, y, z) = 0.08 * RADIUS, PLACES[0] - CENTER
    np.testing.assert_allclose(rod["size"], [math.hypot(x, y), thick, thick])
    np.testing.assert_allclose(rod["position"], [0.5 * x, 0.5 * y, z - thick])
    np.testing.assert_allclose(rod["rpy_deg"], [0.0, 0.0, math.degrees(math.atan2(y, x))])
    assert hub == {"shape": "sphere", "radius": pytest.approx(0.25 * RADIUS), "color": DARK}
    assert rod["color"] == DARK


def test_the_rod_of_a_rotor_over_the_middle_is_as_long_as_it_is_thick():
    places = (*PLACES[:3], tuple(CENTER))
    sources = [source(*each) for each in zip(places, SPINS, strict=True)]
    visual = imported(sources=sources)["aircraft"]["visual"]
    assert len(set(visual[-2]["size"])) == 1 and visual[-2]["size"][0] > 0.0


def test_a_vehicle_without_shapes_is_made_up_of_a_body_and_discs():
    body, first, *_ = imported()["aircraft"]["collision"]
    assert (body["radius"], body["length"]) == pytest.approx((0.5 * RADIUS, 0.5 * RADIUS))
    assert body["position"] == [0.0, 0.0, 0.0]
    assert (first["radius"], first["length"]) == pytest.approx((RADIUS, 0.1 * RADIUS))
    np.testing.assert_allclose(first["position"], PLACES[0] - CENTER)


def test_shapes_are_touched_where_they_are_and_seen_dark():
    ball = {"shape": "sphere", "radius": 0.05, "position": [0.02, 0.0, -0.1234567894]}
    tree = imported([ball])
    (touched,), seen = tree["aircraft"]["collision"], tree["aircraft"]["visual"][0]
    np.testing.assert_allclose(touched["position"], [0.0, 0.01, -0.1534567894], atol=1e-12)
    assert seen == {**touched, "color": DARK}
    assert tree["ground_clearance"] == 0.203457  # six digits


def test_only_a_rotor_that_does_not_push_up_has_a_direction():
    sideways = np.array([0.0, 0.6, 0.8])
    sources = [source(*each) for each in zip(PLACES, SPINS, strict=True)]
    sources[1] = source(PLACES[1], "cw", direction=sideways)
    rows = imported(sources=sources)["aircraft"]["rotors"]
    assert [row.get("direction") for row in rows] == [None, [0.0, 0.6, 0.8], None, None]


@pytest.mark.parametrize(
    ("name", "expected"), [("my quad!", "my_quad"), ("-x-1-", "x_1"), ("!?", "imported")]
)
def test_names_have_letters_digits_and_underscores(name, expected):
    tree = imported(name=name)
    assert (tree["name"], tree["description"]) == (expected, f"{name}, imported.")


def test_three_rotors_turn_no_vehicle_about_all_axes():
    sources = [source(*each) for each in zip(PLACES[:3], SPINS[:3], strict=True)]
    with pytest.raises(BadInput, match="^f: 3 rotors cannot turn a vehicle about all axes"):
        imported(sources=sources)


def ring(spins):
    angles = 2.0 * np.pi * np.arange(len(spins)) / len(spins)
    places = np.c_[np.cos(angles), np.sin(angles), 0.0 * angles]
    return [source(*each) for each in zip(places, spins, strict=True)]


def test_seven_rotors_are_three_groups_of_one_spin_that_have_a_tenth_of_the_mass_each():
    sources = ring(["ccw", "cw", "ccw", "cw", "ccw", "cw", "ccw"])
    tree = imported(sources=sources)
    aircraft = [joint["aircraft"] for joint in tree["joints"]]
    spins = [[rotor["spin"] for rotor in each["rotors"]] for each in aircraft]
    assert spins == [["ccw"] * 3, ["ccw"], ["cw"] * 3]
    of_group = [aircraft[0]["rotors"][k]["position"] for k in range(3)]
    np.testing.assert_allclose(of_group, [sources[k].position - CENTER for k in (0, 2, 4)])
    assert [each["name"] for each in aircraft] == ["my_quad_1", "my_quad_2", "my_quad_3"]
    assert tree["aircraft"] is aircraft[0]
    middle = tree["center"]
    np.testing.assert_allclose([each["mass"] for each in (middle, *aircraft)], [1.05, *[0.15] * 3])
    np.testing.assert_allclose(middle["inertia"], np.array([20, 30, 40, 1, 2, 3]) * 0.7e-3)
    np.testing.assert_allclose(aircraft[2]["inertia"], np.array([20, 30, 40, 1, 2, 3]) * 1e-4)
    assert {(j["type"], *j["position"], j["yaw_deg"]) for j in tree["joints"]} == {
        ("fixed", 0.0, 0.0, 0.0, 0.0)
    }


def test_five_groups_of_rotors_fit_and_six_do_not():
    assert len(imported(sources=ring(["ccw"] * 9 + ["cw"] * 6))["joints"]) == 5
    with pytest.raises(
        BadInput, match="^f: its 15 rotors are 6 groups of three of one spin at most"
    ):
        imported(sources=ring(["ccw"] * 8 + ["cw"] * 7))


FAST = {"thrust_coefficient": 2e-5, "speed_max": 600.0, "torque_ratio": 0.02}


@pytest.mark.parametrize(
    ("known", "options", "rpm", "thrust", "ratio"),
    [
        (FAST, {}, 600.0 * 30.0 / math.pi, 7.2, 0.02),  # k n^2
        (FAST, {"rpm_max": 6000.0}, 6000.0, 2e-5 * (200.0 * math.pi) ** 2, 0.02),
        (FAST, {"thrust_max": 9.0, "torque_ratio": 0.01}, 600.0 * 30.0 / math.pi, 9.0, 0.01),
        ({**FAST, "thrust_max": 8.0}, {}, 600.0 * 30.0 / math.pi, 8.0, 0.02),
        ({}, {"thrust_max": 5.0, "torque_ratio": 0.015}, 10_000.0, 5.0, 0.015),
    ],
)
def test_options_of_rotors_stand_in_place_of_what_a_file_says(known, options, rpm, thrust, ratio):
    sources = [source(PLACES[0], "ccw", **known), source(PLACES[1], "cw", thrust_max=1.0)]
    model = rotor_set(vehicle(sources), RotorOptions(**options), "f").model
    expected = {
        "thrust_coefficient": thrust / rpm**2, "torque_ratio": ratio, "rpm_min": 0.1 * rpm, "rpm_max": rpm,
        "time_constant_up": 0.04, "time_constant_down": 0.06,
    }  # fmt: skip
    assert model == pytest.approx(expected)


def test_what_nobody_says_of_rotors_is_assumed_and_named():
    said = RotorOptions(thrust_max=5.0, torque_ratio=0.02)
    bare = rotor_set(vehicle([source(PLACES[0], "ccw")]), said, "f")
    assert bare.assumed == ["rpm_max 10000", "time constants of the rotors"]
    slow = source(PLACES[0], "ccw", speed_max=500.0, time_constants=(0.1, 0.2))
    known = rotor_set(vehicle([slow]), said, "f")
    assert known.assumed == []
    assert (known.model["time_constant_up"], known.model["time_constant_down"]) == (0.1, 0.2)


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({"torque_ratio": 0.02, "thrust_coefficient": 1e-5}, "how hard a rotor pushes"),
        ({"torque_ratio": 0.02, "speed_max": 500.0}, "how hard a rotor pushes"),
        ({"thrust_max": 5.0}, "a rotor's drag: give --torque-ratio"),
    ],
)
def test_what_rotors_cannot_do_without_is_asked_for(known, words):
    with pytest.raises(BadInput, match=f"^f: it does not say {words}"):
        rotor_set(vehicle([source(PLACES[0], "ccw", **known)]), RotorOptions(), "f")

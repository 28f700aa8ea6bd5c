# SPDX-License-Identifier: BSD-3-Clause
import copy
import re

import numpy as np
import pytest
import yaml
from refusals import refusal

from iap_description.config.plain_yaml import parse_yaml, read_yaml
from iap_description.config.record import override, validate
from iap_description.errors import BadInput
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import (
    DATA,
    Platform,
    load_platform,
    platform_names,
    platform_tree,
)

GENERATED = [f"{kind}_{n}" for kind in ("star", "line") for n in range(2, 13)]


def refused(tree, source="mine.yaml"):
    """The one line with which a platform's tree is refused."""
    line = refusal(validate, Platform, tree, source=source)
    assert source in line
    return line


@pytest.fixture
def tree():
    return copy.deepcopy(platform_tree("three_star")[0])


@pytest.fixture
def file_of(tmp_path):
    """Write text into a YAML file and return its path as a platform's name."""

    def write(text):
        path = tmp_path / "mine.yaml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_the_papers_platforms_and_the_single_quadrotor_ship_as_files():
    papers = ["three_line", "three_square", "three_star", "two_line"]
    others = [
        "beetle",
        "beetle_drogue",
        "f450",
        "f450_arm",
        "f450_dock",
        "hexa",
        "hexa_tilted",
        "m100_arm",
        "morphing",
        "octo_full",
    ]
    joined = [
        "m100_gripper",
        "three_star_arm",
        "three_star_hinge",
        "three_star_mixed",
        "three_star_pen",
        "three_star_universal",
    ]
    assert platform_names() == sorted([*others, *joined, *papers])


@pytest.mark.parametrize("name", [*platform_names(), *GENERATED])
def test_every_platform_loads_under_its_own_name(name):
    platform = load_platform(name)
    assert platform.name == name
    assert platform.count == max(1, len(platform.joints))


def test_three_star_has_the_papers_numbers():
    platform = load_platform("three_star")
    assert (platform.center.mass, platform.aircraft.mass) == (1.1, 1.6)
    places = np.array([joint.position for joint in platform.joints])
    np.testing.assert_allclose(np.hypot(places[:, 0], places[:, 1]), 0.48, atol=1e-6)
    np.testing.assert_array_equal(places[:, 2], 0.07)
    azimuths = np.rad2deg(np.arctan2(places[:, 1], places[:, 0]))
    np.testing.assert_allclose([j.yaw_deg for j in platform.joints], azimuths, atol=1e-5)


def test_aircraft_lifts_half_a_newton_to_36_newtons():
    low, high = load_platform("f450").aircraft.thrust_limits
    assert (low, high) == pytest.approx((0.5, 36.0), rel=2e-3)


def test_opposite_rotors_turn_alike_and_equal_thrusts_make_pure_lift():
    aircraft = load_platform("f450").aircraft
    spins = {rotor.position[:2]: rotor.spin for rotor in aircraft.rotors}
    for (x, y), spin in spins.items():
        assert spins[-x, -y] == spin != spins[x, -y]
    np.testing.assert_allclose(aircraft.wrench_of_rotor_thrusts @ np.ones(4), [0, 0, 4, 0, 0, 0])


def test_a_faster_counter_clockwise_rotor_turns_the_airframe_clockwise():
    aircraft = load_platform("f450").aircraft
    for rotor, column in zip(aircraft.rotors, aircraft.wrench_of_rotor_thrusts.T, strict=True):
        assert np.sign(column[5]) == (-1.0 if rotor.spin == "ccw" else 1.0)
        torque = np.cross(rotor.position, [0.0, 0.0, 1.0])
        np.testing.assert_allclose(column[3:5], torque[:2], atol=1e-15)


@pytest.mark.parametrize("count", range(2, 13))
def test_generated_star_is_regular_and_its_propellers_clear(count):
    platform = load_platform(f"star_{count}")
    places = np.array([joint.position for joint in platform.joints])
    radius = max(0.48, 0.4 / np.sin(np.pi / count))
    np.testing.assert_allclose(np.hypot(places[:, 0], places[:, 1]), radius, atol=1e-6)
    np.testing.assert_allclose(places[:, :2].sum(axis=0), 0.0, atol=1e-6)
    gaps = np.linalg.norm(places - np.roll(places, 1, axis=0), axis=1)
    np.testing.assert_allclose(gaps, gaps[0])
    assert gaps[0] >= 0.8 - 1e-9


@pytest.mark.parametrize("count", range(2, 13))
def test_generated_line_is_centred_and_spaced_by_one_metre(count):
    places = np.array([joint.position for joint in load_platform(f"line_{count}").joints])
    np.testing.assert_allclose(np.diff(places[:, 0]), -1.0)
    assert places[:, 0].sum() == pytest.approx(0.0)
    np.testing.assert_array_equal(places[:, 1], 0.0)


def test_generated_star_of_three_is_the_three_star():
    generated, shipped = load_platform("star_3"), load_platform("three_star")
    for a, b in zip(generated.joints, shipped.joints, strict=True):
        np.testing.assert_allclose(a.position, b.position, atol=1e-6)
        assert a.yaw_deg == pytest.approx(b.yaw_deg)


def test_fixed_variant_differs_in_nothing_but_its_joints():
    fixed, free = load_platform("star_4_fixed"), load_platform("star_4")
    assert {joint.type for joint in fixed.joints} == {"fixed"}
    assert fixed.center == free.center and fixed.aircraft == free.aircraft
    assert [joint.position for joint in fixed.joints] == [j.position for j in free.joints]


def test_assembly_is_the_central_body_and_the_numbered_aircraft():
    assembly = Assembly.of(load_platform("three_star"), "left")
    assert assembly.name == "left"
    assert [b.name for b in assembly.bodies] == ["base_link", "drone_1", "drone_2", "drone_3"]
    assert assembly.aircraft == (1, 2, 3) and assembly.is_jointed
    assert assembly.mass == pytest.approx(1.1 + 3 * 1.6)
    np.testing.assert_allclose(assembly.d_0, [0.0, 0.0, 3 * 1.6 * 0.07 / 5.9], atol=1e-7)


def test_assembly_of_one_aircraft_is_one_body_with_rotors():
    assembly = Assembly.of(load_platform("f450"))
    (body,) = assembly.bodies
    assert (body.name, len(body.rotors), assembly.aircraft) == ("base_link", 4, (0,))
    assert set(body.mounts) == {"imu", "uwb", "lidar", "left_camera", "right_camera"}
    assert not assembly.is_jointed


def test_inertia_counts_jointed_aircraft_as_points_and_fixed_ones_as_bodies():
    free, fixed = (Assembly.of(load_platform(n)) for n in ("three_star", "three_star_fixed"))
    ring = 3 * 1.6 * 0.48**2  # the points on their circle, about z
    assert free.inertia[2, 2] == pytest.approx(0.10386 + ring, rel=1e-6)
    assert fixed.inertia[2, 2] == pytest.approx(0.10386 + ring + 3 * 0.039, rel=1e-6)
    np.testing.assert_allclose(fixed.inertia, fixed.inertia.T, atol=1e-15)


def test_stereo_cameras_are_12_cm_apart_and_look_ahead():
    mounts = load_platform("f450").aircraft.mounts
    left, right = (np.array(mounts[f"{side}_camera"].position) for side in ("left", "right"))
    np.testing.assert_allclose(left - right, [0.0, 0.12, 0.0])
    assert mounts["left_camera"].rpy_deg == mounts["right_camera"].rpy_deg == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("nine_star", "three_star"), ("star_1", "star_10"), ("star_13", "star_3"), ("line_99", "line_9"),
        ("star4", "did you mean star_4"), ("nine_star_fixed", "three_star"), ("", "choose .*three_star"),
    ],
)  # fmt: skip
def test_unknown_platform_is_named_with_what_there_is(name, meant):
    with pytest.raises(BadInput, match="unknown platform") as caught:
        load_platform(name)
    line = str(caught.value)
    assert f"'{name.removesuffix('_fixed')}'" in line and re.search(meant, line)
    assert len(line.splitlines()) == 1


def test_single_aircraft_has_no_links_to_fix():
    with pytest.raises(BadInput, match="f450_fixed.*no joints to fix"):
        load_platform("f450_fixed")


@pytest.mark.parametrize("key", ["name", "center", "joints", "ground_clearance"])
def test_missing_key_is_named(tree, key):
    del tree[key]
    assert f"missing key '{key}'" in refused(tree)


def test_missing_key_inside_is_named_by_its_path(tree):
    del tree["aircraft"]["rotor"]["rpm_max"]
    assert "missing key 'aircraft.rotor.rpm_max'" in refused(tree)


@pytest.mark.parametrize("path", [(), ("center",), ("aircraft", "rotor"), ("joints", 1)])
def test_unknown_key_is_named_by_its_path(tree, path):
    node = tree
    for key in path:
        node = node[key]
    node["colour"] = 3
    assert f"unknown key '{'.'.join(map(str, (*path, 'colour')))}'" in refused(tree)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("center.mass", "heavy"),
        ("center.mass", True),
        ("center.mass", "1.1"),
        ("center.inertia", [0.1, 0.1]),
        ("joints.0.position", [0.1, 0.2]),
        ("joints.0.type", "hinge"),
        ("aircraft.rotor.rpm_max", None),
        ("aircraft.rotors.2.spin", "left"),
        ("ground_clearance", float("nan")),
        ("joints.1.yaw_deg", float("inf")),
        ("center.mass", 0.0),
        ("aircraft.mass", -1.6),
        ("aircraft.rotor.time_constant_up", 0.0),
        ("center.drag.linear", [0.1, -0.1, 0.1]),
    ],
)
def test_wrong_value_is_named_with_its_path(tree, path, value):
    *parents, last = (int(key) if key.isdigit() else key for key in path.split("."))
    node = tree
    for key in parents:
        node = node[key]
    node[last] = value
    assert f"key '{path}" in refused(tree)


def test_inertia_that_no_body_has_is_refused_with_its_moments(tree):
    tree["aircraft"]["inertia"] = [0.02, 0.02, 0.045]
    line = refused(tree)
    assert "key 'aircraft'" in line and "triangle inequality" in line and "0.045" in line


def test_inertia_of_a_flat_plate_is_accepted(tree):
    tree["center"]["inertia"] = [0.02, 0.02, 0.04]
    validate(Platform, tree, source="mine.yaml")


def test_inertia_is_judged_by_its_principal_moments(tree):
    tree["center"]["inertia"] = [0.02, 0.02, 0.03, 0.019, 0.0, 0.0]
    assert "triangle inequality" in refused(tree)
    tree["center"]["inertia"] = [0.02, 0.02, 0.03, 0.03, 0.0, 0.0]
    assert "must be positive" in refused(tree)


def test_joints_all_at_one_point_are_refused(tree):
    for joint in tree["joints"]:
        joint["position"] = [0.1, 0.0, 0.07]
    assert "all joints are at one point" in refused(tree)


def test_a_center_needs_two_aircraft_and_no_center_has_no_joints(tree):
    tree["joints"] = tree["joints"][:1]
    assert "at least two aircraft" in refused(tree)
    tree["center"] = None
    assert "key 'joints'" in refused(tree)


def test_a_platform_has_thirty_aircraft_at_most(tree):
    """With 33 PyBullet diverges in its first step."""
    turns = np.linspace(0.0, 2.0 * np.pi, 31, endpoint=False)
    ring = [
        {**tree["joints"][0], "position": [6.0 * np.cos(turn), 6.0 * np.sin(turn), 0.0]}
        for turn in turns.tolist()
    ]
    tree["joints"] = ring
    assert "key 'joints': at most 30" in refused(tree)
    tree["joints"] = ring[:30]
    assert len(Platform.model_validate(tree).joints) == 30


def test_idle_speed_above_full_speed_is_refused(tree):
    tree["aircraft"]["rotor"]["rpm_min"] = 9500.0
    line = refused(tree)
    assert "key 'aircraft.rotor'" in line and "'rpm_min': 9500.0 is not below" in line


def test_five_rotors_are_refused(tree):
    tree["aircraft"]["rotors"] = [*tree["aircraft"]["rotors"], tree["aircraft"]["rotors"][0]]
    assert "key 'aircraft.rotors'" in refused(tree)


def test_shape_without_its_dimension_is_refused(tree):
    tree["center"]["collision"] = [{"shape": "box", "radius": 0.1}]
    line = refused(tree)
    assert "center.collision.0" in line and "a box takes size" in line


def test_platform_from_a_file_of_ones_own(file_of):
    text = (DATA / "platforms" / "two_line.yaml").read_text(encoding="utf-8")
    own = load_platform(file_of(text.replace("mass: 1.0", "mass: 1.3")))
    assert own.center.mass == 1.3 and own.aircraft.name == "f450"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: [1, 2", "not valid YAML"),
        ("", "a mapping of keys is expected"),
        ("- 1\n- 2\n", "a mapping of keys is expected"),
        ("name: a\nname: b\n", "key 'name' is given twice"),
        ("name: a\naircraft: f999\n", "no aircraft 'f999'"),
    ],
)
def test_unreadable_file_is_named_in_one_line(file_of, text, said):
    name = file_of(text)
    line = refusal(load_platform, name)
    assert name in line and said in line


def test_binary_and_missing_files_are_bad_input(tmp_path):
    path = tmp_path / "mine.yaml"
    with pytest.raises(BadInput, match="no such file"):
        load_platform(str(path))
    path.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(BadInput, match="mine.yaml"):
        load_platform(str(path))


def test_numbers_may_be_written_as_in_yaml_1_2():
    assert parse_yaml("[1e-7, 1.5E+3, 2, -3.0, .5]", source="x") == [1e-7, 1500.0, 2, -3.0, 0.5]


def test_override_reaches_into_lists_and_leaves_the_original(tree):
    changed = override(tree, ["center.mass=1.3", "joints.2.yaw_deg=-90.0"])
    assert (changed["center"]["mass"], changed["joints"][2]["yaw_deg"]) == (1.3, -90.0)
    assert (tree["center"]["mass"], tree["joints"][2]["yaw_deg"]) == (1.1, -120.0)


@pytest.mark.parametrize(
    ("assignment", "said"),
    [
        ("center.mas=1.0", "center.mas"),
        ("joints.9.yaw_deg=0.0", "joints.9"),
        ("center.mass.deep=1.0", "center.mass.deep"),
        ("center.mass", "expected KEY=VALUE"),
        ("=1.0", "expected KEY=VALUE"),
    ],
)
def test_override_of_an_unknown_path_names_it(tree, assignment, said):
    line = refusal(override, tree, [assignment])
    assert said in line


def test_aircraft_numbers_have_one_home():
    for path in (DATA / "platforms").glob("*.yaml"):
        tree = read_yaml(path)
        aircraft = DATA / "aircraft" / f"{tree.get('aircraft')}.yaml"
        assert aircraft.is_file() or "extends" in tree
        assert not {"rotor", "rotors"} & set(yaml.safe_load(path.read_text(encoding="utf-8")))


def test_platforms_are_frozen():
    platform = load_platform("three_star")
    with pytest.raises(Exception, match="frozen"):
        platform.name = "other"


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("limit_deg", 0.0, "limit_deg"),
        ("limit_deg", 180.0, "limit_deg"),
        ("limit_deg", float("nan"), "limit_deg"),
        ("friction", {"viscous": -0.1}, "friction.viscous"),
        ("friction", {"dry": 0.1}, "friction.dry"),
        ("offset", [0.0, 0.0], "offset"),
        ("aircraft", {"mass": 2.0}, "aircraft"),
    ],
)
def test_what_a_joint_cannot_be_is_refused_by_its_key(tree, key, value, shown):
    tree["joints"][1][key] = value
    assert f"joints.1.{shown}" in refused(tree)


@pytest.mark.parametrize(("key", "value"), [("limit_deg", 30.0), ("friction", {"viscous": 0.1})])
def test_a_fixed_joint_has_neither_travel_nor_friction(tree, key, value):
    tree["joints"][0] |= {"type": "fixed", key: value}
    line = refused(tree)
    assert "joints.0" in line and f"'{key}': a joint of type 'fixed' does not turn" in line


def test_every_key_of_a_joint_is_in_the_tree_so_that_it_can_be_set():
    for name in ("three_star", "star_5", "three_line_fixed"):
        tree, source = platform_tree(name)
        tree = override(
            tree, ["joints.0.offset=[0.0, 0.0, -0.02]", "joints.0.friction.viscous=0.0"]
        )
        assert validate(Platform, tree, source=source).joints[0].offset == (0.0, 0.0, -0.02)


def test_an_aircraft_of_ones_own_lies_beside_the_platform(tmp_path):
    heavy = read_yaml(DATA / "aircraft" / "f450.yaml") | {"name": "heavy", "mass": 2.4}
    (tmp_path / "heavy.yaml").write_text(yaml.safe_dump(heavy), encoding="utf-8")
    mixed = read_yaml(DATA / "platforms" / "three_star.yaml")
    mixed["joints"][2]["aircraft"] = "heavy.yaml"
    path = tmp_path / "mixed.yaml"
    path.write_text(yaml.safe_dump(mixed), encoding="utf-8")
    platform = load_platform(str(path))
    assert [each.mass for each in platform.fleet] == [1.6, 1.6, 2.4]
    assert [body.mass for body in Assembly.of(platform).bodies[1:]] == [1.6, 1.6, 2.4]
    mixed["joints"][2]["aircraft"] = "light.yaml"
    path.write_text(yaml.safe_dump(mixed), encoding="utf-8")
    with pytest.raises(BadInput, match=r"key 'joints\.2\.aircraft': no aircraft 'light\.yaml'"):
        load_platform(str(path))


def test_a_lever_moves_the_aircraft_and_not_what_it_does_to_the_platform(tree):
    """The weight of an aircraft that turns freely acts at its joint, that of a fixed one at its CoM."""
    plain = Assembly.of(validate(Platform, tree, source="plain"))
    for joint in tree["joints"]:
        joint["offset"] = [0.0, 0.0, -0.02]
    free = Assembly.of(validate(Platform, tree, source="free"))
    for joint in tree["joints"]:
        joint["type"] = "fixed"
    fixed = Assembly.of(validate(Platform, tree, source="fixed"))
    np.testing.assert_allclose(free.p_PB_P[1:] - plain.p_PB_P[1:], [[0.0, 0.0, 0.02]] * 3)
    np.testing.assert_array_equal(free.d_0, plain.d_0)
    np.testing.assert_array_equal(free.inertia, plain.inertia)
    share = 3 * 1.6 / plain.mass
    np.testing.assert_allclose(fixed.d_0 - plain.d_0, [0.0, 0.0, 0.02 * share], atol=1e-12)

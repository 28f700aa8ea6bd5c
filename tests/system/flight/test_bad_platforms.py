# SPDX-License-Identifier: BSD-3-Clause
"""Platforms that cannot be are refused by one line that names file, key and value."""

import pytest


def put(tree, path, value):
    *parents, last = path.split(".")
    for key in parents:
        tree = tree[int(key) if key.isdigit() else key]
    tree[last] = value


@pytest.mark.parametrize(
    ("path", "value", "shown"),
    [
        ("center.mass", -1.1, "-1.1"),
        ("center.mass", float("nan"), "nan"),
        ("center.inertia", [0.02, 0.02, 0.045], "triangle inequality"),
        ("center.inertia", [0.1, 0.1, 0.1, 0.0, 0.0, 0.5], "inertia"),
        ("aircraft.rotors", [], "rotors"),
        ("joints.0.position", [0.1, 0.0, float("inf")], "inf"),
        ("joints", [], "joints"),
        ("joints", None, "joints"),
        ("wings", 2, "unknown key"),
    ],
)
def test_an_impossible_platform_is_refused_with_its_key(refused, platform, path, value, shown):
    line = refused("hover", "--platform", platform(lambda tree: put(tree, path, value)))
    assert path.split(".")[-1] in line and shown in line
    assert "vehicle.yaml" in line


def test_joints_that_leave_an_axis_without_thrust_are_refused(refused, platform):
    def fix_two(tree):
        tree["joints"][0]["type"] = tree["joints"][1]["type"] = "fixed"

    line = refused("hover", "--platform", platform(fix_two))
    assert "platform.joints" in line and "5 of 6 axes" in line


def test_a_mass_on_the_command_line_is_checked_too(refused):
    line = refused("hover", "--set", "platform.center.mass=-1.0")
    assert "center.mass" in line and "-1.0" in line


def _rotors(**columns):
    """Changes of the rotors, each to a list of four values."""

    def change(tree):
        for key, values in columns.items():
            for rotor, value in zip(tree["aircraft"]["rotors"], values, strict=True):
                rotor[key] = value

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_rotors(spin=["ccw"] * 4), "all spin ccw"),
        (_rotors(spin=["cw"] * 4), "all spin cw"),
        (_rotors(position=[[0.1, 0.0, 0.0]] * 4), "on one line or at one place"),
        (
            _rotors(position=[[x, 0.0, 0.0] for x in (-0.2, -0.1, 0.1, 0.2)]),
            "on one line or at one place",
        ),
        (
            _rotors(
                position=[[a, b, 0.0] for a in (-0.2, 0.2) for b in (-0.2, 0.2)],
                spin=["cw", "cw", "ccw", "ccw"],
            ),
            "across from each other",
        ),
    ],
)
def test_rotors_that_cannot_steer_are_refused_with_the_reason(refused, platform, change, reason):
    line = refused("hover", "--platform", platform(change))
    assert "key 'aircraft': key 'rotors'" in line or "key 'aircraft.rotors'" in line
    assert reason in line and "vehicle.yaml" in line


@pytest.mark.parametrize(
    ("key", "value"),
    [("thrust_coefficient", 1e-300), ("thrust_coefficient", 1e300), ("rpm_max", 1e300)],
)
def test_rotors_of_absurd_thrust_are_refused(refused, platform, key, value):
    line = refused(
        "hover", "--platform", platform(lambda tree: put(tree, f"aircraft.rotor.{key}", value))
    )
    assert key in line and "vehicle.yaml" in line


@pytest.mark.parametrize("name", ["n" * 300, "star_" + "9" * 5000, "x" + "_fixed" * 1000])
def test_a_name_that_no_file_can_have_is_unknown(refused, platform, name):
    assert "unknown platform" in refused("hover", "--platform", name)
    line = refused("hover", "--platform", platform(lambda tree: put(tree, "aircraft", name)))
    assert "no aircraft" in line

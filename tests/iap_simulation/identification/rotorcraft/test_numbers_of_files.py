# SPDX-License-Identifier: BSD-3-Clause
"""Numbers that the files of an identified rotorcraft have, and the motions that models predict."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml

from iap_description.earth import GRAVITY
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.vehicles.platform import load_platform
from iap_simulation.identification.rotorcraft import fleet, input_lags, platform_file, prediction
from iap_simulation.identification.rotorcraft.estimate import Parameter

NOISE = np.random.default_rng(4).normal(size=(1500, 3))

# numbers of files

BASE = load_platform("f450")
AIRCRAFT = BASE.aircraft


def parameter(value: float, half: float = 0.1, unit: str = "u") -> Parameter:
    return Parameter(value, half, unit, "method")


def test_inertia_is_the_arm_times_the_thrust_over_the_acceleration() -> None:
    F, arms = 5.0, np.abs([rotor.position for rotor in AIRCRAFT.rotors]).mean(axis=0)
    found = platform_file._rotation(
        {"roll": parameter(60.0), "pitch": parameter(40.0, 0.25), "yaw": parameter(3.0)},
        AIRCRAFT,
        F,
        1.0,
    )
    x, y, z = found["inertia"].value
    assert (x, y) == pytest.approx((arms[1] * F / 60.0, arms[0] * F / 40.0))
    assert z == pytest.approx(np.clip(AIRCRAFT.inertia[2], 1.01 * abs(x - y), 0.99 * (x + y)))
    assert found["inertia"].origin == (
        "x: 60 +- 0.1 u; y: 40 +- 0.25 u; z: not from the log, by the mass"
    )
    assert found["rotor.torque_ratio"].value == pytest.approx(3.0 * z / F)
    assert found["rotor.torque_ratio"].origin == "3 +- 0.1 u, by I_zz"
    plain = platform_file._rotation({}, AIRCRAFT, F, 2.0)
    assert plain["inertia"].value == pytest.approx([2.0 * each for each in AIRCRAFT.inertia[:3]])
    assert list(plain) == ["inertia"]


def test_the_third_moment_of_inertia_is_one_that_a_body_can_have() -> None:
    thin = platform_file._rotation(
        {"roll": parameter(1e6), "pitch": parameter(1e6)}, AIRCRAFT, 5.0, 1.0
    )
    x, y, z = thin["inertia"].value
    assert z == pytest.approx(0.99 * (x + y))
    y = AIRCRAFT.inertia[1]
    arm = np.abs([rotor.position[1] for rotor in AIRCRAFT.rotors]).mean()
    wide = platform_file._rotation({"roll": parameter(arm * 5.0 / (9.0 * y))}, AIRCRAFT, 5.0, 1.0)
    assert wide["inertia"].value == pytest.approx([9.0 * y, y, 1.01 * 8.0 * y])


def test_numbers_of_an_aircraft_are_scaled_by_its_mass() -> None:
    found = platform_file._numbers(
        {
            "full thrust per mass": parameter(20.0), "lag up": parameter(0.04), "drag x": parameter(0.3),
            "drag y": parameter(0.2), "roll": parameter(60.0),
        },
        AIRCRAFT, platform_file.Scale(1.5), is_by_motors=False,
    )  # fmt: skip
    top = AIRCRAFT.rotor.rpm_max
    assert found["mass"] == (1.5, "rotorcraft.mass")
    coefficient = found["rotor.thrust_coefficient"]
    assert coefficient.value == pytest.approx(1.5 * 20.0 / 4.0 / top**2)
    assert coefficient.origin == f"20 +- 0.1 u at {top:g} rpm, which is not from the log"
    scale = 1.5 / AIRCRAFT.mass
    assert found["inertia"].value == pytest.approx([scale * each for each in AIRCRAFT.inertia[:3]])
    assert found["rotor.time_constant_up"] == (0.04, "0.04 +- 0.1 u")
    assert "rotor.time_constant_down" not in found
    assert found["drag"].value["linear"] == pytest.approx([0.45, 0.3, AIRCRAFT.drag.linear[2]])
    assert found["drag"].value["quadratic"] == [0.0, 0.0, 0.0]
    none = platform_file._numbers(
        {"drag x": parameter(0.3)}, AIRCRAFT, platform_file.Scale(), is_by_motors=True
    )
    assert none == {"mass": (AIRCRAFT.mass, "not from the log: rotorcraft.mass")}


def test_one_arm_scales_all_that_depends_on_it() -> None:
    """With the ratio r F / I as logged, twice the arms have twice the inertia, and yaw's torque follows I_zz."""
    logged = {
        "full thrust per mass": parameter(20.0), "roll": parameter(60.0), "pitch": parameter(60.0),
        "yaw": parameter(3.0),
    }  # fmt: skip
    arm = 0.159 * np.sqrt(2.0)
    alone, doubled = (
        platform_file._numbers(logged, AIRCRAFT, platform_file.Scale(1.6, each), is_by_motors=True)
        for each in (arm, 2.0 * arm)
    )
    assert doubled["inertia"].value[:2] == pytest.approx(
        [2.0 * x for x in alone["inertia"].value[:2]]
    )
    F = 1.6 * 20.0 / 4.0
    for each, size in ((alone, 1.0), (doubled, 2.0)):
        positions = np.array([rotor["position"] for rotor in each["rotors"].value])
        expected = np.array([rotor.position for rotor in AIRCRAFT.rotors]) * [size, size, 1.0]
        np.testing.assert_allclose(positions, expected)
        assert np.abs(positions[:, 1]).mean() * F / each["inertia"].value[0] == pytest.approx(60.0)
        ratio = each["rotor.torque_ratio"].value
        assert ratio * F / each["inertia"].value[2] == pytest.approx(3.0)
    assert doubled["rotors"].origin == "rotorcraft.arm; shapes not from the log"


def test_what_scales_a_log_is_not_determined_until_it_is_given() -> None:
    reasons = platform_file.Scale().reasons("f450")
    assert list(reasons) == ["mass", "arm"]
    assert (
        "1.6 kg of f450 scales" in reasons["mass"]
        and "--set rotorcraft.mass=KG" in reasons["mass"]
    )
    assert (
        "0.225 m of f450 scales" in reasons["arm"] and "--set rotorcraft.arm=M" in reasons["arm"]
    )
    assert not platform_file.Scale(2.0, 0.3).reasons("f450")


def test_an_aircraft_s_file_has_the_origin_of_each_number_behind_it() -> None:
    numbers = {
        "mass": platform_file.Number(1.5, "weighed"), "rotor.torque_ratio": platform_file.Number(0.25, "yaw"),
        "inertia": platform_file.Number([0.1, 0.2, 0.3], "all"), "rotor.rpm_max": platform_file.Number(9.0, "top"),
    }  # fmt: skip
    assert platform_file._text(numbers, AIRCRAFT) == (
        f"extends: {AIRCRAFT.name}\nname: identified\ndescription: Identified from flight logs.\n"
        "mass: 1.5  # weighed\ninertia: [0.1, 0.2, 0.3]  # all\n"
        "rotor:\n  torque_ratio: 0.25  # yaw\n  rpm_max: 9.0  # top\n"
    )


def test_files_are_of_the_start_and_name_their_logs_and_rotors_must_be_as_many() -> None:
    logs: Any = [
        SimpleNamespace(path=Path(f"{name}.ulg"), rotors=n) for name, n in (("a", 0), ("b", 4))
    ]
    numbers = {"mass": platform_file.Number(1.5, "weighed")}
    files = platform_file._files(numbers, BASE, "f450", [*logs, logs[0]])
    head = "# Identified from a.ulg, b.ulg by iap identify --model rotorcraft, on top of f450.\n"
    assert all(text.startswith(head) for text in files.values())
    assert yaml.safe_load(files["platform.yaml"]) == {
        "extends": "f450", "name": "identified", "description": "Identified from a.ulg, b.ulg.",
        "aircraft": "aircraft.yaml",
    }  # fmt: skip
    assert yaml.safe_load(files["aircraft.yaml"])["mass"] == 1.5
    logs[1].rotors = 6
    with pytest.raises(BadInput, match=r"f450 has 4 rotors, b\.ulg has 6: name a platform of as"):
        platform_file._files(numbers, BASE, "f450", logs)


# motions


def test_points_on_a_body_tell_its_attitude_wherever_it_is() -> None:
    points = np.array([[1.0, 0.0, 0.0], [-1.0, 1.0, 0.2], [0.0, -1.0, 0.1], [0.0, 0.0, -0.3]])
    turns = so3.quaternion_exp(np.array([[0.0, 0.0, 0.0], [0.3, -0.5, 1.0], [3.0, 0.2, 0.0]]))
    p = np.stack([so3.rotate(q, points) + [2.0, k, -1.0] for k, q in enumerate(turns)])
    found, R = fleet._attitudes(p), so3.matrix_from_quaternion(turns)
    np.testing.assert_allclose(found, R, atol=1e-9)
    flat = points * [1.0, 1.0, 0.0]
    p = np.stack([so3.rotate(q, flat) for q in turns])
    np.testing.assert_allclose(fleet._attitudes(p), R, atol=1e-9)


def test_a_trim_is_the_mean_by_which_the_time_before_is_above_the_model() -> None:
    table: Any = SimpleNamespace(dt=0.05)
    t = 0.05 * np.arange(40)
    measured = np.outer(t, [2.0, -1.0, 0.5])
    modelled = np.tile([1.5, 0.0, 0.5], (40, 1))
    off = prediction.trims(table, measured, modelled)
    np.testing.assert_allclose(off[10:], np.tile([0.5, -1.0, 0.0], (30, 1)), atol=1e-12)
    assert not off[:10].any()


def test_errors_of_predictions_are_roots_of_means_of_squares_of_sizes_and_angles() -> None:
    true = np.full((2, 3), 7.0)
    model, simple = true + [[3.0, 4.0, 0.0], [0.0, 0.0, 0.0]], true + 1.0
    assert prediction._errors(true, model, simple) == pytest.approx((np.sqrt(12.5), np.sqrt(3.0)))
    a = so3.quaternion_exp(np.array([[0.2, 0.0, 0.0], [0.0, 3.0, 0.0]]))
    angles = prediction._angle(a, np.array([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, -1.0]]))
    np.testing.assert_allclose(angles, [0.2, 3.0])
    tilted = so3.quaternion_exp(np.array([[0.1, 0.0, 0.0], [0.0, 0.0, 2.0]]))
    level = np.tile([0.0, 0.0, 0.0, 1.0], (2, 1))
    assert prediction.tilt_rmse(tilted, level) == pytest.approx(np.degrees(0.1) / np.sqrt(2.0))
    assert prediction.tilt_rmse(level, None) == np.inf


def test_accelerations_are_of_thrust_along_z_and_drag_in_the_body() -> None:
    motion = prediction.MotionModel(
        np.zeros((3, 3)), np.zeros(3), np.array([9.0, 12.0, 15.0]), np.array([0.1, 0.2, 0.3]), np.array([0.5, -0.25])
    )  # fmt: skip
    q = so3.quaternion_exp(np.array([[0.0, 0.0, np.pi / 2]]))
    v = np.array([[2.0, 4.0, 1.0]])  # in the body 4, -2, 1
    a = prediction._accelerations(motion, np.array([1]), q, v)
    np.testing.assert_allclose(a, [[0.25 - 0.4, 0.5 - 0.4, 12.0 - 0.3 - GRAVITY]], atol=1e-12)


def test_the_share_of_accelerations_that_older_inputs_explain() -> None:
    u = NOISE[:, :2]
    y = np.zeros((1500, 1))
    y[7:, 0] = u[:-7] @ [2.0, -1.0]
    assert input_lags._share(u, y, 20, 7) == pytest.approx(1.0)
    assert input_lags._share(u, y, 20, 6) < 0.05 and input_lags._share(u, y, 20, -7) < 0.05
    half = y + 5.0**0.5 * NOISE[:, 2:]
    assert input_lags._share(u, half, 20, 7) == pytest.approx(0.5, abs=0.05)
    assert input_lags._share(u, 0.0 * y, 20, 0) == 1.0

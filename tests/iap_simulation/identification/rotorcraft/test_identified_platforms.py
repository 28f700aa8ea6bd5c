# SPDX-License-Identifier: BSD-3-Clause
"""Aircraft on joints of one platform: their thrusts together, their rotations each, and a file that flies."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from iap_bringup.cli import identify_rotorcraft
from iap_bringup.cli.main import main
from iap_description.earth import GRAVITY
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.vehicles.platform import load_platform
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import UNITS, FlightLog, Signal
from iap_simulation.identification.rotorcraft.fleet import FULL, _attitudes, identify_fleet
from iap_simulation.runs.run import record

DT, ROWS = 0.005, 6000
MIXER = np.array([[-1.0, 1.0, 1.0, -1.0], [-1.0, 1.0, -1.0, 1.0], [-1.0, -1.0, 1.0, 1.0]])
KAPPA = np.array([6.5, 6.0, 5.5])  # full thrust of each aircraft per mass of the platform [m/s^2]
GAINS = np.array([70.0, 60.0, 4.0])  # [rad/s^2] by a motor
PLACES = np.array([[1.0, 0.0, 0.1], [-0.5, 0.9, 0.1], [-0.5, -0.9, 0.1]])


@pytest.fixture(scope="module")
def logs():
    """Three aircraft that tilt and push each for itself; their platform does not turn."""
    rng, t = np.random.default_rng(2), DT * np.arange(ROWS)
    own, total = [], np.zeros((ROWS, 3))
    for kappa in KAPPA:
        share, w, q = _aircraft(rng)
        total += kappa * share.mean(axis=1)[:, None] * so3.matrix_from_quaternion(q)[:, :, 2]
        own.append((share, w, q))
    v = np.concatenate(
        [np.zeros((1, 3)), np.cumsum((total[:-1] - [0.0, 0.0, GRAVITY]) * DT, axis=0)]
    )
    p = np.cumsum(v * DT, axis=0)
    found = []
    for i, (share, w, q) in enumerate(own):
        values = {
            names.ATTITUDE: q, names.POSITION: p + PLACES[i] + [0.0, 0.0, 50.0], names.VELOCITY: v, names.RATES: w,
            names.SPECIFIC_FORCE: so3.rotate(so3.conjugate(q), total), names.LANDED: np.zeros((ROWS, 1)),
        }  # fmt: skip
        signals = {name: Signal(t, x, "made", UNITS[name]) for name, x in values.items()}
        signals[names.MOTORS] = Signal(t, np.sqrt(share), "made", names.MEASURED_SPEED)
        found.append(FlightLog(Path("made"), "made", f"star, drone_{i + 1}", signals, 4))
    return found


def _aircraft(rng):
    """Shares of the full thrust of four rotors, body rates and attitudes of an aircraft that they turn."""
    t = DT * np.arange(ROWS)
    push = np.zeros((ROWS, 3))
    for size, f in zip((0.01, 0.008, 0.006, 0.005), (1.3, 2.1, 3.7, 5.2), strict=True):
        axes = f * np.array([1.0, 1.13, 1.31])  # so that no axis moves with another
        push += size * np.sin(2.0 * np.pi * axes * t[:, None] + rng.uniform(0.0, 6.0, 3))
    alpha = 4.0 * GAINS * push
    integral = np.concatenate(
        [np.zeros((1, 3)), np.cumsum(0.5 * (alpha[1:] + alpha[:-1]) * DT, axis=0)]
    )
    w = integral - integral.mean(axis=0)
    q = np.zeros((ROWS, 4))
    q[0] = so3.quaternion_exp(rng.uniform(-0.05, 0.05, 3))
    for k in range(ROWS - 1):
        q[k + 1] = so3.multiply(q[k], so3.quaternion_exp(0.5 * (w[k] + w[k + 1]) * DT))
    lift = 0.54 + 0.05 * np.sin(2.0 * np.pi * rng.uniform(0.3, 0.8) * t)
    return lift[:, None] + push @ MIXER, w, q


def test_the_thrusts_of_all_aircraft_carry_one_mass(logs):
    model = identify_fleet(logs)
    assert model.parameters[FULL].value == pytest.approx(KAPPA.sum(), rel=5e-3)
    assert "thrust of one aircraft" in model.refusals


def test_each_aircraft_turns_by_its_own_rotors(logs):
    model = identify_fleet(logs)
    for name in ("drone_1", "drone_2", "drone_3"):
        for axis, true in zip(("roll", "pitch", "yaw"), GAINS, strict=True):
            assert model.parameters[f"{name} {axis}"].value == pytest.approx(true, rel=0.01)
        assert "speeds are logged" in model.refusals[f"{name} lag up"]
    assert model.mean["roll"].value == pytest.approx(GAINS[0], rel=0.01)


def test_attitudes_of_a_body_are_those_of_its_points():
    turns = so3.matrix_from_quaternion(
        so3.quaternion_exp(np.array([[0.0, 0.0, 0.0], [0.1, -0.2, 0.3]]))
    )
    p = np.einsum("kij,nj->kni", turns, PLACES) + [1.0, 2.0, 3.0]
    np.testing.assert_allclose(_attitudes(p), turns, atol=1e-12)


def test_an_aircraft_without_rotor_speeds_is_refused_by_its_name(logs):
    commanded = replace(logs[1].signals[names.MOTORS], unit=names.SPEED_SHARE)
    other = [logs[0], logs[1].with_signal(names.MOTORS, commanded), logs[2]]
    with pytest.raises(BadInput, match="drone_2: rotor speeds, an accelerometer and a position"):
        identify_fleet(other)


def test_aircraft_that_fly_at_different_times_are_refused(logs):
    late = {name: replace(each, t=each.t + 1000.0) for name, each in logs[1].signals.items()}
    with pytest.raises(BadInput, match="in the air at different times"):
        identify_fleet([logs[0], replace(logs[1], signals=late), logs[2]])


@pytest.mark.parametrize("as_json", [True, False])
def test_a_platform_s_file_and_figures_are_written_and_printed(
    logs, tmp_path, capsys, monkeypatch, as_json
):
    monkeypatch.setattr(identify_rotorcraft, "_fleet", lambda options: logs)
    out, typed = tmp_path / "model", ["--json"] if as_json else []
    start = ["--set", "rotorcraft.start=three_star", "--out", str(out)]
    assert main(["identify", "run", "--model", "rotorcraft", *start, *typed]) == 0
    said, metrics = capsys.readouterr(), json.loads((out / "metrics.json").read_text())
    table = said.err if as_json else said.out
    assert (json.loads(said.out) == metrics) if as_json else "{" not in said.out
    assert metrics["aircraft"] == [each.vehicle for each in logs]
    value, half = metrics["parameters"][FULL]
    assert value == pytest.approx(KAPPA.sum(), rel=5e-3) and 0.0 < half < 0.2
    for name, (value, half) in metrics["parameters"].items():
        row = next(line for line in table.splitlines() if f" {name} " in line)
        assert f" {value:.4g} " in row and f" {half:.2g} " in row
        assert f" {metrics['units'][name]} " in row
    for name, reason in metrics["not_determined"].items():
        assert f"not determined: {name}: {reason}" in table


@pytest.mark.slow
def test_a_recorded_platform_becomes_a_file_that_flies(tmp_path, capsys):
    run, out = tmp_path / "run", tmp_path / "model"
    short = {"reference.hover": 2.0, "reference.sweep": 5.0}
    options = {"sensors": "imu", "engine": "closed_form", "settings": short}
    record("identification_star", folder=run, **options)
    typed = ["identify", str(run), "--model", "rotorcraft", "--out", str(out)]
    assert main(typed) == 2
    assert "f450 has 1 aircraft" in capsys.readouterr().err
    assert main([*typed, "--set", "rotorcraft.start=three_star"]) == 0
    found, true = (
        load_platform(each).aircraft for each in (str(out / "platform.yaml"), "three_star")
    )
    assert found.rotor.c_f == pytest.approx(true.rotor.c_f, rel=0.02)
    assert found.inertia[:2] == pytest.approx(true.inertia[:2], rel=0.02)
    flight = ["run", "hover", "--platform", str(out / "platform.yaml"), "--duration", "2"]
    assert main([*flight, "--no-plot", "--no-view", "--out", str(tmp_path / "again")]) == 0

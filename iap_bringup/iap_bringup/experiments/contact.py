# SPDX-License-Identifier: BSD-3-Clause
"""Studies of contact: every flight leaves its run folder, so that each number can be looked into."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from iap_bringup.experiments.rows import Report, Rows
from iap_description.arrays import Array
from iap_description.states import P, resting_state
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.world import World
from iap_io.runs.run_folder import create_run_folder, load_run
from iap_physics.engines.joints import joined_rows
from iap_physics.engines.pybullet.engine import PyBulletEngine
from iap_simulation.metrics.contact import ESTIMATED
from iap_simulation.runs.run import record

SEEDS = range(1, 6)
RATES = ((500.0, 250.0), (1000.0, 200.0), (2000.0, 200.0))  # of the physics and of control [Hz]
STEPS = {"x": 5.0, "y": 5.0, "z": 5.0, "roll": 1.0, "pitch": 1.0, "yaw": 1.0}  # [N], [N m]
STEP_AT, READ_DELAY = 3.0, 0.5  # [s]
SETTLING = 1.0  # [s]
NOISE = ("state_noise.velocity=0.005", "state_noise.rate_deg=0.2")


def fly(folder: Path, name: str, scenario: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of Options
    """Fly a scenario into a folder's subfolder; returns its metrics."""
    return record(scenario, folder=folder / name, **options).metrics


def peg_over_seeds(gains: Iterable[str], report: Report) -> Rows:
    """peg_in_hole for every preset and seed, each beside the same flight without admittance.

    Args:
        gains: the presets.
        report: called with the name of every flight.

    Returns:
        By preset and seed, the flight's figures; `push_ratio` is how many times harder the steady push is without.
    """
    folder = create_run_folder(None, "peg_in_hole_seeds")
    results: Rows = {}
    cases = [(preset, seed) for preset in gains for seed in SEEDS]
    for number, (preset, seed) in enumerate(cases):
        name = f"{preset} {seed}"
        report(f"{number} of {len(cases)}: {name}, {folder}")
        options: dict[str, Any] = {"gains": preset, "seed": seed}
        with_it = fly(folder, name, "peg_in_hole", **options, assignments=("compare={}",))
        stiff = ("compare={}", "control.admittance=false")
        without = fly(folder, f"{name} stiff", "peg_in_hole", **options, assignments=stiff)
        with_it["push_ratio"] = without["force_steady_n"] / with_it["force_steady_n"]
        results[name] = with_it
    return results


def peg_over_rates(report: Report) -> Rows:
    """peg_in_hole at several rates of the physics."""
    folder = create_run_folder(None, "peg_in_hole_rates")
    results: Rows = {}
    for number, (rate, control) in enumerate(RATES):
        report(f"{number} of {len(RATES)}: {rate:.0f} Hz, {folder}")
        assignments = ("compare={}", f"rates={{physics_hz: {rate}, control_hz: {control}}}")
        name = f"{rate:.0f} Hz"
        results[name] = fly(folder, f"{rate:.0f}_hz", "peg_in_hole", assignments=assignments)
    return results


def resting(report: Report) -> Rows:
    """Contact force and jitter of a platform that stands on the ground with its rotors off."""
    platform = load_platform("three_star")
    assembly, world = Assembly.of(platform), World()
    weight = assembly.mass * world.gravity
    start = resting_state(
        np.array([0.0, 0.0, platform.ground_clearance]), np.array([0, 0, 0, 1.0])
    )
    results: Rows = {}
    for number, (rate, _) in enumerate(RATES):
        report(f"{number} of {len(RATES)}: resting at {rate:.0f} Hz")
        engine = PyBulletEngine()
        try:
            engine.load(world, [assembly])
            engine.reset(joined_rows(assembly, start)[None])
            forces, positions = _stand(engine, rate)
        finally:
            engine.close()
        results[f"{rate:.0f} Hz"] = {
            "force_over_weight": float(forces.mean() / weight),
            "jitter_mm": 1e3 * float(np.ptp(positions, axis=0).max()),
        }
    return results


def _stand(engine: PyBulletEngine, rate: float) -> tuple[Array, Array]:
    """Vertical contact forces (T,) [N] and positions (T, 3) [m] over a second, `SETTLING` after the start.

    The aircraft hang on free joints and have skids of their own to fall on, so their attitudes are held.
    """
    forces, positions = [], []
    for k in range(round((SETTLING + 1.0) * rate)):
        x = engine.state()[0]
        loads = np.zeros((1, len(x), 6))
        loads[0, 1:, 3:] = -4.0 * x[1:, 3:6] * np.sign(x[1:, 6:7]) - 0.4 * x[1:, 10:13]
        engine.apply(loads)
        engine.step(1.0 / rate)
        if k >= SETTLING * rate:
            forces.append(engine.contact_wrench(0)[2])
            positions.append(engine.state()[0, 0, P].copy())
    return np.array(forces), np.array(positions)


def observer_steps(report: Report) -> Rows:
    """Estimates of the momentum observer after steps of force and torque in hover, and of a noisy hover."""
    folder = create_run_folder(None, "observer")
    results: Rows = {}
    for axis, (name, size) in enumerate(STEPS.items()):
        report(f"{axis} of {len(STEPS) + 1}: {folder}, step along {name}")
        wrench = np.eye(6)[axis] * size
        step = f"{{at: {STEP_AT}, until: 99.0, force: {wrench[:3].tolist()}, torque: {wrench[3:].tolist()}}}"
        assignments = (f"disturbances=[{step}]",)
        fly(folder, name, "hover", duration=STEP_AT + 1.0, assignments=assignments)
        estimate = _estimates(folder / name, STEP_AT + READ_DELAY)[0]
        results[f"step {name}"] = {"seen_of_it": float(estimate[axis] / size)}
    report(f"{len(STEPS)} of {len(STEPS) + 1}: {folder}, noisy hover")
    fly(folder, "noisy", "hover", duration=12.0, assignments=(*NOISE, "control.admittance=true"))
    bias = np.abs(_estimates(folder / "noisy", 2.0).mean(axis=0))
    results["noisy hover"] = {
        "bias_force_n": float(bias[:3].max()),
        "bias_torque_nm": float(bias[3:].max()),
    }
    return results


def _estimates(folder: Path, since: float) -> Array:
    """Estimated wrenches (T, 6) of a run from a time [s] on."""
    columns = load_run(folder).vehicles[0].columns
    assert columns.wrench_record is not None  # noqa: S101 - a disturbed or yielding vehicle's wrenches are recorded
    return columns.wrench_record.wrenches[columns.t >= since - 1e-9, ESTIMATED]

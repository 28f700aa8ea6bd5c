# SPDX-License-Identifier: BSD-3-Clause
"""Free flight of engines against the closed form: several routes to the same tumbling platform."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple, Self

import numpy as np
from numba import njit
from rich.console import Console

from iap_bringup.experiments.rows import Report, Rows, silent
from iap_bringup.terminal.progress import counted
from iap_bringup.terminal.tables import show_rows
from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.math.kernels import (
    Quat,
    add,
    cross,
    put,
    qnormalize,
    quat,
    rotate,
    scale,
    vec,
)
from iap_description.states import STATE_SIZE, P, Q, V, W
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.world.world import World
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.engines.engine import Engine
from iap_physics.engines.joints import joined_rows
from iap_physics.engines.make import is_installed, make_engine

RATES = (200, 1000, 5000)  # [Hz]
DURATION = 2.0  # [s]
SAMPLES = 20  # times at which positions are compared
WORLD = World(ground=False)
WEIGHTLESS = World(gravity=0.0, ground=False)


@dataclass(frozen=True)
class ConvergenceRow:
    """One line of the table.

    Attributes:
        engine: its name.
        rate_hz: steps per second.
        position_error_m: largest distance of any body from its true place, under loads.
        order: by which the error falls with the step size; None in an engine's first line.
        energy_drift: largest relative change of kinetic energy, without loads and weight.
        linear_momentum_drift: the same of momentum.
        angular_momentum_drift: the same of angular momentum about the common CoM.
    """

    engine: str
    rate_hz: int
    position_error_m: float
    order: float | None
    energy_drift: float
    linear_momentum_drift: float
    angular_momentum_drift: float


class Loads(NamedTuple):
    """Wrenches fixed in time in body axes: mean + amplitude sin(rate t + phase), all (bodies, 6)."""

    mean: Array
    amplitude: Array
    rate: Array
    phase: Array

    @classmethod
    def on(cls, assembly: Assembly) -> Self:
        """A thrust of some third of its share of the weight on every aircraft, torques on all."""
        mean, amplitude, rate = np.zeros((3, len(assembly.bodies), 6))
        share = assembly.mass * WORLD.gravity / len(assembly.aircraft)
        amplitude[:, 3:] = [np.diag(body.inertia) for body in assembly.bodies]
        amplitude[0, 3:] *= 4.0
        rate[:, 3:] = 5.0
        for body in assembly.aircraft:
            mean[body, 2], amplitude[body, 2], rate[body, 2] = 0.3 * share, 0.15 * share, 4.0
        phase = np.add.outer(2.0 * np.arange(len(mean)), np.arange(6.0))
        return cls(mean, amplitude, rate, phase)

    @classmethod
    def none(cls, assembly: Assembly) -> Self:
        """No loads at all."""
        return cls(*np.zeros((4, len(assembly.bodies), 6)))


def free_flight_convergence(report: Report = silent) -> list[ConvergenceRow]:
    """The table of three_star: each engine at each of `RATES`.

    Positions are compared under `Loads.on` and gravity; energy and momenta are compared without
    either. The others get the loads of each step's beginning, as in a run; the closed form those of
    its middle, so that it is of second order and, at twice the highest rate, the reference.
    """
    assembly = Assembly.of(load_platform("three_star"))
    oracle = ClosedFormEngine()
    names = ["closed_form", *filter(is_installed, ("pybullet", "mujoco"))]
    report(f"0 of {len(names)}: the reference")
    reference = fly(oracle, assembly, 2 * max(RATES), midpoint=True)
    table = list[ConvergenceRow]()
    for name in counted(report, names):
        if name == "closed_form":
            table += _lines(name, oracle, assembly, reference, midpoint=True)
            continue
        engine = make_engine(name)
        table += _lines(name, engine, assembly, reference)
        engine.close()
    return table


def tumbling(assembly: Assembly) -> Array:
    """Start rows (bodies, 13): every body turns about its own axis at more than 3 rad/s."""
    base = np.zeros(STATE_SIZE)
    base[P], base[V] = (0.0, 0.0, 50.0), (1.0, -0.5, 2.0)
    base[Q] = so3.quaternion_exp(np.array([0.3, -0.2, 0.5]))
    base[W] = so3.rotate(base[Q], np.array([1.4, -1.0, 2.6]))
    i = np.arange(len(assembly.joints))[:, None]
    q_WB = so3.quaternion_exp(np.sin(1.0 + i + np.array([0.0, 2.0, 4.0])))
    axes_B = so3.normalized(np.sin(2.0 + 3.0 * i + np.array([0.0, 1.0, 2.5])))
    return joined_rows(assembly, base, q_WB, 3.5 * so3.rotate(q_WB, axes_B))


def fly(
    engine: Engine,
    assembly: Assembly,
    rate: int,
    *,
    loaded: bool = True,
    midpoint: bool = False,
) -> Array:
    """Tumble for `DURATION` at `rate` [Hz], the aircraft through the central body.

    Args:
        engine: flies one assembly.
        assembly: the platform.
        rate: steps per second.
        loaded: with `Loads.on` and gravity, or without both.
        midpoint: evaluate the loads for the middle of each step instead of its beginning.

    Returns:
        State rows (SAMPLES + 1, bodies, 13) at equal intervals, the start first.
    """
    engine.load(WORLD if loaded else WEIGHTLESS, [assembly.without_shapes()])
    engine.reset(tumbling(assembly)[None])
    loads = Loads.on(assembly) if loaded else Loads.none(assembly)
    dt, steps = 1.0 / rate, round(DURATION * rate)
    ahead = 0.5 * dt if midpoint else 0.0
    samples, wrenches = [engine.state()[0].copy()], np.zeros((1, len(assembly.bodies), 6))
    for k in range(steps):
        _wrenches_of(loads, engine.state()[0], k * dt + ahead, ahead, wrenches[0])
        engine.apply(wrenches)
        engine.step(dt)
        if (k + 1) % (steps // SAMPLES) == 0:
            samples.append(engine.state()[0].copy())
    return np.array(samples)


@njit(cache=True)
def _wrenches_of(loads: Loads, x: Array, t: float, ahead: float, wrenches: Array) -> None:
    """The loads at time t on bodies that have turned on for `ahead` [s], into world axes."""
    for i in range(x.shape[0]):
        q, w, load = quat(x[i, 3:7]), vec(x[i, 10:13]), wrenches[i]
        for k in range(6):
            swing = loads.amplitude[i, k] * np.sin(loads.rate[i, k] * t + loads.phase[i, k])
            load[k] = loads.mean[i, k] + swing
        q = _turned(q, scale(ahead, w))
        put(load[:3], rotate(q, vec(load[:3])))
        put(load[3:], rotate(q, vec(load[3:])))


@njit(cache=True)
def _turned(q: Quat, turn_W: tuple[float, float, float]) -> Quat:
    """An attitude turned on by a small rotation vector in world axes, to first order."""
    u, half = (q[0], q[1], q[2]), scale(0.5, turn_W)
    v = add(add(u, scale(q[3], half)), cross(half, u))
    s = q[3] - (half[0] * u[0] + half[1] * u[1] + half[2] * u[2])
    return qnormalize((v[0], v[1], v[2], s))


@dataclass(frozen=True)
class Invariants:
    """Conserved quantities of free motion, each with the batch's leading shape.

    Attributes:
        kinetic: sum of m v^2 / 2 + w J w / 2 over the bodies [J].
        potential: sum of m g z [J].
        linear: (..., 3) momentum in world axes [N s].
        angular: (..., 3) angular momentum about the common CoM, world axes [N m s].
    """

    kinetic: Array
    potential: Array
    linear: Array
    angular: Array


def invariants(assembly: Assembly, x: Array, gravity: float = 0.0) -> Invariants:
    """Energy and momenta of state rows (..., bodies, 13) under `gravity` [m/s^2]."""
    masses = np.array([body.mass for body in assembly.bodies])
    inertias = np.stack([body.inertia for body in assembly.bodies])
    momenta = masses[:, None] * x[..., V]
    spins = _spin(inertias, x)
    p_WC_W = np.einsum("b,...bi->...i", masses, x[..., P]) / masses.sum()
    arms = x[..., P] - p_WC_W[..., None, :]
    kinetic = 0.5 * (momenta * x[..., V] + spins * x[..., W]).sum((-2, -1))
    potential = gravity * (masses * x[..., 2]).sum(-1)
    angular = (np.cross(arms, momenta) + spins).sum(-2)
    return Invariants(kinetic, potential, momenta.sum(-2), angular)


def _spin(inertias: Array, x: Array) -> Array:
    """Angular momentum (..., bodies, 3) of each body about its own CoM, world axes."""
    w_B = so3.rotate(so3.conjugate(x[..., Q]), x[..., W])
    return so3.rotate(x[..., Q], np.einsum("bij,...bj->...bi", inertias, w_B))


def _lines(
    name: str,
    engine: Engine,
    assembly: Assembly,
    reference: Array,
    *,
    midpoint: bool = False,
) -> list[ConvergenceRow]:
    lines: list[ConvergenceRow] = []
    for rate in RATES:
        states = fly(engine, assembly, rate, midpoint=midpoint)
        error = float(np.linalg.norm(states[..., P] - reference[..., P], axis=-1).max())
        order = None
        if lines:  # from the rate before
            ratio = lines[-1].position_error_m / error
            order = math.log(ratio) / math.log(rate / lines[-1].rate_hz)
        drifts = _drifts(assembly, fly(engine, assembly, rate, loaded=False))
        lines.append(ConvergenceRow(name, rate, error, order, *drifts))
    return lines


def _drifts(assembly: Assembly, x: Array) -> tuple[float, float, float]:
    """Largest changes of kinetic energy, momentum and angular momentum, relative to the start."""
    kept = invariants(assembly, x)
    return (
        float(np.abs(kept.kinetic / kept.kinetic[0] - 1.0).max()),
        _drift(kept.linear),
        _drift(kept.angular),
    )


def _drift(v: Array) -> float:
    return float(np.linalg.norm(v - v[0], axis=-1).max() / np.linalg.norm(v[0]))


def convergence_rows(lines: Sequence[ConvergenceRow]) -> Rows:
    """Lines by engine and rate, as records of plain values."""
    return {f"{line.engine}, {line.rate_hz} Hz": asdict(line) for line in lines}


def show_convergence(console: Console, lines: Sequence[ConvergenceRow]) -> None:
    """The table of free flight: errors of the engines, and drifts of energy and momenta."""
    rows = {
        f"{line.engine}, {line.rate_hz} Hz": {
            "position error, mm": f"{1e3 * line.position_error_m:.4g}",
            "order": "" if line.order is None else f"{line.order:.2f}",
            "energy": f"{line.energy_drift:.1e}",
            "momentum": f"{line.linear_momentum_drift:.1e}",
            "angular m.": f"{line.angular_momentum_drift:.1e}",
        }
        for line in lines
    }
    show_rows(console, "2 s of tumbling: error under loads, drifts without", rows)

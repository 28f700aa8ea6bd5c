# SPDX-License-Identifier: BSD-3-Clause
"""Free flight of PyBullet against the closed form: two routes to the same tumbling platform."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iap_description import so3
from iap_description.assembly import Assembly
from iap_description.platform import load_platform
from iap_description.states import STATE_SIZE, P, Q, V, W
from iap_description.world import World
from iap_physics.closed_form_engine import ClosedFormEngine
from iap_physics.energy import invariants
from iap_physics.engine import Engine
from iap_physics.joints import joined_rows
from iap_physics.pybullet_engine import PyBulletEngine

Array = NDArray[np.float64]
# State rows (bodies, 13) and time to wrenches (bodies, 6), world axes.
Loads = Callable[[Assembly, Array, float], Array]

RATES = (200, 1000, 5000)  # [Hz]
DURATION = 2.0  # [s]
SAMPLES = 20  # times at which positions are compared
WORLD = World(ground=False)


@dataclass(frozen=True)
class FreeFlight:
    """One line of the table.

    Attributes:
        engine: its name.
        rate_hz: steps per second.
        position_error_m: largest distance of any body from its true place, under loads.
        order: by which the error falls with the step size; None in an engine's first line.
        energy_drift: largest relative change of kinetic energy, without loads.
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


def free_flight_convergence(
    platform: str = "three_star", rates: Sequence[int] = RATES
) -> list[FreeFlight]:
    """The table: each engine at each rate [Hz], multiples of 10.

    Positions are compared under `thrusts_and_torques`; energy and momenta are watched in
    weightlessness. PyBullet gets the loads of each step's beginning, as in a run; the closed form
    those of its middle, so that it is of second order and, at twice the highest rate, the
    reference.
    """
    assembly = Assembly.of(load_platform(platform))
    oracle = ClosedFormEngine()
    reference = fly(oracle, assembly, 2 * max(rates), thrusts_and_torques, midpoint=True)
    table = _lines("closed_form", oracle, assembly, rates, reference, midpoint=True)
    engine = PyBulletEngine()
    table += _lines("pybullet", engine, assembly, rates, reference)
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


def thrusts_and_torques(assembly: Assembly, x: Array, t: float) -> Array:
    """Loads (bodies, 6), world axes, fixed in time in body axes.

    Every aircraft has a thrust that varies about half its share of the weight, and a torque; the
    central body has both.
    """
    loads_B = np.zeros((len(assembly.bodies), 6))
    loads_B[0] = 0.2 * np.sin(3.0 * t + np.arange(6.0))
    share = assembly.mass * WORLD.gravity / len(assembly.aircraft)
    for i, body in enumerate(assembly.aircraft):
        loads_B[body, 2] += 0.5 * share * (1.0 + 0.5 * np.sin(4.0 * t + i))
        loads_B[body, 3:] += 0.02 * np.cos(5.0 * t + i + np.arange(3.0))
    return so3.rotate(x[:, None, Q], loads_B.reshape(-1, 2, 3)).reshape(-1, 6)


def weightlessness(assembly: Assembly, x: Array, t: float) -> Array:
    """Loads (bodies, 6), world axes, that carry each body's weight, whatever `x` and `t`."""
    loads = np.zeros((len(assembly.bodies), 6))
    loads[:, 2] = [body.mass * WORLD.gravity for body in assembly.bodies]
    return loads


def fly(
    engine: Engine, assembly: Assembly, rate: int, loads: Loads, *, midpoint: bool = False
) -> Array:
    """Tumble for `DURATION` at `rate` [Hz].

    Args:
        engine: flies one assembly.
        assembly: the platform.
        rate: steps per second.
        loads: what acts on the bodies.
        midpoint: evaluate the loads for the middle of each step instead of its beginning.

    Returns:
        State rows (SAMPLES + 1, bodies, 13) at equal intervals, the start first.
    """
    engine.load(WORLD, [assembly])
    engine.reset(tumbling(assembly)[None])
    dt, steps = 1.0 / rate, round(DURATION * rate)
    ahead = 0.5 * dt if midpoint else 0.0
    samples = [engine.state()[0].copy()]
    for k in range(steps):
        engine.apply(loads(assembly, _turned(engine.state()[0], ahead), k * dt + ahead)[None])
        engine.step(dt)
        if (k + 1) % (steps // SAMPLES) == 0:
            samples.append(engine.state()[0].copy())
    return np.array(samples)


def _turned(x: Array, dt: float) -> Array:
    """Rows whose attitudes are where they will be after `dt`, to first order."""
    if dt == 0.0:
        return x
    x = x.copy()
    x[:, Q] = so3.multiply(so3.quaternion_exp(dt * x[:, W]), x[:, Q])
    return x


def _lines(
    name: str,
    engine: Engine,
    assembly: Assembly,
    rates: Sequence[int],
    reference: Array,
    *,
    midpoint: bool = False,
) -> list[FreeFlight]:
    lines: list[FreeFlight] = []
    for rate in rates:
        flown = fly(engine, assembly, rate, thrusts_and_torques, midpoint=midpoint)
        error = float(np.linalg.norm(flown[..., P] - reference[..., P], axis=-1).max())
        order = _order(lines[-1], rate, error) if lines else None
        drifts = _drifts(assembly, fly(engine, assembly, rate, weightlessness))
        lines.append(FreeFlight(name, rate, error, order, *drifts))
    return lines


def _order(before: FreeFlight, rate: int, error: float) -> float:
    """Order of convergence from one rate to the next."""
    return math.log(before.position_error_m / error) / math.log(rate / before.rate_hz)


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

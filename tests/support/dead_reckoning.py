# SPDX-License-Identifier: BSD-3-Clause
"""A flight with inertial units, and the motion that their samples add up to."""

from dataclasses import dataclass, replace

import numpy as np
from flying import DT, GRAVITY, Log, scenario_of

from iap_description.math import so3
from iap_description.sensors.readings import InertialMounts, InertialSamples
from iap_description.states import P, Q, V, W
from iap_estimation.evaluation.dead_reckoning import reckon as means
from iap_estimation.evaluation.dead_reckoning import reckon_instants as instants
from iap_physics.plant.inertial import InertialProbe
from iap_simulation.flights.flight import Flight
from iap_simulation.simulation.simulation import Simulation

SAMPLINGS = ("integrating", "instantaneous")
STEPS = 2000  # 10 s


@dataclass(frozen=True)
class Feelings:
    """Samples of inertial units in a flight.

    Attributes:
        mounts: of M units.
        x: (T, bodies, 13) states at the control instants.
        samples: by sampling, 200 Hz.
    """

    mounts: InertialMounts
    x: np.ndarray
    samples: dict[str, InertialSamples]

    def moved(self, by_B: np.ndarray) -> "Feelings":
        """The same samples, believed to come from somewhere else."""
        return replace(self, mounts=self.mounts._replace(p_BS_B=self.mounts.p_BS_B + by_B))

    def units(self, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions (M, 3), attitudes (M, 4) and velocities (M, 3) of the units at control instant k."""
        rows = self.x[k, self.mounts.rows]
        arm = so3.rotate(rows[:, Q], self.mounts.p_BS_B)
        v = rows[:, V] + np.cross(rows[:, W], arm)
        return rows[:, P] + arm, so3.multiply(rows[:, Q], self.mounts.q_BS), v


def figure_eight(mounts: InertialMounts, duration: float) -> Feelings:
    """Fly the figure-eight in PyBullet."""
    scenario = scenario_of("figure_eight", engine="pybullet", duration=duration)
    probes = [_probe(mounts, name) for name in SAMPLINGS]
    log = Log(0)
    with Simulation(Flight.of(scenario), probes=probes) as simulation:
        simulation.begin(observers=[log])
        simulation.fly()
    taken = (probe.take() for probe in probes)
    return Feelings(mounts, log.flown().x, dict(zip(SAMPLINGS, taken, strict=True)))


def _probe(mounts, sampling):
    return InertialProbe(mounts, physics_hz=1000.0, every=5, sampling=sampling, gravity=GRAVITY)


def reckon(flight: Feelings, sampling: str, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Errors (M,) of position [m] and attitude [rad] after integrating 10 s from control instant k."""
    start, samples = flight.units(k), flight.samples[sampling]
    is_mean = sampling == "integrating"
    first = int(np.flatnonzero(samples.ticks == 5 * (k + is_mean))[0])
    chosen = slice(first, first + STEPS + (not is_mean))
    adding_up = means if is_mean else instants
    p, q, _ = adding_up(start, samples.w_WS_S[chosen], samples.f_S[chosen], dt=DT, gravity=GRAVITY)
    p_end, q_end, _ = flight.units(k + STEPS)
    turn = so3.quaternion_log(so3.multiply(so3.conjugate(q_end), q))
    return np.linalg.norm(p - p_end, axis=1), np.linalg.norm(turn, axis=1)


def worst_errors(flight: Feelings, sampling: str) -> tuple[float, float]:
    """The worst position [m] and angle [rad] of all units over windows of 10 s."""
    errors = [reckon(flight, sampling, k) for k in (0, 600, 1150)]
    return max(p.max() for p, _ in errors), max(a.max() for _, a in errors)

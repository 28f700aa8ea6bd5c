# SPDX-License-Identifier: BSD-3-Clause
"""A rod's tip against something stiff, added to the closed-form engine: what wrench control is tried on."""

from dataclasses import dataclass, field, replace

import numpy as np
from flying import DT, GRAVITY, STEPPED, gains_of, hover_rpm, model_of, plant_of
from numpy.typing import NDArray

from iap_control.controllers.controller import PlatformController
from iap_description.math import so3
from iap_description.math.random_streams import stream
from iap_description.signals import ForceMode, ForceTask, Reference
from iap_description.states import resting_state
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_estimation.wrench.momentum_observer import MomentumObserver
from iap_physics.engines.joints import joined_rows
from iap_physics.measured.state_noise import NO_NOISE, NoisyState
from iap_physics.measured.wrench_sensor import SecondOrderLowPass

Array = NDArray[np.float64]
TIP_P = np.array([-1.0, 0.0, 0.0])


@dataclass
class Wall:
    """A flat wall with friction, its face at x = `x`, that may vanish."""

    x: float = -1.0
    stiffness: float = 2e4
    damping: float = 200.0
    friction: float = 0.4
    is_there: bool = True

    def force(self, tip: Array, v: Array) -> Array:
        """On the tip at `tip` that moves at `v`, world axes [N]."""
        depth = self.x - tip[0]
        if depth <= 0.0 or not self.is_there:
            return np.zeros(3)
        normal = max(0.0, self.stiffness * depth - self.damping * v[0])
        sliding = np.array([0.0, v[1], v[2]])
        speed = max(float(np.linalg.norm(sliding)), 1e-3)
        return np.array([normal, 0.0, 0.0]) - self.friction * normal / speed * sliding


@dataclass
class Socket:
    """A blind hole that opens towards +x: the tip's centre may move by `play` about `center`, and out."""

    center: Array = field(default_factory=lambda: TIP_P.copy())
    play: float = 3.7e-3
    stiffness: float = 2e4
    damping: float = 200.0
    friction: float = 0.4
    is_there: bool = True

    def force(self, tip: Array, v: Array) -> Array:
        """On the tip at `tip` that moves at `v`, world axes [N]."""
        d = tip - self.center
        d[0] = min(d[0], 0.0)
        length = float(np.linalg.norm(d))
        if length <= self.play or not self.is_there or tip[0] - self.center[0] > 0.03:
            return np.zeros(3)
        out = d / length
        normal = max(0.0, self.stiffness * (length - self.play) + self.damping * (v @ out))
        sliding = v - (v @ out) * out
        speed = max(float(np.linalg.norm(sliding)), 1e-3)
        return -normal * (out + self.friction / speed * sliding)


@dataclass
class Pushed:
    """History of a flight in contact, one row per control step.

    Attributes:
        t: (T,) [s].
        x: (T, 13) of the central body.
        force: (T, 6) true wrench about P's origin in P, behind the paper's filter.
        raw: (T, 6) the same as it acts, mean of each step.
        pose_error: (T, 6) position in world axes [m], rotation vector [rad].
        U: (T, 6) commanded active wrench.
        shares: (T, 2, 6) of the integrals.
    """

    t: Array
    x: Array
    force: Array
    raw: Array
    pose_error: Array
    U: Array
    shares: Array

    def between(self, first: float, last: float) -> slice:
        """The rows of a time span [s]."""
        return slice(round(first / DT), round(last / DT))


class Rig:
    """A platform with a rod on real rotors and autopilots, before an obstacle.

    Args:
        obstacle: what the tip meets.
        source: the wrench that the controller sees: filtered, raw or estimated.
        preset: gains.
        start: position of P's origin at rest at t = 0 [m].
        noise: of the state that controller and observer see.
    """

    def __init__(
        self,
        obstacle,
        *,
        platform="three_star",
        source="filtered",
        gains=None,
        start=(0.0,) * 3,
        noise=NO_NOISE,
    ):
        self.gains = gains or gains_of()
        self.obstacle, self.source = obstacle, source
        record = load_platform(platform)
        assembly = Assembly.of(record)
        model = replace(model_of(platform, com_coupling=self.gains.com_coupling), tip_P=TIP_P)
        self.controller = PlatformController(model, self.gains, dt=DT)
        self.plant = plant_of(platform, self.gains, **STEPPED)
        x = joined_rows(assembly, resting_state(np.array(start), np.array([0.0, 0.0, 0.0, 1.0])))
        rpm = np.full((record.count, 4), hover_rpm(record))
        self.plant.reset(x[None], [rpm], stream(1, "gusts"))
        self.observer = MomentumObserver(
            assembly,
            record.fleet,
            self.gains.autopilot,
            gravity=GRAVITY,
            gain=np.full(6, 10.0),
            dt=DT,
        )
        self.low_pass = SecondOrderLowPass(10.0, 1.414, DT)
        self._apply, self.plant.engine.apply = self.plant.engine.apply, self._with_contact
        self._sum, self.raw_W = np.zeros(6), np.zeros(6)
        self.extra_W = np.zeros(6)
        self.command = None
        self.sense = NoisyState(noise, stream(1, "iap/state_noise"), 0.005)

    def _with_contact(self, wrenches):
        row = self.plant.state()[0, 0]
        arm = so3.rotate(row[3:7], TIP_P)
        f = self.obstacle.force(row[:3] + arm, row[7:10] + np.cross(row[10:13], arm))
        contact = np.concatenate([f, np.cross(arm, f)])
        self._sum += contact
        wrenches[0, 0] += contact + self.extra_W
        self._apply(wrenches)

    def measure(self, x):
        """The wrench (6,) in P that the controller sees, and the filtered true one."""
        to_P = so3.conjugate(x[0, 3:7])
        filtered = so3.rotate(to_P, self.low_pass(self.raw_W).reshape(2, 3)).ravel()
        raw = so3.rotate(to_P, self.raw_W.reshape(2, 3)).ravel()
        estimated = np.zeros(6) if self.command is None else self.observer(x, self.command)
        seen = {"filtered": filtered, "raw": raw, "estimated": estimated}[self.source]
        return seen, filtered, raw

    def fly(self, duration, reference, task):
        """Fly for a time [s]; `reference(t)` gives a row, `task(t, task)` fills in the force task."""
        rows = []
        asked = ForceTask(ForceMode.NONE, np.zeros(6), np.zeros(6), np.zeros(6, dtype=bool))
        for k in range(round(duration / DT)):
            truth = self.plant.state()[0].copy()
            x = truth.copy()
            x[0] = self.sense(truth[0])
            seen, filtered, raw = self.measure(x)
            asked.measured_P[:] = seen
            task(k * DT, asked)
            row = reference(k * DT)
            self.command = self.controller(x[0], Reference(row), seen, asked)
            turn = so3.quaternion_log(so3.multiply(so3.conjugate(row[3:7]), truth[0, 3:7]))
            error = np.concatenate([truth[0, :3] - row[:3], turn])
            shares = np.stack([asked.pose_integral_P, asked.wrench_integral_P])
            U = self.command.wrench_P.copy()
            rows.append((k * DT, truth[0], filtered, raw, error, U, shares))
            self.plant.command(0, self.command)
            self._sum[:] = 0.0
            self.plant.advance()
            self.raw_W[:] = self._sum / self.plant.substeps
        return Pushed(*(np.array(column) for column in zip(*rows, strict=True)))


def at(position, count=3):
    """A reference row at rest at a position [m]."""
    row = np.zeros(19 + count)
    row[:3], row[6] = position, 1.0
    return row

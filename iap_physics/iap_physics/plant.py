# SPDX-License-Identifier: BSD-3-Clause
"""The plant: an engine, and what turns commands into wrenches on its bodies, each at its own rate."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iap_control.allocator import Allocator
from iap_control.model import PlatformModel
from iap_description.errors import FlightFailed
from iap_description.kernels import yaw_of
from iap_description.states import STATE_SIZE, Command, Mode, Q
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.autopilot_gains import AutopilotGains
from iap_physics.autopilot import Autopilot, autopilot_step
from iap_physics.disturbance import Disturbance, add_disturbances
from iap_physics.drag import DragParameters, add_drag
from iap_physics.engines.engine import (
    DIVERGED,
    INVALID_COMMAND,
    RUNNING,
    Engine,
    Integers,
    world_indices,
)
from iap_physics.rotors import RotorParameters, step_rotors
from iap_physics.wind import Generators, GustParameters, Wind, first_gust, generators, step_gust

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Airframe:
    """One vehicle as the plant needs it.

    Attributes:
        assembly: what really flies (its masses may differ from the model's).
        model: the controller's model, which allocates commands given as a platform wrench.
        autopilot: gains of the aircraft's autopilots.
        rate_filter: of the attitude command, for commands given as a platform wrench [s].
    """

    assembly: Assembly
    model: PlatformModel
    autopilot: AutopilotGains
    rate_filter: float


class Probe(Protocol):
    """What looks at the bodies after every physics step."""

    def reset(self, x: Array) -> None:
        """The plant starts anew from state rows (bodies, 13)."""

    def step(self, x: Array) -> None:
        """Take the state rows (bodies, 13) at the end of a physics step."""


class Plant:
    """Vehicles in one world, or a batch of equal worlds, under commands that are held between control steps.

    World i of a batch is the single world with its start, commands and gust generator, bit for bit. A
    world that diverges ends alone, see `status`.

    Args:
        engine: loaded with the airframes' assemblies.
        airframes: the vehicles, in the engine's order.
        physics_hz: rate of engine and rotors.
        control_hz: rate at which `advance` is called.
        wind: mean wind and gusts.
        has_drag: whether bodies feel the air.
        gust_rng: the gusts' own generator, or one for each world.
        batch: number of equal worlds B.
        feeling: the vehicles whose contact wrench is measured, in a world that is no batch.
        disturbances: what disturbs each vehicle.
        probes: see every physics step of a world that is no batch; the caller reads them.
    """

    def __init__(
        self,
        engine: Engine,
        airframes: Sequence[Airframe],
        *,
        physics_hz: float,
        control_hz: float,
        wind: Wind,
        has_drag: bool,
        gust_rng: Generators,
        batch: int = 1,
        feeling: Sequence[int] = (),
        disturbances: Sequence[Sequence[Disturbance]] = (),
        probes: Sequence[Probe] = (),
    ) -> None:
        self.engine = engine
        self.dt = 1.0 / physics_hz
        self.substeps = round(physics_hz / control_hz)
        self.drives = []
        first = 0
        for airframe in airframes:
            rows = slice(first, first + len(airframe.assembly.bodies))
            self.drives.append(
                Propulsion(airframe, rows, batch, physics_hz=physics_hz, control_hz=control_hz)
            )
            first = rows.stop
        self._wrenches = np.zeros((batch, first, 6))
        self._drag = DragParameters.of([airframe.assembly for airframe in airframes])
        self._has_drag = has_drag
        self._wind, self._gusts = wind, GustParameters.of(wind)
        self._gust_rngs = generators(gust_rng, batch)
        self._air_W = np.repeat(wind.mean_W[None], batch, axis=0)
        self._gust_state = first_gust(self._gust_rngs)
        self._bases = [drive.rows.start for drive in self.drives]
        self._feeling = tuple(feeling)
        self._disturbances = tuple(disturbances)
        self._probes = tuple(probes)
        self._external_W = np.zeros((batch, len(airframes), 6))
        self._contact_W = np.zeros((len(airframes), 6))
        self.ticks = np.zeros(batch, dtype=np.int64)

    @property
    def t(self) -> float:
        """Simulation time [s], of a batch that of its first world."""
        return int(self.ticks[0]) * self.dt

    @property
    def times(self) -> Array:
        """(B,) simulation time of every world since its own reset [s]."""
        return np.multiply(self.ticks, self.dt, dtype=np.float64)

    @property
    def status(self) -> Integers:
        """(B,) status of every world: `RUNNING`, or why it stands still, see `engines.engine`."""
        return self.engine.status

    def reset(
        self,
        x: Array,
        rpm: Sequence[Array],
        gust_rng: Generators,
        worlds: ArrayLike | None = None,
    ) -> None:
        """Start worlds anew.

        Args:
            x: (worlds, bodies, 13) their states.
            rpm: rotor speeds (N, 4), or (worlds, N, 4), of each vehicle.
            gust_rng: the gusts' own generator, or one for each of these worlds.
            worlds: their indices, or a mask (B,); None for all of them.

        Raises:
            BadInput: the states do not fit, or there is no such world.
        """
        chosen = world_indices(worlds, len(self.ticks))
        self.engine.reset(x, worlds)
        if not len(chosen):
            return
        rngs = generators(gust_rng, len(chosen))
        self._gust_state[chosen] = first_gust(rngs)
        for world, rng in zip(chosen.tolist(), rngs, strict=True):
            self._gust_rngs[world] = rng
        for drive, speeds in zip(self.drives, rpm, strict=True):
            drive.reset(speeds, chosen)
        for probe in self._probes:
            probe.reset(self.engine.state()[0])
        self._contact_W[:] = 0.0
        self.ticks[chosen] = 0

    def contact_wrench(self, vehicle: int = 0) -> Array:
        """(6,) mean contact wrench on a vehicle's central body over the last control period, world axes.

        Force [N] and torque about its CoM [N m]; zero for a vehicle that is not among the feeling.
        """
        return self._contact_W[vehicle]

    def state(self, vehicle: int = 0) -> Array:
        """(B, bodies, 13) of one vehicle, a view that the next step overwrites."""
        return self.engine.state()[:, self.drives[vehicle].rows]

    def command(self, vehicle: int, command: Command) -> None:
        """Take a command that counts until the next one.

        A world of a batch whose command holds NaN or infinity gets the status ``INVALID_COMMAND``.

        Args:
            vehicle: its number.
            command: for all worlds, or with a batch axis for each of them.

        Raises:
            FlightFailed: the command of the only world holds NaN or infinity.
            BadInput: an array of the command has the wrong shape.
        """
        drive = self.drives[vehicle]
        command.check(drive.thrust.shape[1], len(self.ticks))
        if command.is_finite:
            drive.take(command, self.state(vehicle))
            return
        if len(self.ticks) == 1:
            raise FlightFailed("invalid_command", self.t, "the controller's command is not finite")
        is_finite = command.finite_worlds(len(self.ticks))
        drive.take(command, self.state(vehicle), is_finite)
        self.status[~is_finite & (self.status == RUNNING)] = INVALID_COMMAND

    def believe(self, vehicle: int, x: Array | None) -> None:
        """Let a vehicle's autopilots go by rows (bodies, 13) until the next ones; None for the truth.

        With a batch axis, (B, bodies, 13), every world has rows of its own.

        The rows stand still between control steps, as estimates at the rate of inertial units do.
        """
        self.drives[vehicle].believe(x)

    def advance(self) -> None:
        """One control period: autopilots, rotors, air and engine at their own rates.

        Raises:
            FlightFailed: the state of the only world is no longer a number.
        """
        if self._wind.turbulence > 0.0:
            self._gust_state, gust_W = step_gust(
                self._gust_state, self._gusts, self.substeps * self.dt, self._gust_rngs
            )
            np.add(self._wind.mean_W, gust_W, out=self._air_W)
        self._contact_W[:] = 0.0
        is_disturbed = self._disturb()
        is_running = self.status == RUNNING
        for _ in range(self.substeps):
            x = self.engine.state()
            self._wrenches[:] = 0.0
            for drive in self.drives:
                drive.actuate(x, self._wrenches, self.ticks, self.dt)
            if is_disturbed:
                self._wrenches[:, self._bases] += self._external_W
            if self._has_drag:
                add_drag(x, self._air_W, self._wrenches, self._drag)
            self.engine.apply(self._wrenches)
            self.engine.step(self.dt)
            for probe in self._probes:
                probe.step(self.engine.state()[0])
            for i in self._feeling:
                self._contact_W[i] += self.engine.contact_wrench(self.drives[i].rows.start)
            self.ticks += is_running
        self._contact_W /= self.substeps
        self._check_finite()

    def _disturb(self) -> bool:
        """Collect the disturbances of every world at its time, and return whether there are any."""
        if not any(self._disturbances):
            return False
        self._external_W[:] = 0.0
        for wrenches, t in zip(self._external_W, self.times.tolist(), strict=True):
            for wrench, disturbances in zip(wrenches, self._disturbances, strict=False):
                add_disturbances(disturbances, t, wrench)
        return bool(self._external_W.any())

    def _check_finite(self) -> None:
        if math.isfinite(self.engine.state().sum()):
            return
        if len(self.ticks) == 1:
            raise FlightFailed("diverged", self.t, "the state is no longer a number")
        is_finite = np.isfinite(self.engine.state()).all(axis=(1, 2))
        self.status[~is_finite & (self.status == RUNNING)] = DIVERGED


class Propulsion:
    """One vehicle's autopilots and rotors between a command and the wrenches on its bodies.

    Args:
        airframe: the vehicle.
        rows: its state rows.
        batch: number of equal worlds.
        physics_hz: rate of the rotors.
        control_hz: rate of commands.
    """

    def __init__(
        self, airframe: Airframe, rows: slice, batch: int, *, physics_hz: float, control_hz: float
    ) -> None:
        count = airframe.model.count
        self.rows = rows
        self.model = airframe.model
        bodies = [rows.start + body for body in airframe.assembly.aircraft]
        self._bodies = np.array(bodies, dtype=np.int64)
        self._rotors = RotorParameters.of(airframe.model.aircraft, bodies)
        self._pilot = Autopilot.of(airframe.model.aircraft, airframe.autopilot)
        rate = airframe.autopilot.rate_hz or physics_hz
        self._every = round(physics_hz / rate)
        self._allocators = [
            Allocator(airframe.model, rate_filter=airframe.rate_filter, dt=1.0 / control_hz)
            for _ in range(batch)
        ]
        self.modes = np.full(batch, int(Mode.RPM), dtype=np.int64)
        self.thrust = np.zeros((batch, count))
        self.q_WB = np.zeros((batch, count, 4))
        self.w_WB_B = np.zeros((batch, count, 3))
        self.rpm_command = np.zeros((batch, count, 4))
        self._rpm_target = np.zeros((batch, count, 4))
        self.rpm = np.zeros((batch, count, 4))
        self._estimates = np.zeros((batch, rows.stop, STATE_SIZE))
        self._uses_estimate = np.zeros(batch, bool)  # instead of the true state
        self._estimated_worlds = 0
        self._is_due = np.ones(batch, bool)

    def reset(self, rpm: Array, worlds: Integers) -> None:
        """Rotors at the given speeds (N, 4) or (worlds, N, 4), held there until a command comes."""
        self.rpm[worlds] = self.rpm_command[worlds] = rpm
        self.modes[worlds], self._uses_estimate[worlds] = Mode.RPM, False
        self._estimated_worlds = int(np.count_nonzero(self._uses_estimate))
        for world in worlds.tolist():
            self._allocators[world].reset()

    def take(self, command: Command, x: Array, is_finite: NDArray[np.bool_] | None = None) -> None:
        """Take a command; a platform wrench is allocated at the state `x` (B, bodies, 13).

        Args:
            command: for all worlds, or with a batch axis.
            x: the vehicle's present state rows.
            is_finite: (B,) worlds that take it; None for all.
        """
        if command.mode != Mode.WRENCH:
            self._hold(command, is_finite)
            return
        worlds = np.ones(len(x), bool) if is_finite is None else is_finite
        wrenches_P = np.broadcast_to(command.wrench_P, (len(x), 6))
        for world in np.flatnonzero(worlds).tolist():
            q_WP = x[world, 0, Q]
            headings = self.model.mount_yaw + yaw_of(q_WP)
            allocated = self._allocators[world](wrenches_P[world], q_WP, headings)
            self._hold(allocated, np.arange(len(x)) == world)

    def _hold(self, command: Command, worlds: NDArray[np.bool_] | None) -> None:
        where: Any = True if worlds is None else worlds
        rows = where if worlds is None else worlds[:, None]
        np.copyto(self.modes, command.mode, where=where)
        np.copyto(self.thrust, command.thrust, where=rows)
        for held, given in (
            (self.q_WB, command.q_WB),
            (self.w_WB_B, command.w_WB_B),
            (self.rpm_command, command.rpm),
        ):
            np.copyto(held, given, where=rows if worlds is None else rows[..., None])

    def believe(self, x: Array | None) -> None:
        """Go by rows (bodies, 13) or (B, bodies, 13) of this vehicle, or by the truth."""
        self._uses_estimate[:] = x is not None
        self._estimated_worlds = 0 if x is None else len(self._uses_estimate)
        if x is not None:
            self._estimates[:, self.rows] = x

    def actuate(self, x: Array, wrenches: Array, ticks: Integers, dt: float) -> None:
        """Add this vehicle's rotor wrenches for one physics step, the `ticks`-th (B,) of every world."""
        if self._every > 1:
            self._is_due = ticks % self._every == 0
        if self._every == 1 or self._is_due.any():
            autopilot_step(
                self._known_rows(x),
                self._bodies,
                self._is_due,
                self.modes,
                self.thrust,
                self.q_WB,
                self.w_WB_B,
                self.rpm_command,
                self.rpm,
                self._pilot,
                self._rpm_target,
            )
        step_rotors(self.rpm, self._rpm_target, x, wrenches, self._rotors, dt)

    def _known_rows(self, x: Array) -> Array:
        """Rows that the autopilots go by: estimates where there are some, else the truth."""
        if self._estimated_worlds == 0:
            return x
        if self._estimated_worlds == len(self._estimates):
            return self._estimates
        which = self._uses_estimate[:, None, None]
        return np.where(which, self._estimates, x[:, : self.rows.stop])

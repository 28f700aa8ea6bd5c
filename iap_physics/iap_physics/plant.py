# SPDX-License-Identifier: BSD-3-Clause
"""The plant: an engine, and what turns commands into wrenches on its bodies, each at its own rate."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

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
from iap_physics.engines.engine import Engine
from iap_physics.rotors import RotorParameters, step_rotors
from iap_physics.wind import GustParameters, Wind, first_gust, step_gust

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

    Args:
        engine: loaded with the airframes' assemblies.
        airframes: the vehicles, in the engine's order.
        physics_hz: rate of engine and rotors.
        control_hz: rate at which `advance` is called.
        wind: mean wind and gusts.
        has_drag: whether bodies feel the air.
        gust_rng: the gusts' own generator.
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
        gust_rng: np.random.Generator,
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
        self._gust_rng = gust_rng
        self._air_W = np.repeat(wind.mean_W[None], batch, axis=0)
        self._gust_state = first_gust(gust_rng, batch=batch)
        self._bases = [drive.rows.start for drive in self.drives]
        self._feeling = tuple(feeling)
        self._disturbances = tuple(disturbances)
        self._probes = tuple(probes)
        self._external_W = np.zeros((len(airframes), 6))
        self._contact_W = np.zeros((len(airframes), 6))
        self.tick = 0

    @property
    def t(self) -> float:
        """Simulation time [s]."""
        return self.tick * self.dt

    def reset(self, x: Array, rpm: Sequence[Array], gust_rng: np.random.Generator) -> None:
        """Start anew from states (B, bodies, 13) and rotor speeds (N, 4) of each vehicle."""
        self.engine.reset(x)
        self._gust_rng = gust_rng
        self._gust_state = first_gust(gust_rng, batch=len(x))
        for drive, speeds in zip(self.drives, rpm, strict=True):
            drive.reset(speeds)
        for probe in self._probes:
            probe.reset(self.engine.state()[0])
        self._contact_W[:] = 0.0
        self.tick = 0

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

        Raises:
            FlightFailed: the command holds NaN or infinity.
        """
        if not command.is_finite:
            raise FlightFailed("invalid_command", self.t, "the controller's command is not finite")
        self.drives[vehicle].take(command, self.state(vehicle))

    def believe(self, vehicle: int, x: Array | None) -> None:
        """Let a vehicle's autopilots go by rows (bodies, 13) until the next ones; None for the truth.

        The rows stand still between control steps, as estimates at the rate of inertial units do.
        """
        self.drives[vehicle].believe(x)

    def advance(self) -> None:
        """One control period: autopilots, rotors, air and engine at their own rates.

        Raises:
            FlightFailed: the state is no longer a number.
        """
        if self._wind.turbulence > 0.0:
            self._gust_state, gust_W = step_gust(
                self._gust_state, self._gusts, self.substeps * self.dt, self._gust_rng
            )
            np.add(self._wind.mean_W, gust_W, out=self._air_W)
        self._contact_W[:] = self._external_W[:] = 0.0
        for wrench, disturbances in zip(self._external_W, self._disturbances, strict=False):
            add_disturbances(disturbances, self.t, wrench)
        is_disturbed = bool(self._external_W.any())
        for _ in range(self.substeps):
            x = self.engine.state()
            self._wrenches[:] = 0.0
            for drive in self.drives:
                drive.actuate(x, self._wrenches, self.tick, self.dt)
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
            self.tick += 1
        self._contact_W /= self.substeps
        if not math.isfinite(self.engine.state().sum()):
            raise FlightFailed("diverged", self.t, "the state is no longer a number")


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
        self.mode = Mode.RPM
        self.thrust = np.zeros((batch, count))
        self.q_WB = np.zeros((batch, count, 4))
        self.w_WB_B = np.zeros((batch, count, 3))
        self.rpm_command = np.zeros((batch, count, 4))
        self._rpm_target = np.zeros((batch, count, 4))
        self.rpm = np.zeros((batch, count, 4))
        self._seen = np.zeros((batch, rows.stop, STATE_SIZE))
        self._is_told = False  # what to go by

    def reset(self, rpm: Array) -> None:
        """Rotors at the given speeds (N, 4), held there until a command comes."""
        self.rpm[:] = self.rpm_command[:] = rpm
        self.mode, self._is_told = Mode.RPM, False
        for allocator in self._allocators:
            allocator.reset()

    def take(self, command: Command, x: Array) -> None:
        """Take a command for every world; a platform wrench is allocated at the state `x` (B, bodies, 13)."""
        if command.mode != Mode.WRENCH:
            self._hold(slice(None), command)
            return
        for world, allocator in enumerate(self._allocators):
            q_WP = x[world, 0, Q]
            headings = self.model.mount_yaw + yaw_of(q_WP)
            self._hold(slice(world, world + 1), allocator(command.wrench_P, q_WP, headings))

    def _hold(self, worlds: slice, command: Command) -> None:
        self.mode = command.mode
        self.thrust[worlds] = command.thrust
        self.q_WB[worlds] = command.q_WB
        self.w_WB_B[worlds] = command.w_WB_B
        self.rpm_command[worlds] = command.rpm

    def believe(self, x: Array | None) -> None:
        """Go by rows (bodies, 13) of this vehicle, or by the truth."""
        self._is_told = x is not None
        if x is not None:
            self._seen[:, self.rows] = x

    def actuate(self, x: Array, wrenches: Array, tick: int, dt: float) -> None:
        """Add this vehicle's rotor wrenches for one physics step."""
        if tick % self._every == 0:
            autopilot_step(
                self._seen if self._is_told else x,
                self._bodies,
                int(self.mode),
                self.thrust,
                self.q_WB,
                self.w_WB_B,
                self.rpm_command,
                self.rpm,
                self._pilot,
                self._rpm_target,
            )
        step_rotors(self.rpm, self._rpm_target, x, wrenches, self._rotors, dt)

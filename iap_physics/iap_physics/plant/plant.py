# SPDX-License-Identifier: BSD-3-Clause
"""The plant: an engine, and what turns commands into wrenches on its bodies, each at its own rate."""

from collections.abc import Sequence
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Array, Booleans, Integers
from iap_description.errors import BadInput, FlightFailed
from iap_description.math.kernels import all_finite
from iap_description.math.lanes import DOUBLE, Precision
from iap_description.states import Command, Mode, P
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.faults import PlantFault
from iap_description.vehicles.gripper import Load
from iap_physics.air.batch_air import GUSTS, Air
from iap_physics.air.drag import add_drag, drag_coefficients
from iap_physics.air.wind import Generators, Wind, generators
from iap_physics.arm.gripper import Gripper
from iap_physics.arm.servo_steps import check_servos
from iap_physics.batch.flight_state import FreeFlightState, PeriodInputs
from iap_physics.batch.free_flight import FreeFlight
from iap_physics.batch.threads import Threads
from iap_physics.engines.arm_motors import ArmMotors
from iap_physics.engines.closed_form import ClosedFormEngine
from iap_physics.engines.engine import INVALID_COMMAND, RUNNING, Engine, world_indices
from iap_physics.latching.latches import Latches
from iap_physics.modules.proximity import NearModules
from iap_physics.plant.clearance import check_clearance
from iap_physics.plant.native_flight import NativeFlight
from iap_physics.plant.plant_faults import PlantFaults
from iap_physics.plant.plant_spec import Disturbance, PlantSpec, add_disturbances
from iap_physics.propulsion.deviation import Deviation
from iap_physics.propulsion.propulsion import Airframe, Propulsion

NO_WRENCH_HERE = "command: a platform wrench is for its controller: publish on command/wrench"


class Probe(Protocol):
    """Sees the bodies of all worlds after every physics step."""

    def reset(self, x: Array, worlds: ArrayLike | None = None) -> None:
        """Some worlds start anew, all of them if none are named; (B, bodies, 13) are the state rows of all."""

    def step(self, x: Array) -> None:
        """Take the state rows (B, bodies, 13) at the end of a physics step."""


def base_rows(assemblies: Sequence[Assembly]) -> list[int]:
    """State rows of the vehicles' central bodies."""
    sizes = [len(assembly.bodies) for assembly in assemblies]
    return [sum(sizes[:k]) for k in range(len(sizes))]


def latches_of(spec: PlantSpec, engine: Engine, assemblies: Sequence[Assembly]) -> Latches:
    """The latches of a specification, in an engine that is loaded with its vehicles."""
    ports = [vehicle.platform.ports for vehicle in spec.vehicles]
    return Latches(engine, spec.latches, assemblies, ports)


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
        raises: whether the end of the only world is an exception, and not a status as in a batch.
        threads: that share the worlds where a whole period is computed at once; None takes the caller's.
        precision: of the numbers there.
        measured: the vehicles whose contact wrench is measured, in a world that is no batch.
        disturbances: what disturbs each vehicle.
        faults: of each vehicle, in a world that is no batch.
        probes: see every physics step; the caller reads them.
        latches: of docking ports, in a world that is no batch.
        near: forces between modules that fly close to each other.
        gripper: of an arm, in a world that is no batch.

    Attributes:
        air: that blows in all worlds.
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
        raises: bool = True,
        threads: Threads | None = None,
        precision: Precision = DOUBLE,
        measured: Sequence[int] = (),
        disturbances: Sequence[Sequence[Disturbance]] = (),
        faults: Sequence[Sequence[PlantFault]] = (),
        probes: Sequence[Probe] = (),
        latches: Latches | None = None,
        near: NearModules | None = None,
        gripper: Gripper | None = None,
    ) -> None:
        self.latches, self._near, self.gripper = latches, near, gripper
        self.engine, self._raises = engine, raises and batch == 1
        self.dt = 1.0 / physics_hz
        self.substeps = round(physics_hz / control_hz)
        self.propulsion = []
        first = 0
        for airframe in airframes:
            rows = slice(first, first + len(airframe.assembly.bodies))
            self.propulsion.append(Propulsion(airframe, rows, batch, physics_hz=physics_hz))
            first = rows.stop
        self._wrenches = np.zeros((batch, first, 6))
        self._drag = drag_coefficients([airframe.assembly for airframe in airframes])
        self._has_drag = has_drag
        self.air = Air(wind, generators(gust_rng, batch))
        self._bases = [each.rows.start for each in self.propulsion]
        self._measured = tuple(measured)
        self._disturbances = tuple(disturbances)
        pairs = enumerate(zip(faults, self.propulsion, strict=False))
        self._faults = {i: PlantFaults(own, p, control_hz) for i, (own, p) in pairs if own}
        self._probes = tuple(probes)
        self._control_hz = control_hz
        self._unknown_W = np.zeros((batch, len(airframes), 6))  # wrenches that always act
        for vehicle, airframe in enumerate(airframes):
            self._set_deviation(slice(None), vehicle, airframe.deviation)
        self._external_W = self._unknown_W.copy()
        self._contact_W = np.zeros((len(airframes), 6))
        self.ticks = np.zeros(batch, dtype=np.int64)
        self._free_flight: FreeFlight | None = None
        self._native_flight: NativeFlight | None = None
        if not measured:  # nobody asks what the steps' contacts were
            air = self._drag if has_drag else None
            flown = (engine, self.propulsion, air, self.dt)
            self._free_flight = FreeFlight.of(*flown, threads or Threads(), precision)
            if self._free_flight is None and latches is None:
                self._native_flight = NativeFlight.of(*flown)
        if self._free_flight is None and precision != DOUBLE:
            raise BadInput(
                f"precision '{precision}' needs the closed form, without friction or stops"
            )

    def deviate(self, world: int, airframe: Airframe, wind: Wind) -> None:
        """Let one world of a batch hold a vehicle and a wind of its own, from its next reset on.

        Args:
            world: its number.
            airframe: like the one that all worlds hold, but for its numbers.
            wind: with gusts or without like that of all worlds.

        Raises:
            BadInput: the engine steps equal worlds only.
        """
        if self._free_flight is None or not isinstance(self.engine, ClosedFormEngine):
            raise BadInput(
                "worlds with vehicles of their own need the closed form, without friction or stops"
            )
        self._set_deviation(world, 0, airframe.deviation)
        self._external_W[world] = self._unknown_W[world]
        model = self.engine.set_assembly(world, airframe.assembly)
        drag = drag_coefficients([airframe.assembly]) if self._has_drag else None
        self._free_flight.set_vehicle(world, model, airframe.rotor_numbers, drag)
        self.air.set_wind(world, wind)

    def _set_deviation(self, worlds: int | slice, vehicle: int, deviation: Deviation) -> None:
        """Take over what of a deviation is neither in the vehicle's assembly nor in its rotors."""
        self._unknown_W[worlds, vehicle] = (*deviation.force, *deviation.torque)
        self.propulsion[vehicle].set_delay(worlds, round(deviation.delay * self._control_hz))

    @classmethod
    def of(
        cls,
        spec: PlantSpec,
        engine: Engine,
        probes: Sequence[Probe] = (),
        *,
        batch: int = 1,
        raises: bool = True,
        threads: Threads | None = None,
        precision: Precision = DOUBLE,
    ) -> Self:
        """The plant of a specification at its start, the same in all worlds of an engine that is loaded here.

        Raises:
            BadInput: a vehicle starts inside an object of the world or folded into itself, or the servos of an arm are
                unstable at this time step.
        """
        assemblies = [vehicle.assembly for vehicle in spec.vehicles]
        engine.load(spec.world, assemblies)
        for i, motors in engine.arms.items():
            check_servos(assemblies[i].name, motors.arm, 1.0 / spec.rates.physics_hz)
        plant = cls(
            engine,
            [
                vehicle.airframe(assembly)
                for assembly, vehicle in zip(assemblies, spec.vehicles, strict=True)
            ],
            physics_hz=spec.rates.physics_hz,
            control_hz=spec.rates.control_hz,
            wind=spec.wind,
            has_drag=spec.has_drag,
            gust_rng=spec.rng(GUSTS),
            batch=batch,
            raises=raises,
            threads=threads,
            precision=precision,
            measured=[i for i, each in enumerate(spec.vehicles) if each.wrench_filter is not None],
            disturbances=[vehicle.disturbances for vehicle in spec.vehicles],
            faults=[vehicle.faults for vehicle in spec.vehicles],
            probes=probes,
            latches=latches_of(spec, engine, assemblies) if spec.latches else None,
            near=NearModules.of(spec),
            gripper=Gripper.of(spec.gripper, engine, spec.world, base_rows(assemblies)),
        )
        plant.restart(spec)
        check_clearance(engine.contacts(), [each.rows for each in plant.propulsion], spec)
        return plant

    def restart(self, spec: PlantSpec) -> None:
        """Back to the start of a specification with the same world and vehicles."""
        batch = len(self.ticks)
        x, tilts = (
            np.repeat(spec.start, batch, axis=0),
            [each.start_tilt or 0.0 for each in spec.vehicles],
        )
        self.reset(x, spec.start_rpm, spec.rng(GUSTS), tilt=tilts)

    def vehicle_of(self, row: int) -> int:
        """Number of the vehicle that owns a state row."""
        return next(i for i, each in enumerate(self.propulsion) if row < each.rows.stop)

    @property
    def t(self) -> float:
        """Simulation time [s], of a batch that of its first world."""
        return int(self.ticks[0]) * self.dt

    @property
    def _k(self) -> int:
        """Number of the control instant, of a batch that of its first world."""
        return int(self.ticks[0]) // self.substeps

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
        gust_rng: Generators | None,
        worlds: ArrayLike | None = None,
        *,
        tilt: Sequence[ArrayLike] | None = None,
    ) -> None:
        """Start worlds anew.

        Args:
            x: (worlds, bodies, 13) their states.
            rpm: rotor speeds (N, 4), or (worlds, N, 4), of each vehicle.
            gust_rng: the gusts' own generator, or one for each of these worlds; None where there are no gusts.
            worlds: their indices, or a mask (B,); None for all of them.
            tilt: angles of each vehicle's rotors [rad], shaped as `rpm`; None: all upright.

        Raises:
            BadInput: the states do not fit, or there is no such world.
        """
        chosen = world_indices(worlds, len(self.ticks))
        self.engine.reset(x, worlds)
        if not len(chosen):
            return
        if gust_rng is not None:
            self.air.reset(chosen, generators(gust_rng, len(chosen)))
        angles: Sequence[ArrayLike] = [0.0] * len(self.propulsion) if tilt is None else tilt
        for propulsion, speeds, angle in zip(self.propulsion, rpm, angles, strict=True):
            propulsion.reset(speeds, chosen, angle)
        for faults in self._faults.values():
            faults.reset()
        for part in (self.latches, self.gripper):
            if part is not None:
                part.reset()
        for probe in self._probes:
            probe.reset(self.engine.state(), chosen)
        self._contact_W[:] = 0.0
        self.ticks[chosen] = 0

    def contact_wrench(self, vehicle: int = 0) -> Array:
        """(6,) mean contact wrench on a vehicle's central body over the last control period, world axes.

        Force [N] and torque about its CoM [N m]; zero for a vehicle of which it is not measured.
        """
        return self._contact_W[vehicle]

    def state(self, vehicle: int = 0) -> Array:
        """(B, bodies, 13) of one vehicle, a view that the next step overwrites."""
        return self.engine.state()[:, self.propulsion[vehicle].rows]

    def command(
        self,
        vehicle: int,
        command: Command,
        *,
        on_board: bool = False,
        worlds: Booleans | None = None,
    ) -> None:
        """Take a command that counts until the next one.

        A world of a batch whose command holds NaN or infinity gets the status ``INVALID_COMMAND``.

        Args:
            vehicle: its number.
            command: for all worlds, or with a batch axis for each of them.
            on_board: whether it is the aircraft's own, which a fault does not hold up.
            worlds: (B,) those of a batch that it is for, whose aircraft have no faults; None for all.

        Raises:
            FlightFailed: the command of the only world holds NaN or infinity.
            BadInput: an array of the command has the wrong shape, or it is a platform wrench, which a
                controller allocates.
        """
        self.check_command(vehicle, command)
        propulsion = self.propulsion[vehicle]
        if worlds is None and all(map(all_finite, command.arrays)):
            if not self._is_late(vehicle, command, on_board=on_board):
                propulsion.take(command)
                if on_board:
                    propulsion.overtake()
            return
        if self._raises:
            raise FlightFailed("invalid_command", self.t, "the controller's command is not finite")
        is_finite = command.finite_worlds(len(self.ticks))
        addressed = np.ones_like(is_finite) if worlds is None else worlds
        propulsion.take(command, addressed & is_finite)
        ended = addressed & ~is_finite & (self.status == RUNNING)
        self.status[ended] = INVALID_COMMAND

    def check_command(self, vehicle: int, command: Command) -> None:
        """Look whether a vehicle could take a command, as `command` does before.

        Raises:
            BadInput: an array of the command has the wrong shape, or it is a platform wrench.
        """
        if command.mode == Mode.WRENCH:
            raise BadInput(NO_WRENCH_HERE)
        command.check(self.propulsion[vehicle].command.thrust.shape[1], len(self.ticks))

    def _is_late(self, vehicle: int, command: Command, *, on_board: bool) -> bool:
        """Whether a fault keeps a command for later; the aircraft's own overtakes what is kept."""
        faults = self._faults.get(vehicle)
        if faults is None:
            return False
        if on_board:
            faults.reset()
        return not on_board and faults.postpone(self._k, self.t, command)

    def arm(self, vehicle: int) -> ArmMotors | None:
        """Joints and motors of a vehicle's arm; None without one."""
        return self.engine.arms.get(vehicle)

    def known_load(self, vehicle: int) -> Load | None:
        """The load of a vehicle's arm as far as its controller knows of it; None of nothing, and without a gripper."""
        gripper = self.gripper
        return None if gripper is None or gripper.vehicle != vehicle else gripper.known_load

    def command_arm(self, vehicle: int, target: Array) -> None:
        """Let the motors of a vehicle's arm go for coordinates, velocities and torques (3, n) until the next ones.

        What is beyond a joint's travel or speed is clipped and counted, see `ArmMotors.clipped`.

        Raises:
            FlightFailed: a target is no number.
        """
        if not all_finite(target):
            raise FlightFailed("invalid_command", self.t, "the command to the arm is not finite")
        self.engine.arms[vehicle].command(*target)

    def set_estimate(self, vehicle: int, x: Array | None) -> None:
        """Let a vehicle's autopilots go by rows (bodies, 13) until the next ones; None for the truth.

        With a batch axis, (B, bodies, 13), every world has rows of its own.

        The rows stand still between control steps, as estimates at the rate of inertial units do.
        """
        self.propulsion[vehicle].set_estimate(x)

    @property
    def is_steady(self) -> bool:
        """Whether nothing but states and gusts changes from one control period of free flight to the next."""
        if self._free_flight is None or self._probes or self._faults:
            return False
        is_late = any([propulsion.is_delayed for propulsion in self.propulsion])
        return not is_late and not any(self._disturbances) and self._near is None

    @property
    def flown(self) -> FreeFlightState | None:
        """What moves on in free flight that is steady; None where it is not.

        Whoever advances it in a compiled loop lets it `blow`, and says so by `pass_time`.
        """
        if self._free_flight is None or not self.is_steady:
            return None
        return self._free_flight.flown(self._inputs)

    @property
    def _inputs(self) -> PeriodInputs:
        """What acts in the next period: views, which are not to be kept."""
        return PeriodInputs(self.air.now_W, self._external_W[:, 0], self.ticks)

    def blow(self, periods: int) -> Array:
        """Let gusts go on by some control periods.

        Returns:
            The velocity of the air (periods, B, 3) in each of them [m/s]; without gusts (1, B, 3), a view.
        """
        return self.air.blow(periods, self.substeps * self.dt)

    def pass_time(self, periods: int) -> None:
        """Let the clock go on by control periods that a compiled loop has flown on `flown`."""
        if self._free_flight is not None:
            self._free_flight.pass_time(periods * self.substeps)

    def advance(self) -> None:
        """One control period: autopilots, rotors, air and engine at their own rates.

        Raises:
            FlightFailed: the state of the only world would no longer be a number.
        """
        self.blow(1)
        for faults in self._faults.values():
            faults.act(self._k, self.t)
        if self.gripper is not None:
            self.gripper.act(self.t)
        for propulsion in self.propulsion:
            propulsion.arrive()
        self._contact_W[:] = 0.0
        self._disturb()
        flight = self._free_flight or self._native_flight
        if flight is None:
            self._step()
        else:
            self._fly_at_once(flight)

    def _fly_at_once(self, flight: FreeFlight | NativeFlight) -> None:
        """The physics steps of a control period at once, or one after another where probes look."""
        steps = 1 if self._probes else self.substeps
        inputs = self._inputs
        for _ in range(0, self.substeps, steps):
            flight.advance(inputs, steps)
            for probe in self._probes:
                probe.step(self.engine.state())

    def _step(self) -> None:
        """The physics steps of a control period, one after another."""
        is_running, is_disturbed = self.status == RUNNING, bool(self._external_W.any())
        for substep in range(self.substeps):
            x = self.engine.state()
            self._wrenches.fill(0.0)
            for propulsion in self.propulsion:
                propulsion.actuate(x, self._wrenches, self.ticks, substep, self.dt)
            if is_disturbed:
                self._wrenches[:, self._bases] += self._external_W
            if self._has_drag:
                add_drag(x, self.air.now_W, self._wrenches, *self._drag)
            self._step_engine(substep)
            for probe in self._probes:
                probe.step(self.engine.state())
        self._contact_W /= self.substeps
        np.add(self.ticks, self.substeps, out=self.ticks, where=is_running)

    def _step_engine(self, substep: int) -> None:
        """One step of the engine with its latches, and what vehicles feel in it."""
        latches, rows = self.latches, [self.propulsion[i].rows.start for i in self._measured]
        if latches is None:
            self.engine.apply(self._wrenches)
            self.engine.step(self.dt)
        else:
            t = self.t + substep * self.dt
            before = self.engine.state()[0].copy()
            latches.before_step(before, self._wrenches[0], t, self.dt)
            self.engine.apply(self._wrenches)
            self.engine.step(self.dt)
            latches.end_step(before, t + self.dt)
            for i, row in zip(self._measured, rows, strict=True):
                latches.add_reaction(row, before, self._contact_W[i])
        for i, row in zip(self._measured, rows, strict=True):
            self._contact_W[i] += self.engine.contact_wrench(row)

    def _disturb(self) -> None:
        """Collect the disturbances of every world at its time."""
        if not any(self._disturbances) and self._near is None:
            return
        self._external_W[:] = self._unknown_W
        for wrenches, t in zip(self._external_W, self.times.tolist(), strict=True):
            for wrench, disturbances in zip(wrenches, self._disturbances, strict=False):
                add_disturbances(disturbances, t, wrench)
        if self._near is not None:
            self._near.add(self.engine.state()[:, self._bases, P], self._external_W)

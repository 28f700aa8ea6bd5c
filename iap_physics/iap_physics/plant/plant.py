# SPDX-License-Identifier: BSD-3-Clause
"""The plant: an engine, and what turns commands into wrenches on its bodies, each at its own rate."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from iap_description.arrays import Array, Booleans, Integers
from iap_description.errors import BadInput, FlightFailed
from iap_description.math.kernels import all_finite
from iap_description.math.random_streams import stream
from iap_description.states import Command
from iap_description.world.world import World
from iap_physics.air.batch_air import GUSTS, Air
from iap_physics.air.drag import drag_coefficients
from iap_physics.air.wind import Generators, Wind, generators
from iap_physics.batch.free_flight import FreeFlight
from iap_physics.batch.records import FreeFlightState, PeriodInputs
from iap_physics.engines.arm_motors import ArmMotors
from iap_physics.engines.engine import INVALID_COMMAND, RUNNING, Engine, world_indices
from iap_physics.identified.engine import IdentifiedEngine
from iap_physics.plant.command_check import check_mode
from iap_physics.plant.contact_wrenches import BatchContactWrenches, ContactWrenches
from iap_physics.plant.part import PlantPart, overriding
from iap_physics.plant.period_flight import (
    DEFAULT_OPTIONS,
    DeviatingFlight,
    PlantOptions,
    SteppedFlight,
    fastest_flight,
)
from iap_physics.plant.plant_spec import PlantSpec
from iap_physics.plant.rates import LoopRates
from iap_physics.plant.touchdowns import Touchdowns
from iap_physics.propulsion.deviation import Deviation
from iap_physics.propulsion.propulsion import Airframe, Propulsion

Part = TypeVar("Part", bound=PlantPart)
AUTOPILOT_SENSORS = (
    "{}/autopilot_sensors"  # stream of the errors of a vehicle's autopilots' sensors, by its name
)


class Plant:
    """Vehicles in one world, or a batch of equal worlds, under commands that are held between control steps.

    World i of a batch is the single world with its start, commands and gust generator, bit for bit. A
    world that diverges ends alone, see `status`.

    Args:
        engine: loaded with the vehicles' assemblies, with B worlds.
        propulsion: of each vehicle, in the engine's order.
        air: of B worlds.
        rates: of physics and rotors, and at which `advance` is called.
        parts: what else acts or measures; they are called in this order.
        options: how it computes.

    Attributes:
        parts: as given.
        ticks: (B,) physics steps of every world since its own reset.
    """

    def __init__(
        self,
        engine: Engine,
        propulsion: Sequence[Propulsion],
        air: Air,
        rates: LoopRates,
        parts: Sequence[PlantPart] = (),
        options: PlantOptions = DEFAULT_OPTIONS,
    ) -> None:
        self.engine, self.propulsion, self.air = engine, list(propulsion), air
        self.parts, self._rates = tuple(parts), rates
        self._raises = options.raises and engine.batch == 1
        self.dt, self.substeps = 1.0 / rates.physics_hz, rates.substeps
        self.ticks = np.zeros(engine.batch, dtype=np.int64)
        self._bases = [each.rows.start for each in self.propulsion]
        self._deviations_W = np.zeros((engine.batch, len(self.propulsion), 6))  # that always act
        for vehicle, each in enumerate(self.propulsion):
            self._set_deviation(slice(None), vehicle, each.airframe.deviation)
        self._external_W = self._deviations_W.copy()
        self._options = options
        self._assign_parts()

    def _assign_parts(self) -> None:
        """Find what each part does, and the flight that leaves room for it."""
        self._beginning = overriding(self.parts, "begin_period")
        self._loading = overriding(self.parts, "add_wrenches")
        self._postponing = overriding(self.parts, "postpones")
        self._leading = overriding(self.parts, "begin_step")
        self._looking = overriding(self.parts, "after_step")
        drag = None
        if self.air.has_drag:
            drag = drag_coefficients([each.airframe.assembly for each in self.propulsion])
        vehicles = (self.engine, self.propulsion, self._external_W)
        flight = fastest_flight(*vehicles, drag, self.parts, self._options, self.dt)
        self._flight = flight
        self._free_flight = flight if isinstance(flight, FreeFlight) else None
        self._deviating = flight if isinstance(flight, DeviatingFlight) else None
        if isinstance(flight, SteppedFlight):
            self._leading = self._looking = ()  # they act in its steps

    def attach(self, part: PlantPart) -> None:
        """Let a part act from the next control period on, after all others, until the plant is made anew.

        A compiled run that was made before does not know of it.
        """
        self.parts = (*self.parts, part)
        self._assign_parts()

    def blow(self, wind: Wind) -> None:
        """Let a steady wind blow from the next control period on in place of the present one.

        A compiled run that was made before does not know of it.

        Raises:
            BadInput: it has gusts, whose noise a plant without them does not have.
        """
        if wind.turbulence > 0.0 and not self.air.is_gusty:
            raise BadInput("key 'turbulence': gusts begin with a flight, not within it")
        self.air.has_drag = True
        self.air.set_wind(0, wind)
        self._assign_parts()

    def part(self, kind: type[Part]) -> Part | None:
        """The first part of a kind; None where there is none."""
        return next((each for each in self.parts if isinstance(each, kind)), None)

    def deviate(self, world: int, airframes: Sequence[Airframe], wind: Wind, place: World) -> None:
        """Let one world of a batch hold vehicles, a wind and a place of its own, from its next reset on.

        Args:
            world: its number.
            airframes: like those that all worlds hold, but for their numbers.
            wind: with gusts or without like that of all worlds.
            place: what is in the world, like that of all worlds but for its numbers.

        Raises:
            BadInput: the engine steps equal worlds only.
        """
        if self._deviating is None:
            raise BadInput(
                "worlds with vehicles of their own need the closed form, without friction or stops, and autopilots"
                " without rate_loop, or a batch of mujoco's"
            )
        for vehicle, airframe in enumerate(airframes):
            self._set_deviation(world, vehicle, airframe.deviation)
        self._external_W[world] = self._deviations_W[world]
        self._deviating.deviate(world, airframes, place)
        self.air.set_wind(world, wind)

    def _set_deviation(self, worlds: int | slice, vehicle: int, deviation: Deviation) -> None:
        """Take over what of a deviation is neither in the vehicle's assembly nor in its rotors."""
        self._deviations_W[worlds, vehicle] = (*deviation.force, *deviation.torque)
        periods = round(deviation.delay * self._rates.control_hz)
        self.propulsion[vehicle].set_delay(worlds, periods)

    def restart(self, spec: PlantSpec) -> None:
        """Back to the start of a specification with the same world and vehicles."""
        self.engine.reset(np.repeat(spec.start, len(self.ticks), axis=0))
        self.begin(spec)

    def begin(self, spec: PlantSpec) -> None:
        """Start rotors, air and parts as a specification has them, with the engine at its start."""
        self.set_sensors(range(len(self.ticks)), [spec.seed] * len(self.ticks))
        tilts = [each.start_tilt or 0.0 for each in spec.vehicles]
        self._begin(np.arange(len(self.ticks)), spec.start_rpm, spec.rng(GUSTS), tilts)

    def set_sensors(self, worlds: Iterable[int], seeds: Iterable[int]) -> None:
        """Draw the errors of the autopilots' own sensors in some worlds by their seeds, from their next reset on."""
        of_worlds = list(zip(worlds, seeds, strict=True))
        for each in self.propulsion:
            name = AUTOPILOT_SENSORS.format(each.airframe.assembly.name)
            for world, seed in of_worlds if each.has_estimator else ():
                each.set_sensors(world, stream(seed, name))

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
        indices = world_indices(worlds, len(self.ticks))
        self.engine.reset(x, worlds)
        if len(indices):
            self._begin(indices, rpm, gust_rng, tilt)

    def _begin(
        self,
        indices: Integers,
        rpm: Sequence[Array],
        gust_rng: Generators | None,
        tilt: Sequence[ArrayLike] | None,
    ) -> None:
        """Start rotors, air and parts of worlds anew, whose states are at their start."""
        if gust_rng is not None:
            self.air.reset(indices, generators(gust_rng, len(indices)))
        angles: Sequence[ArrayLike] = [0.0] * len(self.propulsion) if tilt is None else tilt
        for propulsion, speeds, angle in zip(self.propulsion, rpm, angles, strict=True):
            propulsion.reset(speeds, indices, angle)
        for part in self.parts:
            part.reset(self.engine.state(), indices)
        self.ticks[indices] = 0

    def object_states(self) -> Array:
        """(objects, 13) state rows of the frames of the world's objects."""
        return self.engine.object_states()

    def contact_wrench(self, vehicle: int = 0) -> Array:
        """(6,) mean contact wrench on a vehicle's central body over the last control period, world axes.

        Force [N] and torque about its CoM [N m]; zero for a vehicle of which it is not measured.
        """
        contacts = self.part(ContactWrenches)
        return np.zeros(6) if contacts is None else contacts.wrench(vehicle)

    def contact_wrenches(self, vehicle: int = 0) -> Array:
        """(B, 6) of a batch, as `contact_wrench` of each world."""
        contacts = self.part(BatchContactWrenches)
        return np.zeros((len(self.ticks), 6)) if contacts is None else contacts.wrenches(vehicle)

    @property
    def landings(self) -> dict[str, dict[str, Any]]:
        """The landings of vehicles that have come down, by their names, as metrics.json has them."""
        touchdowns = self.part(Touchdowns)
        return {} if touchdowns is None else touchdowns.records

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
            on_board: whether it is the aircraft's own, which no part holds up.
            worlds: (B,) those of a batch that it is for, whose aircraft have no faults; None for all.

        Raises:
            FlightFailed: the command of the only world holds NaN or infinity.
            BadInput: an array of the command has the wrong shape, or it is a platform wrench, which a
                controller allocates.
        """
        self.check_command(vehicle, command)
        if isinstance(self.engine, IdentifiedEngine):
            self.engine.command(command.wrench_P, moves_joints=not on_board)
            return
        propulsion = self.propulsion[vehicle]
        if worlds is None and all(map(all_finite, command.arrays)):
            for part in self._postponing:
                if part.postpones(vehicle, command, self._k, self.t, on_board=on_board):
                    return
            propulsion.set_command(command)
            if on_board:
                propulsion.apply_at_once()
            return
        if self._raises:
            raise FlightFailed("invalid_command", self.t, "the controller's command is not finite")
        is_finite = command.finite_worlds(len(self.ticks))
        addressed = np.ones_like(is_finite) if worlds is None else worlds
        propulsion.set_command(command, addressed & is_finite)
        ended = addressed & ~is_finite & (self.status == RUNNING)
        self.status[ended] = INVALID_COMMAND

    def check_command(self, vehicle: int, command: Command) -> None:
        """Look whether a vehicle could take a command, as `command` does before.

        Raises:
            BadInput: an array of the command has the wrong shape, it is a platform wrench, or it is a velocity and the
                plant takes none, or takes nothing else.
        """
        check_mode(command, takes_velocity=isinstance(self.engine, IdentifiedEngine))
        command.check(self.propulsion[vehicle].command.thrust.shape[1], len(self.ticks))

    def arm(self, vehicle: int) -> ArmMotors | None:
        """Joints and motors of a vehicle's arm; None without one."""
        return self.engine.arms.get(vehicle)

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
        """True if nothing but states and gusts changes from one control period of free flight to the next."""
        is_delayed = any([propulsion.is_delayed for propulsion in self.propulsion])
        return self._free_flight is not None and not self.parts and not is_delayed

    @property
    def free_flight(self) -> FreeFlightState | None:
        """The state that moves on in steady free flight; None where it is not.

        Whoever advances it in a compiled loop calls `advance_wind` before, and `pass_time` after it.
        """
        if self._free_flight is None or not self.is_steady:
            return None
        return self._free_flight.state(self._inputs)

    @property
    def _inputs(self) -> PeriodInputs:
        """The inputs of the next period: views, which are not to be kept."""
        return PeriodInputs(self.air.now_W, self._external_W[:, 0], self.ticks)

    def advance_wind(self, periods: int) -> Array:
        """Let gusts go on by some control periods.

        Returns:
            The velocity of the air (periods, B, 3) in each of them [m/s]; without gusts (1, B, 3), a view.
        """
        return self.air.advance(periods, self.substeps * self.dt)

    def pass_time(self, periods: int) -> None:
        """Let the clock go on by control periods that a compiled loop has moved `free_flight` on."""
        if self._free_flight is not None:
            self._free_flight.pass_time(periods * self.substeps)

    def advance(self) -> None:
        """One control period: autopilots, rotors, air, parts and engine at their own rates.

        Raises:
            FlightFailed: the state of the only world would no longer be a number.
        """
        self.advance_wind(1)
        for part in self._beginning:
            part.begin_period(self._k, self.t)
        for propulsion in self.propulsion:
            propulsion.apply_due()
        if self._loading:
            self._external_W[:] = self._deviations_W
            x = self.engine.state()[:, self._bases]
            for part in self._loading:
                part.add_wrenches(self.times, x, self._external_W)
        steps = 1 if self._looking or self._leading else self.substeps
        inputs = self._inputs
        for _ in range(0, self.substeps, steps):
            for part in self._leading:
                part.begin_step(self.engine.state(), self.t)
            self._flight.advance(inputs, steps)
            for part in self._looking:
                part.after_step(self.engine.state())

    def write(self, folder: Path) -> None:
        """Let the parts write their files of the flight into a run's folder."""
        for part in self.parts:
            part.write(folder)

    def close(self) -> None:
        """Let the parts give back what they hold outside this process; a second time is fine."""
        for part in self.parts:
            part.close()

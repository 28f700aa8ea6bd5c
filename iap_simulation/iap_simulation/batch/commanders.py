# SPDX-License-Identifier: BSD-3-Clause
"""Commanders of many worlds: the suite's law in all of them at once, or each world's own vehicle, one after another."""

import copy
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from iap_control.actuation.kinds import laws
from iap_control.batch.controllers import Controllers, are_known
from iap_control.batch.records import BatchCommand, Setpoints
from iap_control.controllers.controller import AUTO
from iap_description.arrays import Array, Booleans, Integers
from iap_description.errors import BadInput, IapError
from iap_description.math.random_streams import stream
from iap_description.signals import Reference
from iap_description.states import STATE_SIZE, Command, Level, Q
from iap_physics.batch.threads import Threads
from iap_physics.measured.state_noise import NoisyStates
from iap_physics.measured.wrench_sensor import WrenchSensors
from iap_simulation.batch.references import References
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec
from iap_simulation.vehicles.parts import STATE_NOISE
from iap_simulation.vehicles.vehicle import Vehicle


class WorldInputs(NamedTuple):
    """What commanders of B worlds go by.

    Attributes:
        x: (B, bodies, 13) states of the vehicle.
        times: (B,) [s].
        contact_W: (B, 6) mean contact wrenches on central bodies in the last period, world axes.
        is_running: (B,) whether worlds fly.
    """

    x: Array
    times: Array
    contact_W: Array
    is_running: Booleans


class Commander(Protocol):
    """Turns references into commands in B worlds.

    Attributes:
        measures_truth: whether states are seen without noise.
    """

    measures_truth: bool

    def reset(self, worlds: Integers, seeds: Sequence[int], x: Array) -> None:
        """Forget the flights of some worlds, whose central bodies start at rows (n, 13)."""

    def measured(self, x: Array) -> Array:
        """(B, 13) central bodies as they were measured last, of states (B, bodies, 13)."""

    @property
    def position_bias(self) -> Array:
        """(B, 3) of measured places in the present flights [m]."""

    def __call__(
        self, references: References, inputs: WorldInputs, threads: Threads, worlds: Integers
    ) -> Command:
        """Commands with a row for each world, of which those of `worlds` count; the others forget nothing."""


class LawCommander:
    """The suite's law in all worlds at once.

    Args:
        scenario: resolved.
        spec: of the vehicle in it.
        vehicle: made of it.
        batch: number of worlds.

    Attributes:
        controllers: of all worlds.
    """

    def __init__(
        self, scenario: Scenario, spec: VehicleSpec, vehicle: Vehicle, batch: int
    ) -> None:
        law = (vehicle.model, spec.control.gains)
        yaw = spec.control.yaw
        self.controllers = Controllers(*law, batch=batch, dt=scenario.dt, yaw_mode=yaw)
        self._stream = STATE_NOISE.format(spec.name)
        streams = [np.random.default_rng(0)] * batch
        self._noise = NoisyStates(spec.state_noise, streams, scenario.dt)
        self._measured = np.zeros((batch, STATE_SIZE))
        self.measures_truth = self._noise.is_zero
        self._all = np.arange(batch)
        self._is_raw = spec.control.wrench_source == "raw"
        self._sensors = None
        if scenario.has_contact(spec):
            self._sensors = WrenchSensors(spec.control.wrench_filter, scenario.dt, batch)

    @property
    def position_bias(self) -> Array:
        """(B, 3) of measured places in the present flights [m]."""
        return self._noise.position_bias

    def reset(self, worlds: Integers, seeds: Sequence[int], x: Array) -> None:
        """Forget what controllers remember of worlds that stand at their start."""
        self.controllers.reset(worlds)
        if self._sensors is not None:
            self._sensors.reset(worlds)
        if not self.measures_truth:
            self._noise.reset(worlds, [stream(seed, self._stream) for seed in seeds])
            self._measured[worlds] = x

    def measured(self, x: Array) -> Array:
        """(B, 13) central bodies as controllers have measured them last, of states (B, bodies, 13)."""
        return x[:, 0] if self.measures_truth else self._measured

    def __call__(
        self, references: References, inputs: WorldInputs, threads: Threads, worlds: Integers
    ) -> Command:
        """See `Commander`."""
        states, controllers = inputs.x, self.controllers
        is_whole = len(worlds) == len(states)
        if not self.measures_truth:
            some = None if is_whole else worlds
            self._measured[worlds] = self._noise(states[worlds, 0], some)
            states = self._measured[:, None]
        if self._sensors is not None:
            self._sensors(inputs.contact_W, states[:, 0, Q], worlds)
            sensors = self._sensors
            felt_P = sensors.raw_P if self._is_raw else sensors.filtered_P
            controllers.feel(felt_P, worlds)
        memory = None if is_whole else controllers.snapshot()
        setpoints = Setpoints(states, *references)
        threads.run(lambda *some: controllers(setpoints, range(*some)), len(states))
        if memory is not None:
            others = np.setdiff1d(self._all, worlds)
            command = copy.deepcopy(controllers.command)
            controllers.restore(memory, others)
            return command
        return controllers.command


class VehicleCommander:
    """Each world's own vehicle, whose wrench control, admittance, observers and controller are those of a single run.

    Args:
        spec: of the vehicle in the scenario.
        vehicle: made of it.
        batch: number of worlds.

    Attributes:
        vehicles: of each world.
    """

    def __init__(self, spec: VehicleSpec, vehicle: Vehicle, batch: int) -> None:
        shared = {id(each): each for each in (vehicle.timeline, vehicle.model)}
        self.vehicles = [copy.deepcopy(vehicle, dict(shared)) for _ in range(batch)]
        self.measures_truth = not any(spec.state_noise.model_dump().values())
        self._batch_command = BatchCommand.empty(batch, vehicle.model.count)
        self._mode = vehicle.model.actuation.mode

    @property
    def position_bias(self) -> Array:
        """(B, 3) of measured places in the present flights [m]."""
        return np.array([each.position_bias for each in self.vehicles])

    @property
    def controllers(self) -> Controllers:
        """Refuse.

        Raises:
            IapError: always.
        """
        raise IapError("worlds: each world's vehicle has a controller of its own here")

    def reset(self, worlds: Integers, seeds: Sequence[int], x: Array) -> None:
        """Forget the flights of some worlds."""
        for world, seed, row in zip(worlds.tolist(), seeds, x, strict=True):
            self.vehicles[world].reset(seed)
            self.vehicles[world].measurement = row.copy()

    def measured(self, x: Array) -> Array:
        """(B, 13) central bodies as they were measured last, of states (B, bodies, 13)."""
        if self.measures_truth:
            return x[:, 0]
        return np.array([each.measurement for each in self.vehicles])

    def __call__(
        self, references: References, inputs: WorldInputs, threads: Threads, worlds: Integers
    ) -> Command:
        """See `Commander`.

        Raises:
            BadInput: a controller's commands are of another mode than the platform's own.
        """
        for world in worlds[inputs.is_running[worlds]].tolist():
            level = Level(int(references.levels[world]))
            reference = Reference(references.rows[world], level, references.wrenches_P[world])
            at = (float(inputs.times[world]), inputs.x[world], inputs.contact_W[world])
            command = self.vehicles[world].command(*at, reference)
            if command.mode != self._mode:
                raise BadInput(
                    f"worlds: the controller commands {command.mode.name}, {self._mode.name} is expected"
                )
            for rows, row in zip(self._batch_command, command.arrays, strict=True):
                rows[world] = row
        return Command(self._mode, *self._batch_command)


def needs_own_vehicles(scenario: Scenario, spec: VehicleSpec, vehicle: Vehicle) -> bool:
    """Tell if a vehicle's keys ask for more than the suite's law on felt wrenches."""
    control = spec.control
    acts = (
        control.admittance or control.wrench_mode != "none" or control.wrench_source == "estimated"
    )
    is_law = control.law in (AUTO, *laws()) and are_known(vehicle.model)
    follows = vehicle.arm is not None and not vehicle.arm.is_plain
    lands = vehicle.land_detector is not None or vehicle.lever is not None
    return (scenario.has_contact(spec) and acts) or not is_law or lands or follows


def commander_of(
    scenario: Scenario, spec: VehicleSpec, vehicle: Vehicle, batch: int
) -> LawCommander | VehicleCommander:
    """The commander of a vehicle in B worlds that its keys ask for."""
    if needs_own_vehicles(scenario, spec, vehicle):
        return VehicleCommander(spec, vehicle, batch)
    return LawCommander(scenario, spec, vehicle, batch)

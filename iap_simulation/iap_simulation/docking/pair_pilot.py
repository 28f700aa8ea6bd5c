# SPDX-License-Identifier: BSD-3-Clause
"""Pilots of docking pairs, such as the script: on measured states of both vehicles they command both."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from iap_control.docking.guidance import empty_memory, script_command
from iap_control.docking.settings import ScriptParameters
from iap_control.docking.vehicle_control import PairParameters
from iap_description.arrays import Array
from iap_description.signals import Reference
from iap_description.states import Command, Mode, Q
from iap_physics.latching.latches import Latches
from iap_physics.measured.wrench_sensor import to_world
from iap_physics.plant.plant import Plant
from iap_sensors.mounted.sensor_suite import ReadingSink
from iap_simulation.docking.ports import is_held, pair_of, port_frames
from iap_simulation.scenario.scenario import DockingSpec, Scenario
from iap_simulation.vehicles.vehicle import Vehicle

TOUCH = 0.5  # force from which on a vehicle is touched [N]


class Sensed(NamedTuple):
    """Measurements that a pilot has at a control instant.

    Attributes:
        rows: (2, 13) measured state rows of target and chaser.
        wrenches_P: (2, 6) contact and latch on each over the last period, about its CoM, in its axes [N, N m].
        latched: whether the latch holds the probe.
    """

    rows: Array
    wrenches_P: Array
    latched: bool

    @property
    def wrench_W(self) -> Array:
        """(6,) on the chaser, along the world's axes."""
        out = np.zeros(6)
        to_world(self.wrenches_P[1], self.rows[1, Q], out)
        return out


class ScriptPilot:
    """Flies target and chaser by the script.

    Args:
        spec: of the docking.
        pair: what is known of the vehicles.

    Attributes:
        pair: as given.
    """

    def __init__(self, spec: DockingSpec, pair: PairParameters) -> None:
        self._script = ScriptParameters(**spec.script.model_dump())
        self.pair = pair
        self._out = np.zeros((2, 4))
        self._memory = empty_memory()

    @classmethod
    def of(cls, scenario: Scenario) -> Self:
        """The script of a scenario that docks."""
        assert scenario.docking is not None
        latch = scenario.latches[scenario.docking.latch]
        probe, socket = port_frames(scenario, latch)
        target = next(v for v in scenario.vehicles if v.name == latch.socket.split("/")[0])
        mass = target.platform.aircraft.mass
        return cls(
            scenario.docking,
            PairParameters(probe, socket, mass, scenario.world.gravity, scenario.dt),
        )

    @property
    def info(self) -> Mapping[str, Any]:
        """Name and task of the policy, or name of the script."""
        return {"name": "script"}

    def __call__(self, k: int, sensed: Sensed) -> Array:  # noqa: ARG002 - it acts at every instant
        """(2, 4) thrust [N] and body rates [rad/s] of target and chaser; the next call overwrites them."""
        target, chaser = sensed.rows
        touches = bool((np.linalg.norm(sensed.wrenches_P[:, :3], axis=1) > TOUCH).any())
        latched = sensed.latched
        script_command(
            target, chaser, touches, latched, self._script, self.pair, self._memory, self._out
        )
        return self._out


class PairPilot(Protocol):
    """Flies target and chaser; what it remembers of a flight begins when it is made."""

    @property
    def info(self) -> Mapping[str, Any]:
        """Key `policy` of metrics.json, see `iap_simulation.loop.agents.FlightAgent`."""

    def __call__(self, k: int, sensed: Sensed) -> Array:
        """(2, 4) thrust [N] and body rates [rad/s] of target and chaser at control instant k."""


class DockingPilot:
    """A pair's pilot in the loop of its scenario.

    Args:
        scenario: with a docking.
        vehicles: of it.
        pair: flies target and chaser.
    """

    def __init__(self, scenario: Scenario, vehicles: Sequence[Vehicle], pair: PairPilot) -> None:
        self._numbers, self._latch = pair_of(scenario)
        self._vehicles, self._pair = [vehicles[i] for i in self._numbers], pair
        self._commands = {i: Command.zeros(1, Mode.RATE_THRUST) for i in self._numbers}

    @property
    def task(self) -> None:
        """None: the scenario has its own."""
        return None

    @property
    def sinks(self) -> Sequence[ReadingSink]:
        """None: what is measured of both is asked for."""
        return ()

    @property
    def info(self) -> Mapping[str, Any]:
        """Name and task of the policy, or name of the script."""
        return self._pair.info

    def command(
        self, k: int, plant: Plant, references: Sequence[Reference]
    ) -> Mapping[int, Command]:
        """Measure, and command both."""
        out = self._pair(k, self._sensed(plant, references))
        for i, row in zip(self._numbers, out, strict=True):
            self._commands[i].thrust[0], self._commands[i].w_WB_B[0] = row[0], row[1:]
        return self._commands

    def _sensed(self, plant: Plant, references: Sequence[Reference]) -> Sensed:
        rows, wrenches = np.zeros((2, 13)), np.zeros((2, 6))
        for n, (i, vehicle) in enumerate(zip(self._numbers, self._vehicles, strict=True)):
            x = plant.state(i)[0]
            rows[n] = vehicle.measured(x)
            vehicle.feel(plant.t, x, rows[n], plant.contact_wrench(i), references[i])
            assert vehicle.interaction is not None  # vehicles with latches feel
            wrenches[n] = vehicle.interaction.sensor.raw_P
        latches = plant.part(Latches)
        assert latches is not None
        return Sensed(rows, wrenches, is_held(latches.phase(self._latch)))


def scripted(scenario: Scenario, vehicles: Sequence[Vehicle]) -> DockingPilot:
    """The script of a scenario."""
    return DockingPilot(scenario, vehicles, ScriptPilot.of(scenario))

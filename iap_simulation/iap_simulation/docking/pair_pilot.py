# SPDX-License-Identifier: BSD-3-Clause
"""Pilots of docking pairs, such as the script: on measured states of both vehicles they command both."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from iap_control.docking.coupled_flight import PairLaws
from iap_control.docking.guidance import PairLinks, empty_memory, script_command
from iap_description.arrays import Array
from iap_description.signals import Reference
from iap_description.states import Command, Mode, Q
from iap_physics.latching.latches import Latches, Phase
from iap_physics.measured.wrench_sensor import to_world
from iap_physics.plant.plant import Plant
from iap_sensors.mounted.sensor_suite import ReadingSink, SensorInput
from iap_simulation.docking.pair_laws import pair_laws
from iap_simulation.docking.ports import is_held, pair_of
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicles.vehicle import Vehicle

TOUCH = 0.5  # force from which on a vehicle is touched [N]


class PairMeasurement(NamedTuple):
    """Measurements that a pilot has at a control instant.

    Attributes:
        rows: (2, 13) measured state rows of target and chaser.
        wrenches_P: (2, 6) contact and latch on each over the last period, about its CoM, in its axes [N, N m].
        phase: of the latch.
    """

    rows: Array
    wrenches_P: Array
    phase: Phase

    @property
    def latched(self) -> bool:
        """True if the latch holds the probe."""
        return is_held(self.phase)

    @property
    def wrench_W(self) -> Array:
        """(6,) on the chaser, along the world's axes."""
        out = np.zeros(6)
        to_world(self.wrenches_P[1], self.rows[1, Q], out)
        return out


class ScriptPilot:
    """Flies target and chaser by the script.

    Args:
        laws: of the pair.

    Attributes:
        eye: None: it sees no images.
    """

    inputs = ()

    def __init__(self, laws: PairLaws) -> None:
        self._laws = laws
        self._out, self._memory = np.zeros((2, 4)), empty_memory()

    @classmethod
    def of(cls, scenario: Scenario) -> Self:
        """The script of a scenario that docks."""
        return cls(pair_laws(scenario))

    @property
    def info(self) -> Mapping[str, Any]:
        """Name and task of the policy, or name of the script."""
        return {"name": "script"}

    def lacks(self, stamp: int, k: int) -> Sequence[str]:  # noqa: ARG002 - as of all pilots
        """Nothing: it looks at no sensor."""
        return ()

    def __call__(self, k: int, sensed: PairMeasurement) -> Array:  # noqa: ARG002 - it acts at every instant
        """(2, 4) thrust [N] and body rates [rad/s] of target and chaser; the next call overwrites them."""
        touches = bool((np.linalg.norm(sensed.wrenches_P[:, :3], axis=1) > TOUCH).any())
        links = PairLinks(touches, sensed.latched, sensed.phase == Phase.LOCKED)
        rows = (sensed.rows[0], sensed.rows[1])
        script_command(rows, links, self._laws, self._memory, self._out)
        return self._out


class PairPilot(Protocol):
    """Flies target and chaser; what it remembers of a flight begins when it is made."""

    @property
    def info(self) -> Mapping[str, Any]:
        """Key `policy` of metrics.json, see `iap_simulation.loop.agents.FlightAgent`."""

    @property
    def inputs(self) -> Sequence[SensorInput]:
        """Receivers of the readings that it acts on."""

    def lacks(self, stamp: int, k: int) -> Sequence[str]:
        """Topics of the sensors that instant k of a stamp [ns] needs a reading of, and has none yet."""

    def __call__(self, k: int, sensed: PairMeasurement) -> Array:
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
    def followers(self) -> Collection[int]:
        """The target, which holds its place."""
        return self._numbers[:1]

    @property
    def task(self) -> None:
        """None: the scenario has its own."""
        return None

    @property
    def sinks(self) -> Sequence[ReadingSink]:
        """Receivers of the pilot's readings; what else is measured of both is asked for."""
        return self._pair.inputs

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

    def _sensed(self, plant: Plant, references: Sequence[Reference]) -> PairMeasurement:
        rows, wrenches = np.zeros((2, 13)), np.zeros((2, 6))
        for n, (i, vehicle) in enumerate(zip(self._numbers, self._vehicles, strict=True)):
            x = vehicle.known_state(plant.state(i)[0])
            rows[n] = vehicle.measured(x)
            vehicle.feel(plant.t, x, rows[n], plant.contact_wrench(i), references[i])
            assert vehicle.interaction is not None  # vehicles with latches feel
            wrenches[n] = vehicle.interaction.sensor.raw_P
        latches = plant.part(Latches)
        assert latches is not None
        return PairMeasurement(rows, wrenches, latches.phase(self._latch))


def scripted(scenario: Scenario, vehicles: Sequence[Vehicle]) -> DockingPilot:
    """The script of a scenario."""
    return DockingPilot(scenario, vehicles, ScriptPilot.of(scenario))

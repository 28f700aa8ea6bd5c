# SPDX-License-Identifier: BSD-3-Clause
"""Pilots of docking pairs: by what is measured of both vehicles they command both, in one process or as a node."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from iap_description.arrays import Array
from iap_description.signals import Reference
from iap_description.states import Command, Mode
from iap_physics.latching.latches import Latches
from iap_physics.plant.plant import Plant
from iap_sensors.mounted.sensor_suite import ReadingSink
from iap_simulation.docking.pilot import ScriptPilot, Sensed
from iap_simulation.docking.ports import is_held, pair_of
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicles.vehicle import Vehicle


class PairPilot(Protocol):
    """Flies target and chaser; what it remembers of a flight begins when it is made."""

    @property
    def info(self) -> Mapping[str, Any]:
        """What flies, see `iap_simulation.loop.agents.FlightAgent`."""

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
        """What flies."""
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

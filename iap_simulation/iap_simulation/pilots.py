# SPDX-License-Identifier: BSD-3-Clause
"""Pilots: what flies a scenario's vehicles in place of their controllers, chosen by its key `policy`."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

from iap_description.signals import Reference
from iap_description.states import Command
from iap_physics.plant import Plant
from iap_sensors.mounted.sensor_suite import ReadingSink
from iap_simulation.judge import Judge
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicle import Vehicle

SCRIPT = "script"
# Functions (scenario, vehicles) -> Pilot by kind; found by their names, because packages further up have some.
MAKERS = {
    SCRIPT: "iap_simulation.docking.pair_pilot:scripted",
    "learned": "iap_learning.policies.pilot:learned",
}


class Pilot(Protocol):
    """Commands vehicles in place of their own controllers."""

    @property
    def judge(self) -> Judge | None:
        """What ends the flight when the pilot's own task is over; None where it has none."""

    @property
    def sinks(self) -> Sequence[ReadingSink]:
        """What receives the sensors' readings for it."""

    @property
    def info(self) -> Mapping[str, Any]:
        """Key `policy` of metrics.json: what flies."""

    def __call__(
        self, k: int, plant: Plant, references: Sequence[Reference]
    ) -> Mapping[int, Command]:
        """Commands of vehicles, by their numbers, at control instant k; it measures what it needs to know.

        Args:
            k: number of the instant; each comes once, in order.
            plant: at that instant.
            references: of all vehicles.
        """


def make_pilot(scenario: Scenario, vehicles: Sequence[Vehicle]) -> Pilot | None:
    """The pilot of a scenario; None where the vehicles' own controllers fly.

    Raises:
        BadInput: there is no such policy, or it cannot fly this scenario.
    """
    if scenario.policy is None:
        return None
    kind = SCRIPT if scenario.policy == SCRIPT else "learned"
    module, _, name = MAKERS[kind].partition(":")
    pilot: Pilot = getattr(import_module(module), name)(scenario, vehicles)
    return pilot

# SPDX-License-Identifier: BSD-3-Clause
"""Pilots and guides: what flies vehicles in place of their controllers or of their references, by the key `policy`."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

from iap_description.arrays import Array
from iap_description.signals import Reference
from iap_description.states import Command
from iap_physics.plant.plant import Plant
from iap_sensors.mounted.sensor_suite import ReadingSink
from iap_simulation.loop.judge import Judge
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicles.vehicle import Vehicle

SCRIPT = "script"
# Functions (scenario, vehicles) -> Pilot by kind; found by their names, because packages further up have some.
MAKERS = {
    SCRIPT: "iap_simulation.docking.pair_pilot:scripted",
    "learned": "iap_learning.learned_agents:learned",
}
GUIDE = "iap_learning.tasks.kinds.module_docking.policy_guide:learned_guide"  # function (scenario, vehicles) -> Guide


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


class Guide(Protocol):
    """Gives the reference of a module that docks in place of its coordinator's."""

    @property
    def info(self) -> Mapping[str, Any]:
        """Key `policy` of metrics.json: what guides."""

    def __call__(
        self, k: int, shared: Array, plant: Plant, reference: Reference, *, is_due: bool
    ) -> Reference:
        """The reference at control instant k; of joints that it does not guide at that instant it is not asked.

        Args:
            k: number of the instant; each comes once, in order.
            shared: (n, 13) rows of all modules as they are measured, in one frame.
            plant: at that instant.
            reference: of the module that docks, by its coordinator.
            is_due: whether this is an instant of coordination.
        """


def make_guide(scenario: Scenario, vehicles: Sequence[Vehicle]) -> Guide | None:
    """The guide of a scenario of modules; None where the coordinator's machine guides.

    Raises:
        BadInput: there is no such policy, or it cannot guide these modules.
    """
    if scenario.policy is None:
        return None
    module, _, name = GUIDE.partition(":")
    guide: Guide = getattr(import_module(module), name)(scenario, vehicles)
    return guide


def make_pilot(scenario: Scenario, vehicles: Sequence[Vehicle]) -> Pilot | None:
    """The pilot of a scenario; None where the vehicles' own controllers fly, guided or not.

    Raises:
        BadInput: there is no such policy, or it cannot fly this scenario.
    """
    if scenario.policy is None or scenario.modules is not None:
        return None
    kind = SCRIPT if scenario.policy == SCRIPT else "learned"
    module, _, name = MAKERS[kind].partition(":")
    pilot: Pilot = getattr(import_module(module), name)(scenario, vehicles)
    return pilot

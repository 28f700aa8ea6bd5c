# SPDX-License-Identifier: BSD-3-Clause
"""Follows a docking of modules in an engine, where faces touch and the latch's joint holds or does not."""

from collections.abc import Mapping

import numpy as np

from iap_control.modules.joint_machine import JointMachine, JointState
from iap_description.errors import BadInput
from iap_learning.tasks.engine_episode import EngineEpisode
from iap_learning.tasks.kinds.module_docking.latch import LatchThresholds, latch_of
from iap_learning.tasks.kinds.module_docking.task import ModuleDockingTask
from iap_physics.engines.engine import RUNNING
from iap_simulation.modules.outcome import (
    ModuleApproach,
    ModuleDockingInstant,
    ModuleDockingLimits,
    module_approach,
    outcome,
)
from iap_simulation.simulation.simulation import Simulation

NO_APPROACH = ModuleApproach(np.nan, np.nan, np.nan, np.nan)  # before the first instant


class ModuleDockingEngineEpisode(EngineEpisode):
    """Follows a docking, which has arrived once its modules are joined.

    Args:
        simulation: at the start, of modules with one joint.
        task: what is to be done.

    Raises:
        BadInput: the scenario docks no two modules.
    """

    def __init__(self, simulation: Simulation, task: ModuleDockingTask) -> None:
        modules = simulation.modules
        if modules is None or len(modules.coordinator.joints) != 1:
            raise BadInput(f"scenario '{task.scenario}' docks no two modules")
        self._simulation, self._task = simulation, task
        coordinator = modules.coordinator
        ((name, joint),) = coordinator.joints.items()
        self._machine: JointMachine = coordinator.machines[name]
        self._modules = joint.modules
        self._latch: LatchThresholds = latch_of(coordinator.spec, coordinator.spec.joints[name])
        self._limits = ModuleDockingLimits(
            task.closing_speed,
            task.overlap,
            coordinator.spec.size,
            task.fails_beyond,
            task.seconds,
        )
        self._caught, self._approach = np.nan, NO_APPROACH

    def observe(self) -> None:
        """Observe the end of a control period."""
        if self.outcome != RUNNING:
            return
        machine, t = self._machine, self._simulation.t
        if np.isnan(self._caught):
            if machine.holds:
                self._caught = t
            else:
                self._approach = self._measured()
        is_joined, is_given_up = (
            machine.state == state for state in (JointState.JOINED, JointState.EMERGENCY)
        )
        is_caught = not np.isnan(self._caught)
        now = ModuleDockingInstant(t, RUNNING, self._approach, is_caught, is_joined, is_given_up)
        self.outcome = outcome(now, self._limits)

    def _measured(self) -> ModuleApproach:
        leader, follower = (self._simulation.plant.state(i)[0, 0] for i in self._modules)
        return module_approach(leader, follower, self._latch.home_L, self._latch.normal_L)

    @property
    def measures(self) -> Mapping[str, float]:
        """Time of the catch [s], and closing speed [m/s] and offset [m] before it."""
        approach = self._approach
        return {
            "time": self._caught,
            "closing_speed": approach.closing,
            "offset": approach.aside,
        }

# SPDX-License-Identifier: BSD-3-Clause
"""Follows a docking of modules in an engine, where faces touch and the latch's joint holds or does not."""

from collections.abc import Mapping

import numpy as np

from iap_control.modules.joint_machine import JointMachine, JointState
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import Q
from iap_learning.tasks.engine_episode import EngineEpisode
from iap_learning.tasks.kinds.module_docking.sight import Latch, latch_of
from iap_learning.tasks.kinds.module_docking.task import ModuleDockingTask
from iap_physics.engines.engine import RUNNING
from iap_simulation.simulation.simulation import Simulation
from iap_simulation.tasks.outcomes import ARRIVED, CRASHED, TIME_IS_UP, TOO_FAST


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
        self._latch: Latch = latch_of(coordinator.spec, coordinator.spec.joints[name])
        self._caught = self._closing = self._offset = np.nan

    def observe(self) -> None:
        """Observe the end of a control period."""
        if self.outcome != RUNNING:
            return
        machine, t = self._machine, self._simulation.t
        if np.isnan(self._caught):
            if machine.holds:
                self._caught = t
                is_gentle = self._closing <= self._task.closing_speed
                self.outcome = RUNNING if is_gentle else TOO_FAST
            else:
                self._measure()
        if machine.state == JointState.EMERGENCY:
            self.outcome = CRASHED
        elif machine.state == JointState.JOINED:
            self.outcome = ARRIVED
        elif np.isnan(self._caught) and t >= self._task.seconds:
            self.outcome = TIME_IS_UP

    def _measure(self) -> None:
        """Keep how the follower is about to be caught."""
        plant, n = self._simulation.plant, self._latch.normal_L
        leader, follower = (plant.state(i)[0, 0] for i in self._modules)
        R = _matrix(leader)
        offset = R.T @ (follower[:3] - leader[:3]) - self._latch.home_L
        self._closing = -float(R.T @ (follower[7:10] - leader[7:10]) @ n)
        self._offset = float(np.linalg.norm(offset - (offset @ n) * n))

    @property
    def measures(self) -> Mapping[str, float]:
        """Time of the catch [s], and closing speed [m/s] and offset [m] before it."""
        return {"time": self._caught, "closing_speed": self._closing, "offset": self._offset}


def _matrix(row: Array) -> Array:
    return so3.matrix_from_quaternion(row[Q])

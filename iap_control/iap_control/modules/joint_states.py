# SPDX-License-Identifier: BSD-3-Clause
"""States of modules and their joints as a coordinator reports them, in one process and between nodes alike."""

from collections.abc import Sequence

import numpy as np

from iap_control.modules.coordinator import Coordinator
from iap_control.modules.exchange import JointState, ModuleRole
from iap_control.modules.settings import ModulesSpec
from iap_io.wire.module_views import JointStates, ModuleJointsMessage

STATES, ROLES = tuple(JointState), tuple(ModuleRole)  # by their numbers in messages
NUMBERS = {state: number for number, state in enumerate(STATES)}


def joints_message(spec: ModulesSpec, names: Sequence[str]) -> ModuleJointsMessage:
    """The message of the joints of modules by their names, in their order."""
    leaders = [joint.leader for joint in spec.joints.values()]
    followers = [joint.follower for joint in spec.joints.values()]
    return ModuleJointsMessage.of(list(spec.joints), leaders, followers, names)


def joint_states(coordinator: Coordinator) -> JointStates:
    """The present states of a coordinator's joints and modules."""
    machines = list(coordinator.machines.values())
    led_by = np.zeros(len(coordinator.roles), np.int64)
    for structure in coordinator.structures:
        led_by[list(structure.modules)] = structure.leader
    lost = coordinator.lost.modules
    return JointStates(
        states=np.array([NUMBERS[each.state] for each in machines]),
        holds=np.array([each.hold for each in machines]),
        returns=np.array([each.returns for each in machines]),
        failed=np.array([each.failure is not None for each in machines], int),
        led_by=led_by,
        lost=np.array([i in lost for i in range(len(led_by))], int),
        steps_done=coordinator.mission.at,
    )


def roles_of(led_by: Sequence[int]) -> list[ModuleRole]:
    """Roles of modules, each of which is led by the one of a number."""
    leaders = list(led_by)
    return [_role(i, leader, leaders.count(leader)) for i, leader in enumerate(leaders)]


def _role(module: int, leader: int, members: int) -> ModuleRole:
    if members == 1:
        return ModuleRole.SEPARATED
    return ModuleRole.LEADER if leader == module else ModuleRole.FOLLOWER

# SPDX-License-Identifier: BSD-3-Clause
"""The joints that settings name, by the numbers of their modules."""

from collections.abc import Sequence

from iap_control.modules.settings import FACES, OPPOSITE, ModuleJointSpec, ModulesSpec
from iap_control.modules.structure import ModuleJoint, Structure
from iap_description.errors import BadInput


def joints_of(spec: ModulesSpec, names: Sequence[str]) -> dict[str, ModuleJoint]:
    """All joints by their names, from the leader to the follower.

    Args:
        spec: of the modules.
        names: of the modules, in their order.

    Raises:
        BadInput: joints that do not fit each other or name no module.
    """
    joints = {name: _joint(name, joint, spec.size, names) for name, joint in spec.joints.items()}
    check_joints(spec)
    return joints


def _joint(name: str, spec: ModuleJointSpec, size: float, names: Sequence[str]) -> ModuleJoint:
    numbers = []
    for key, module in (("leader", spec.leader), ("follower", spec.follower)):
        if module not in names:
            known = ", ".join(names)
            raise BadInput(f"key 'modules.joints.{name}.{key}': no module '{module}' ({known})")
        numbers.append(list(names).index(module))
    x, y, z = (size * each for each in FACES[spec.face])
    return ModuleJoint(numbers[0], numbers[1], (x, y, z))


def check_joints(spec: ModulesSpec) -> None:
    """Refuse joints that share a face, or that have the same modules in both orders.

    Raises:
        BadInput: naming both joints.
    """
    faces: dict[tuple[str, str], str] = {}
    pairs: dict[frozenset[str], str] = {}
    for name, joint in spec.joints.items():
        pair = frozenset((joint.leader, joint.follower))
        if pair in pairs:
            raise BadInput(
                f"key 'modules.joints.{name}': '{joint.leader}' and '{joint.follower}' are joined by"
                f" '{pairs[pair]}', and of two leaders neither would follow"
            )
        pairs[pair] = name
        for face in ((joint.leader, joint.face), (joint.follower, OPPOSITE[joint.face])):
            if face in faces:
                raise BadInput(
                    f"key 'modules.joints.{name}': face {face[1]} of '{face[0]}' belongs to joint '{faces[face]}'"
                )
            faces[face] = name


def check_loops(spec: ModulesSpec, structures: Sequence[Structure]) -> None:
    """Refuse loops of joints that hold from the start, where none of them is announced.

    Raises:
        BadInput: naming the joints of a loop.
    """
    for each in structures:
        closes = any(spec.joints[name].closes for name in each.joints)
        if len(each.joints) >= len(each.modules) and not closes:
            names = ", ".join(each.joints)
            raise BadInput(
                f"key 'modules.joints': {names} close a loop, and key 'closes' announces none"
            )

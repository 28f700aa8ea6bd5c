# SPDX-License-Identifier: BSD-3-Clause
"""Values that a recording keeps of messages and statuses, checked."""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.signals import ForceTask, Reference
from iap_description.states import REF_FIXED, Command
from iap_io.wire.joint_views import trajectory_of
from iap_io.wire.message_views import CommandMessage, ReferenceMessage, StateMessage
from iap_io.wire.module_views import JointStates, ModuleJointsMessage
from iap_io.wire.sample_views import ForceTaskMessage, LatchStateMessage, WrenchMessage
from iap_physics.latching.latches import Phase


def reference_of(count: int, message: ReferenceMessage) -> Reference:
    """The reference in a message, for so many aircraft."""
    row, level = np.empty(REF_FIXED + count), message.level
    message.get_row(row)
    return Reference(row, level, message.wrench_P.copy())


def command_of(count: int, message: CommandMessage) -> Command:
    """The command in a message, for so many aircraft."""
    command = Command.zeros(count)
    message.get(command)
    return command


def object_rows_of(count: int, message: StateMessage) -> Array:
    """(count, 13) states of so many of the world's objects in a message.

    Raises:
        BadInput: they are of another number.
    """
    rows: Array = message.rows.copy()
    if len(rows) != count:
        raise BadInput(f"poses: of {len(rows)} objects, the world has {count}")
    return rows


def duration_of(text: str) -> float:
    """The mean time of a control step [us].

    Raises:
        BadInput: it is none.
    """
    try:
        duration = float(text)
    except ValueError:
        duration = math.nan
    if not 0.0 <= duration < math.inf:
        raise BadInput(f"control_step_us: '{text[:40]}' is no time")
    return duration


def collisions_of(text: str) -> list[dict[str, Any]]:
    """Collisions as physics_node tells of them.

    Raises:
        BadInput: they are none.
    """
    try:
        records = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"collisions: '{text[:40]}' is no JSON") from error
    if not isinstance(records, list) or not all(map(_is_collision, records)):
        raise BadInput(f"collisions: '{text[:40]}' is no list of collisions")
    return records


def landings_of(text: str) -> dict[str, dict[str, Any]]:
    """Landings of vehicles, by their names, as physics_node tells of them.

    Raises:
        BadInput: they are none.
    """
    try:
        records = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"landings: '{text[:40]}' is no JSON") from error
    if not isinstance(records, dict) or not all(map(_is_landing, records.values())):
        raise BadInput(f"landings: '{text[:40]}' are no landings of vehicles")
    return records


def _is_landing(record: object) -> bool:
    match record:
        case {
            "touch_speed_mps": float(speed),
            "force_n": float(force),
            "cut_height_m": float() | None as height,
            "stands": bool(),
        }:
            return all(map(math.isfinite, (speed, force, height or 0.0)))
    return False


def _is_collision(record: object) -> bool:
    match record:
        case {"t_s": float(t), "vehicles": [str(), str()]}:
            return math.isfinite(t)
    return False


def wrench_of(message: WrenchMessage) -> np.ndarray:
    """The wrench (6,) in a message."""
    return message.wrench_P.copy()


def task_of(message: ForceTaskMessage) -> ForceTask:
    """The task of wrench control in a message."""
    return ForceTask(
        message.mode,
        message.measured_P.copy(),
        message.desired_P.copy(),
        message.axes.astype(bool),
        message.pose_integral_P.copy(),
        message.wrench_integral_P.copy(),
    )


def joints_of(names: Sequence[str], content: Any) -> np.ndarray | None:  # noqa: ANN401 - a decoded message
    """Coordinates, velocities and efforts (3, n) of an arm's joints in a JointState; None in one of other joints.

    Raises:
        BadInput: numbers are missing, or not finite.
    """
    if list(content.name) != list(names):
        return None
    parts = [np.asarray(each) for each in (content.position, content.velocity, content.effort)]
    if any(part.shape != (len(names),) or not np.isfinite(part).all() for part in parts):
        raise BadInput("joint_states: position, velocity and effort of every joint are expected")
    return np.stack(parts)


def target_of(names: Sequence[str], content: Any) -> np.ndarray:  # noqa: ANN401 - a decoded message
    """Coordinates, velocities and torques (3, n) that an arm's motors are told by a trajectory's first point."""
    targets = trajectory_of(content, names)
    return np.stack([targets.q[0], targets.v[0], targets.torque[0]])


def phases_of(count: int, message: LatchStateMessage) -> tuple[int, ...]:
    """The phases of so many latches in a message.

    Raises:
        BadInput: it is of others, or a phase cannot be.
    """
    phases = tuple(message.phases.tolist())
    if len(phases) != count or max(phases) >= len(Phase):
        raise BadInput(f"phases: {list(phases)} are not those of {count} latches")
    return phases


def joint_states_of(
    joints: Sequence[str], modules: int, message: ModuleJointsMessage
) -> JointStates:
    """States of joints by their names, and of so many modules, in a message.

    Raises:
        BadInput: it is of others, or a number cannot be.
    """
    if message.names != list(joints):
        known = ", ".join(joints)
        raise BadInput(f"names: {', '.join(message.names) or 'none'}; the joints are {known}")
    states = message.joint_states
    if len(states.led_by) != modules:
        raise BadInput(f"modules: {len(states.led_by)}, {modules} fly")
    return states

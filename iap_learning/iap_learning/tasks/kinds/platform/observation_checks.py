# SPDX-License-Identifier: BSD-3-Clause
"""Refusals of what a task observes and its worlds, or a single flight, do not have."""

from iap_description.errors import BadInput
from iap_learning.tasks.kinds.platform.task import PlatformTask
from iap_learning.tasks.kinds.platform.term_table import INERTIAL_TERMS
from iap_simulation.batch.actions import REFERENCE_KINDS
from iap_simulation.batch.ray_sensor import ray_sensor_spec
from iap_simulation.batch.worlds import Worlds


def check_in_worlds(task: PlatformTask, worlds: Worlds) -> None:
    """Refuse observations of many worlds that nothing measures.

    Raises:
        BadInput: naming the key.
    """
    kind = task.action.kind
    if task.observed == "measured" and kind not in REFERENCE_KINDS:
        raise BadInput(
            f"task '{task.name}': key 'observed': no controller measures under actions '{kind}'"
        )
    named = [name for name in task.observation if name in INERTIAL_TERMS]
    if named and worlds.scenario.vehicles[0].sensors.imu is None:
        raise BadInput(
            f"task '{task.name}': key 'observation.{named[0]}': scenario '{task.scenario}' has no sensors.imu"
        )


def check_in_flight(task: PlatformTask, source: str) -> None:
    """Refuse observations that single flights and nodes do not give.

    Raises:
        BadInput: naming the key.
    """
    keys = [f"observation.{name}" for name in task.observation if name in INERTIAL_TERMS]
    keys += ["observed"] if task.observed == "measured" else []
    if task.depth is not None:
        spec = ray_sensor_spec(task.depth.preset, task.depth.settings)
        keys += [] if spec.IS_CAMERA else ["depth.preset"]
    if keys:
        raise BadInput(
            f"policy '{source}': task '{task.name}', key '{keys[0]}': many worlds alone give that yet;"
            " judge it there by `iap evaluate`"
        )

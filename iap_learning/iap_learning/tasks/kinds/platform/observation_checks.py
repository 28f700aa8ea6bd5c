# SPDX-License-Identifier: BSD-3-Clause
"""Refusals of what a task observes and its worlds, or a single flight, do not have."""

from iap_description.errors import BadInput, shown
from iap_io.runs.vehicle_meta import TRUTH
from iap_learning.tasks.kinds.platform.task import PlatformTask
from iap_learning.tasks.kinds.platform.term_table import INERTIAL_TERMS
from iap_simulation.batch.actions import REFERENCE_KINDS
from iap_simulation.batch.ray_sensor import ray_sensor_spec
from iap_simulation.batch.worlds import Worlds
from iap_simulation.scenario.vehicle_spec import VehicleSpec


def check_in_worlds(task: PlatformTask, worlds: Worlds) -> None:
    """Refuse observations of many worlds that nothing measures.

    Raises:
        BadInput: naming the key.
    """
    _check_measures(task)
    named = [name for name in task.observation if name in INERTIAL_TERMS]
    if named and worlds.scenario.vehicles[0].sensors.imu is None:
        raise BadInput(
            f"task '{task.name}': key 'observation.{named[0]}': scenario '{task.scenario}' has no sensors.imu"
        )


def _check_measures(task: PlatformTask) -> None:
    kind = task.action.kind
    if task.observed == "measured" and kind not in REFERENCE_KINDS:
        raise BadInput(
            f"task '{task.name}': key 'observed': no controller measures under actions '{kind}'"
        )


def measures_with_noise(task: PlatformTask, vehicle: VehicleSpec) -> bool:
    """True if a task observes what a vehicle's controller measures, and that is not the truth.

    Raises:
        BadInput: the vehicle flies on an estimate, whose errors are not those of measured states.
    """
    if task.observed != "measured":
        return False
    source = vehicle.control.state_source
    if source != TRUTH:
        raise BadInput(
            f"key 'control.state_source': {shown(source)}, but task '{task.name}' observes noisy states,"
            f" not estimates: it needs {shown(TRUTH)}"
        )
    return any(vehicle.state_noise.model_dump().values())


def check_in_flight(task: PlatformTask, source: str) -> None:
    """Refuse observations that single flights and nodes do not give.

    Raises:
        BadInput: naming the key.
    """
    _check_measures(task)
    keys = [f"observation.{name}" for name in task.observation if name in INERTIAL_TERMS]
    if task.depth is not None:
        spec = ray_sensor_spec(task.depth.preset, task.depth.settings)
        keys += [] if spec.IS_CAMERA else ["depth.preset"]
    if keys:
        raise BadInput(
            f"policy '{source}': task '{task.name}', key '{keys[0]}': many worlds alone give that yet;"
            " judge it there by `iap evaluate`"
        )

# SPDX-License-Identifier: BSD-3-Clause
"""Refusals of what a task observes and its worlds, or a single flight, do not have."""

from iap_description.errors import BadInput, shown
from iap_estimation.capture.capture_filter import CAPTURE_INERTIAL
from iap_io.runs.vehicle_meta import TRUTH
from iap_learning.tasks.kinds.platform.task import ESTIMATED, PlatformTask
from iap_learning.tasks.kinds.platform.term_table import INERTIAL_TERMS
from iap_simulation.batch.actions import REFERENCE_KINDS
from iap_simulation.batch.worlds import Worlds
from iap_simulation.scenario.vehicle_spec import VehicleSpec


def check_in_worlds(task: PlatformTask, worlds: Worlds) -> None:
    """Refuse observations of many worlds that nothing measures.

    Raises:
        BadInput: naming the key.
    """
    check_measures(task)
    vehicle = worlds.scenario.vehicles[0]
    _check_source(task, vehicle)
    source = vehicle.control.state_source
    if source != TRUTH and task.observed != ESTIMATED:
        raise BadInput(
            f"key 'control.state_source': {shown(source)}, but task '{task.name}' observes {shown(task.observed)} in"
            f" many worlds: it needs observed: {ESTIMATED}"
        )
    key = inertial_key(task)
    if key is not None and worlds.scenario.vehicles[0].sensors.imu is None:
        raise BadInput(
            f"task '{task.name}': key '{key}': scenario '{task.scenario}' has no sensors.imu"
        )


def inertial_key(task: PlatformTask) -> str | None:
    """The key of a task's first term of inertial units; None where it has none."""
    keys = (f"observation.{name}" for name in task.observation if name in INERTIAL_TERMS)
    return next(keys, None)


def check_measures(task: PlatformTask) -> None:
    """Refuse measured states where no controller measures.

    Raises:
        BadInput: naming the key.
    """
    kind = task.action.kind
    if task.observed == "measured" and kind not in REFERENCE_KINDS:
        raise BadInput(
            f"task '{task.name}': key 'observed': no controller measures under actions '{kind}'"
        )


def _check_source(task: PlatformTask, vehicle: VehicleSpec) -> None:
    """Refuse estimates where the vehicle goes by none.

    Raises:
        BadInput: naming the key.
    """
    if task.observed == ESTIMATED and vehicle.control.state_source == TRUTH:
        raise BadInput(
            f"key 'control.state_source': {shown(TRUTH)}, but task '{task.name}' observes estimates:"
            f" name a method, such as {CAPTURE_INERTIAL} with sensors: capture"
        )


def measures_with_noise(task: PlatformTask, vehicle: VehicleSpec) -> bool:
    """True if a task observes what a vehicle's controller measures, and that is not the truth.

    Raises:
        BadInput: the vehicle flies on an estimate, whose errors are not those of measured states; or on none, and the
            task observes estimates.
    """
    _check_source(task, vehicle)
    if task.observed != "measured":
        return False
    source = vehicle.control.state_source
    if source != TRUTH:
        raise BadInput(
            f"key 'control.state_source': {shown(source)}, but task '{task.name}' observes noisy states,"
            f" not estimates: it needs {shown(TRUTH)}"
        )
    return any(vehicle.state_noise.model_dump().values())

# SPDX-License-Identifier: BSD-3-Clause
"""Recorded commands of a scenario's vehicles, and the followers of recorded wrenches."""

from collections.abc import Sequence

from iap_control.allocation.model import PlatformModel
from iap_control.controllers.controller import Controller
from iap_control.controllers.wrench_follower import WrenchFollower
from iap_control.references.motions import Replay
from iap_control.references.replay import RecordedCommand, commanded
from iap_description.errors import BadInput
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec


def recorded_commands(scenario: Scenario) -> tuple[RecordedCommand | None, ...]:
    """The recorded command of each vehicle that replays one.

    Raises:
        BadInput: a recording cannot be used.
    """
    references = [spec.reference for spec in scenario.vehicles]
    return tuple(commanded(each) if isinstance(each, Replay) else None for each in references)


def unreferenced(
    scenario: Scenario, recorded: Sequence[RecordedCommand | None]
) -> tuple[str, ...]:
    """Names of the vehicles that fly recorded wrenches alone, without poses to compare with."""
    pairs = zip(scenario.vehicles, recorded, strict=True)
    return tuple(v.name for v, command in pairs if command is not None and not command.has_poses)


def wrench_follower(
    vehicle: VehicleSpec,
    model: PlatformModel,
    controller: Controller,
    begin: float,
    recorded: RecordedCommand | None,
) -> WrenchFollower | None:
    """The follower of a replay's recorded wrenches; None where none are flown.

    Args:
        vehicle: that replays.
        model: of its platform.
        controller: of it.
        begin: of the recorded motion in the flight [s].
        recorded: the recorded command, if it has been read already.

    Raises:
        BadInput: the vehicle cannot fly them.
    """
    reference = vehicle.reference
    if not isinstance(reference, Replay) or reference.wrench_topic is None:
        return None
    command = (recorded or commanded(reference)).wrench
    assert command is not None  # noqa: S101 - it was asked for
    control = vehicle.control
    if command.use == "open_loop" and (control.admittance or control.wrench_mode != "none"):
        key = "admittance" if control.admittance else "wrench_mode"
        raise BadInput(
            f"vehicle '{vehicle.name}': key 'control.{key}': wrenches that fly open loop leave it nothing to do"
        )
    return WrenchFollower.of(command, model, controller, begin)

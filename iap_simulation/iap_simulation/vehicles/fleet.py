# SPDX-License-Identifier: BSD-3-Clause
"""All vehicles of a scenario, and the recorded commands that they fly."""

from collections.abc import Sequence

from iap_control.references.motions import Replay
from iap_control.references.replay import RecordedCommand, commanded
from iap_description.errors import BadInput
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicles.vehicle import Vehicle


def recorded_commands(scenario: Scenario) -> tuple[RecordedCommand | None, ...]:
    """The recorded command of each vehicle that replays one.

    Raises:
        BadInput: a recording cannot be used.
    """
    references = [spec.reference for spec in scenario.vehicles]
    return tuple(commanded(each) if isinstance(each, Replay) else None for each in references)


def vehicles_of(
    scenario: Scenario, recorded: Sequence[RecordedCommand | None] | None = None
) -> tuple[Vehicle, ...]:
    """All vehicles of a scenario; recorded commands are read unless they are given.

    Raises:
        BadInput: a recording cannot be used, or a fault would strike after the flight's end.
    """
    commands = recorded_commands(scenario) if recorded is None else recorded
    vehicles = tuple(
        Vehicle.of(scenario, spec, each)
        for spec, each in zip(scenario.vehicles, commands, strict=True)
    )
    _check_times(scenario, max(vehicle.timeline.duration for vehicle in vehicles))
    return vehicles


def _check_times(scenario: Scenario, duration: float) -> None:
    """Refuse faults that would strike after a flight's end [s]."""
    for i, spec in enumerate(scenario.vehicles):
        for j, fault in enumerate(spec.faults):
            if fault.at >= duration:
                key = f"faults.{j}.at"
                if len(scenario.vehicles) > 1:
                    key = f"vehicles.{i}.{key}"
                raise BadInput(
                    f"key '{key}': {fault.at:g} s, but the flight ends at {duration:g} s"
                )

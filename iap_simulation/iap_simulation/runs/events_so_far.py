# SPDX-License-Identifier: BSD-3-Clause
"""Events of a flight that is flown, in the shape in which metrics.json has them at its end."""

from collections.abc import Mapping, Sequence
from typing import Any

from iap_io.runs.run_meta import RunMeta
from iap_simulation.flights.flight import Flight
from iap_simulation.simulation.simulation import Simulation

Losses = Mapping[
    str, Sequence[tuple[float, str]]
]  # times [s] and what happened, by the names of vehicles


def estimate_losses(simulation: Simulation, flight: Flight) -> dict[str, list[tuple[float, str]]]:
    """Times [s] at which vehicles' estimators lost vision or regained it, began anew, or were lost, by their names."""
    estimates, losses = simulation.participants.estimates, {}
    monitors = {} if estimates is None else estimates.monitors
    for i, navigator in flight.navigators.items():
        anew = [(fault.t, f"began anew, {fault.reason}") for fault in navigator.faults]
        lost = monitors[i].events if i in monitors else []
        losses[flight.vehicles[i].name] = sorted([*navigator.vision_events, *anew, *lost])
    return losses


def events_so_far(simulation: Simulation, flight: Flight, meta: RunMeta) -> dict[str, Any]:
    """Events of the task and of the estimators up to the present instant; `meta` is the flight's, made once."""
    task = simulation.task
    tasks = {} if task is None else {task.key: task.events(simulation.plant)}
    return event_tree(meta, tasks, estimate_losses(simulation, flight))


def event_tree(
    meta: RunMeta, tasks: Mapping[str, Sequence[Mapping[str, Any]]], losses: Losses
) -> dict[str, Any]:
    """The part of metrics.json that has events.

    Args:
        meta: of the flight.
        tasks: events of tasks, by their keys.
        losses: of estimators.
    """
    tree: dict[str, Any] = {key: {"events": list(events)} for key, events in tasks.items()}
    methods = {
        each.name: {each.state_source: {"events": [{"t_s": t, "what": what} for t, what in lost]}}
        for each in meta.vehicles
        if (lost := losses.get(each.name))
    }
    if len(meta.vehicles) > 1:
        tree["vehicles"] = {name: {"methods": each} for name, each in methods.items()}
    else:
        tree["methods"] = next(iter(methods.values()), {})
    return tree

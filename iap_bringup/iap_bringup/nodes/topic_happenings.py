# SPDX-License-Identifier: BSD-3-Clause
"""Events of a flight of nodes so far, by its topics: those of the instants that are shown."""

from collections.abc import Mapping, Sequence

from iap_bringup.nodes.estimate_losses import EstimateLosses
from iap_bringup.nodes.modules_replay import ModulesReplay
from iap_bringup.nodes.plant_replay import LastValue, PlantReplay
from iap_bringup.viewing.events import Event, events_until
from iap_bringup.viewing.layers import Steps
from iap_bringup.viewing.live_happenings import LiveHappenings
from iap_description.arrays import Array
from iap_description.signals import EstimateHealth
from iap_simulation.docking.monitor import DockingMonitor
from iap_simulation.flights.flight import Flight
from iap_simulation.modules.monitor import ModulesMonitor
from iap_simulation.runs.events_so_far import event_tree
from iap_simulation.scenario.modules import is_coordinated
from iap_simulation.tasks.monitor import ObservedPlant, TaskMonitor


class TopicHappenings:
    """Follows what happens in a flight; begins anew where time does.

    Args:
        flight: by nodes.

    Raises:
        BadInput: nodes cannot coordinate its modules.
    """

    def __init__(self, flight: Flight) -> None:
        self._flight, self._meta = flight, flight.meta
        self.forget()

    def forget(self) -> None:
        """Forget what has happened."""
        flight, scenario = self._flight, self._flight.scenario
        self._t = 0.0
        self._seen, self._plant = LiveHappenings(flight), PlantReplay(scenario)
        self._modules = ModulesReplay(flight) if is_coordinated(scenario) else None
        self._task: TaskMonitor[ObservedPlant] | None = DockingMonitor.of(scenario)
        if self._modules is not None:
            self._task = ModulesMonitor(self._modules, flight.vehicles)
        self._losses = {
            flight.meta.vehicles[i].name: EstimateLosses(
                flight.meta.vehicles[i].state_source, spec
            )
            for i, spec in flight.failsafes.items()
        }

    @property
    def estimated(self) -> Sequence[str]:
        """Names of the vehicles whose estimators' health counts."""
        return list(self._losses)

    def note_health(self, vehicle: str, t: float, health: EstimateHealth) -> None:
        """Note what an estimator says of itself at a time [s]."""
        self._losses[vehicle].note(t, health)

    def events(
        self, steps: Steps, objects: Mapping[str, Array], last: LastValue
    ) -> Sequence[Event]:
        """Events up to an instant.

        Args:
            steps: of all vehicles.
            objects: states (13,) of the world's objects, by their names.
            last: returns the value of a vehicle's topic at that instant, or the last one before.
        """
        if steps[0].t < self._t:
            self.forget()
        self._t = steps[0].t
        self._plant.update(steps, last)
        if self._modules is not None:
            self._modules.update(steps, last)
        for i, step in enumerate(steps):
            self._seen.record(i, step)
        tasks = {} if self._task is None else {self._task.key: self._task.events(self._plant)}
        losses = {name: each.events for name, each in self._losses.items()}
        meta = self._meta
        return events_until(meta, self._seen.at(steps, objects, event_tree(meta, tasks, losses)))

# SPDX-License-Identifier: BSD-3-Clause
"""The first instants of a scenario's flight."""

from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.resolving import resolved
from iap_simulation.simulation.simulation import Simulation


class LastSteps:
    """The newest step of every vehicle."""

    def __init__(self):
        self.steps = {}

    def record(self, vehicle, step):
        self.steps[vehicle] = step


def starting_flight(name, seconds=0.0, **settings):
    """A scenario's flight, and the step of every vehicle after some seconds."""
    flight = Flight.of(resolved(name, {"compiled": False, **settings}, {})[0])
    last = LastSteps()
    with Simulation(flight, render=False) as simulation:
        simulation.begin(observers=[last])
        simulation.loop.sense()
        while simulation.t < seconds:
            simulation.step()
        simulation.loop.control()
    return flight, [last.steps[i] for i in range(len(flight.vehicles))]

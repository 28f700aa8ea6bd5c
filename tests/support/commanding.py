# SPDX-License-Identifier: BSD-3-Clause
"""Commands for a Session as nodes send them, by controllers of the scenario's own."""

import numpy as np

from iap_physics.engines.make import make_engine
from iap_physics.session.session import Session
from iap_simulation.flights.plant_spec import plant_spec


def session_of(scenario, timeout=0.1, **options):
    """A session of a scenario's plant."""
    spec = plant_spec(scenario)
    return Session(spec, make_engine(spec.engine), timeout=timeout, **options)


def copies(command):
    """The function that writes a command into another, as a message does."""

    def fill(out):
        out.mode = command.mode
        for name in ("wrench_P", "thrust", "q_WB", "w_WB_B", "rpm"):
            getattr(out, name)[:] = getattr(command, name)

    return fill


def command_of(session, vehicles, i):
    """Answer of a vehicle's controller to the present state."""
    return vehicles[i].controller(session.measured[i], vehicles[i].reference(session.k))


def answer(session, vehicles):
    """Command every vehicle for the present state."""
    for i in range(len(vehicles)):
        session.offer(i, session.t, copies(command_of(session, vehicles, i)))


def states_of(session, vehicles, steps):
    """The first vehicle's rows (steps, bodies, 13) of so many commanded periods."""
    rows = []
    for _ in range(steps):
        rows.append(session.plant.state(0)[0].copy())
        answer(session, vehicles)
        session.advance()
    return np.array(rows)

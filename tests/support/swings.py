# SPDX-License-Identifier: BSD-3-Clause
"""Flights in which a platform feels a wrench, in place and in motion, and what an observer says of it."""

import numpy as np
from flying import DT, STEPPED, controller_of, hover_rpm, plant_of

from iap_description.math import so3
from iap_description.math.random_streams import stream
from iap_description.signals import Reference
from iap_description.states import resting_state
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_physics.engines.joints import joined_rows

NOTHING = np.zeros(6)


def still(t, count):
    row = np.zeros(19 + count)
    row[6] = 1.0
    return row


def swinging(t, count):
    """Sines of 0.3 m and 0.2 rad with a period of 3 s along and about every axis, as the platform begins at rest."""
    row, s = still(t, count), 2.0 * np.pi / 3.0
    shape = np.array([0.3, -0.2, 0.2])
    row[:3], row[7:10] = (1.0 - np.cos(s * t)) * shape, s * np.sin(s * t) * shape
    row[13:16] = s * s * np.cos(s * t) * shape
    row[3:7] = so3.quaternion_exp((1.0 - np.cos(s * t)) * np.array([0.1, 0.1, 0.1]))
    row[10:13] = s * np.sin(s * t) * 0.1
    return row


def estimates_of(
    name, duration, gains, observing, *, wrench_W=NOTHING, at=0.0, reference=still, sense=None
):
    """Estimates (T, 6) in world axes of a flight in which a wrench about P's origin acts from a time on.

    Args:
        observing: makes, of the plant, what gives a wrench (6,) in P by a state and the command that led there.
        sense: makes the measured row (13,) of the true one; None for no noise.
    """
    platform, controller = load_platform(name), controller_of(name, gains)
    plant, count = plant_of(name, gains, **STEPPED), controller.model.count
    start = joined_rows(Assembly.of(platform), resting_state(np.zeros(3), still(0.0, 0)[3:7]))
    plant.reset(start[None], [np.full((count, 4), hover_rpm(platform))], stream(1, "gusts"))
    observe, apply, wrench = observing(plant), plant.engine.apply, np.zeros(6)

    def push(wrenches):
        wrenches[0, 0] += wrench
        apply(wrenches)

    plant.engine.apply = push
    command, estimates = None, []
    for k in range(round(duration / DT)):
        x = plant.state()[0].copy()
        x[0] = x[0] if sense is None else sense(x[0])
        seen_P = NOTHING if command is None else observe(x, command)
        estimates.append(so3.rotate(x[0, 3:7], seen_P.reshape(2, 3)).ravel())
        command = controller(x[0], Reference(reference(k * DT, count)))
        wrench[:] = wrench_W if k * DT >= at else 0.0
        plant.command(0, command)
        plant.advance()
    return np.array(estimates)

# SPDX-License-Identifier: BSD-3-Clause
"""The figure of a docking: distances of the probe's end from the socket's axis and mouth (iap_simulator Fig. 19b)."""

import io
from pathlib import Path

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import FlightFailed
from iap_description.vehicles.latch import approach
from iap_io.runs.run_folder import write_file
from iap_simulation.docking.ports import pair_of, port_frames
from iap_simulation.simulation.simulation import Simulation


def approach_rows(simulation: Simulation) -> Array:
    """(T, 3) time [s], distance before the mouth and off the axis [m] of a whole docking."""
    scenario, rows = simulation.scenario, []
    (target, chaser), _ = pair_of(scenario)
    assert scenario.docking is not None
    ports = port_frames(scenario, scenario.latches[scenario.docking.latch])
    plant, task = simulation.plant, simulation.task
    assert task is not None
    try:
        while not task.is_over:
            pose = approach(plant.state(chaser)[0, 0], plant.state(target)[0, 0], *ports)
            rows.append((simulation.t, -pose.depth, pose.radius))
            simulation.step()
    except FlightFailed:  # the figure ends where the flight does
        pass
    return np.array(rows)


def draw_approach(path: Path, dockings: dict[str, Array], depth: float) -> None:
    """Draw dockings, by names, into a picture.

    Args:
        path: of the picture.
        dockings: rows of `approach_rows`.
        depth: at which the latch catches [m].
    """
    from matplotlib import pyplot  # slow to import

    figure, (along, aside) = pyplot.subplots(2, 1, sharex=True, figsize=(6.0, 4.5))
    for name, rows in dockings.items():
        along.plot(rows[:, 0], rows[:, 1], label=name)
        aside.plot(rows[:, 0], 1e3 * rows[:, 2], label=name)
    along.axhline(-depth, color="0.6", linestyle=":", linewidth=1.0)
    along.set_ylabel("before the mouth [m]")
    aside.set_ylabel("off the axis [mm]")
    aside.set_xlabel("time [s]")
    aside.set_yscale("log")
    along.legend(loc="upper right", fontsize=8)
    figure.tight_layout()
    image = io.BytesIO()
    figure.savefig(image, dpi=150)
    pyplot.close(figure)
    write_file(path, image.getvalue())

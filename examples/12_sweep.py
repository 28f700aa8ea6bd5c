# SPDX-License-Identifier: BSD-3-Clause
"""A sweep: many flights with drawn masses in several winds, on all processors of this machine.

You see the error of the position for each wind. The same work runs on a cluster: iap sweep ... --cluster ADDRESS.
Run it with: python examples/12_sweep.py
"""

import sys

from iap_simulation.scenario.resolving import Options
from iap_simulation.sweeps.process_pool import ProcessPool
from iap_simulation.sweeps.study import Axis, Study
from iap_simulation.sweeps.sweep import sweep
from iap_simulation.sweeps.sweep_folder import SweepFolder
from iap_simulation.sweeps.sweep_table import grouped, quartiles

QUICK = "--quick" in sys.argv


def main():
    """Fly the sweep; processes that import this file must not begin another one."""
    study = Study(
        "hover",
        Options(
            duration=3.0 if QUICK else 10.0,
            # Each seed draws the start within 0.2 m and a mass within 10 % of the model's.
            assignments=("engine.name=closed_form", "draw.position=0.2", "draw.mass=0.1"),
        ),
        axes=(Axis.of("wind.speed=0:8:3"),),  # from 0 to 8 m/s, three values
        seeds=4 if QUICK else 100,
    )
    points = study.points()
    folder = SweepFolder.open(None, study, points)
    swept = sweep(study, points, folder, ProcessPool(2))
    for (wind,), rows in grouped(study.axes, swept.rows).items():
        low, median, high = (1e3 * each for each in quartiles(rows, "position_rmse_m"))
        speed = study.axes[0].values[wind]
        print(f"{speed:.0f} m/s: {median:.0f} mm, half of them {low:.0f} to {high:.0f} mm")
    print(f"{swept.summary['runs']} runs, {swept.summary['failed']} failed: {folder.path}")
    print(f"look at them: iap view {folder.path}")


if __name__ == "__main__":
    main()

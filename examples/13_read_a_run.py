# SPDX-License-Identifier: BSD-3-Clause
"""Read a run folder: what a flight leaves on the disk, as arrays, as a table, and as text files.

You see the errors over time, computed here, and that they agree with metrics.json.
Run it with: python examples/13_read_a_run.py
"""

import csv
import json
import sys
from importlib.util import find_spec

import numpy as np

from iap_description.states import REF_P, P
from iap_io.runs.run_folder import load_run
from iap_simulation import record

folder = record("figure_eight", duration=3.0 if "--quick" in sys.argv else None).folder

# As arrays: one row a control period. docs/getting_started/python.md says more.
columns = load_run(folder).vehicles[0].columns
error = np.linalg.norm(columns.x[:, 0, P] - columns.reference[:, REF_P], axis=1)  # [m]
thrust = columns.aircraft[:, :, 0]  # (rows, aircraft) [N]
print(f"{len(columns.t)} rows, position error {1e3 * np.sqrt(np.mean(error**2)):.3f} mm RMS")

# As metrics: the same figure, and all others.
metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
print(f"metrics.json: {1e3 * metrics['position_rmse_m']:.3f} mm RMS")

# As text: trajectories in TUM's layout, time and pose in each line, for any tool.
tum = np.loadtxt(folder / "trajectory_iap.tum")
print(f"{tum.shape[0]} poses, {np.linalg.norm(np.diff(tum[:, 1:4], axis=0), axis=1).sum():.2f} m")

# As a table, with pandas where it is installed.
names = ["t", "error_m", *(f"thrust_{i}_n" for i in range(1, thrust.shape[1] + 1))]
rows = np.column_stack([columns.t, error, thrust])
if find_spec("pandas"):
    import pandas as pd

    table = pd.DataFrame(rows, columns=names)
    print(table.describe().round(4))
    table.to_csv(folder / "flight.csv", index=False)
else:
    with (folder / "flight.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *rows.tolist()])
print(f"table: {folder / 'flight.csv'}")

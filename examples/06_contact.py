# SPDX-License-Identifier: BSD-3-Clause
"""Contact: a rod meets a wall whose place nobody knows, and pushes with 5 N.

You see when the tip touches, how hard it pushes from then on, and how fast it came.
Run it with: python examples/06_contact.py
"""

import sys

import numpy as np

from iap_io.runs.run_folder import load_run
from iap_simulation import record

DURATION = 13.0 if "--quick" in sys.argv else None  # [s]

result = record("wall_push", duration=DURATION)
columns = load_run(result.folder).vehicles[0].columns

# What the environment does to the platform is in the recording: raw, filtered, estimated and desired.
# The rod points along -x: the wall pushes back along x of the platform.
RAW, FILTERED, ESTIMATED, DESIRED = range(4)
times, force = columns.t, columns.wrench_record.wrenches[:, FILTERED, 0]
touching = force > 0.5  # [N]
print(f"first contact at {times[touching][0]:.2f} s")
for t in np.arange(np.ceil(times[touching][0]), times[-1], 1.0):
    now = (times >= t) & (times < t + 1.0)
    print(f"{t:4.0f} s: {force[now].mean():5.2f} N, at most {force[now].max():5.2f} N")

metrics = result.metrics
print(f"largest force: {metrics['force_max_n']:.1f} N")
print(f"fastest approach: {1e3 * metrics['approach_speed_max_mps']:.0f} mm/s")
print(f"plots: iap plot {result.folder} contact wrench")

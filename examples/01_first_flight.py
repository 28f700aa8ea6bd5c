# SPDX-License-Identifier: BSD-3-Clause
"""First flight: three quadrotors on one body fly a spiral, and the run is judged.

You see the errors of position and attitude, the largest thrust of an aircraft, and where the recording is.
Run it with: python examples/01_first_flight.py
"""

import sys

from iap_simulation import record

QUICK = "--quick" in sys.argv  # a shorter flight, for tests

# One call flies the scenario in the physics engine, records it, and computes its errors.
result = record("three_star_spiral", duration=4.0 if QUICK else None, seed=1)

metrics = result.metrics  # also in the file metrics.json of the run's folder
print(f"outcome: {metrics['outcome']} after {metrics['duration_s']:.1f} s")
print(f"position error: {1e3 * metrics['position_rmse_m']:.2f} mm RMS")
roll, pitch, yaw = metrics["attitude_rmse_deg"]
print(f"attitude error: roll {roll:.3f}, pitch {pitch:.3f}, yaw {yaw:.3f} deg RMS")
print(f"largest thrust of an aircraft: {metrics['thrust_max_n']:.1f} N")

# The same flight with the gains that the paper prints, which are softer.
paper = record("three_star_spiral", duration=4.0 if QUICK else None, seed=1, gains="paper")
print(f"with the paper's gains: {1e3 * paper.metrics['position_rmse_m']:.2f} mm RMS")

print(f"recording: {result.folder}")
print(f"look at it in the browser: iap view {result.folder}")

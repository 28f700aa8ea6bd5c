# SPDX-License-Identifier: BSD-3-Clause
"""An arm in flight: its swing pushes the platform about, unless the controller knows of it.

You see how far a quadrotor moves while an elbow of its arm swings, without and with feed-forward.
Run it with: python examples/08_arm.py
"""

import sys

from iap_simulation import record

DURATION = 6.0 if "--quick" in sys.argv else None  # [s]

# `none`: the controller takes the vehicle for rigid. `com`: it follows the centre of mass.
# `inertia`: it also feeds forward what carries on the arm's motion.
for feed_forward in ("none", "com", "inertia"):
    result = record(
        "arm_hover_swing",
        duration=DURATION,
        settings={"arm.feed_forward": feed_forward, "compare": {}},
    )
    arm = result.metrics["arm"]
    rms, largest = 1e3 * arm["base_rmse_m"], 1e3 * arm["base_max_m"]
    print(f"{feed_forward:8} platform {rms:5.1f} mm RMS, at most {largest:5.1f} mm")

print("pick a box: iap run arm_pick; follow a path: iap run arm_path")

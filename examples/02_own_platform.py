# SPDX-License-Identifier: BSD-3-Clause
"""Your own platform: three aircraft at the corners of a slender triangle, in one YAML file.

You see how well it follows a figure-eight, beside the platform that it is made of.
Run it with: python examples/02_own_platform.py
"""

import sys
from pathlib import Path

from iap_simulation import record

QUICK = "--quick" in sys.argv  # a shorter flight, for tests

# A platform is one YAML file. What it does not say is taken from the platform that it extends.
FILE = Path("slender.yaml")
FILE.write_text(
    """\
extends: three_star
name: slender
description: Three aircraft at the corners of a slender triangle.
center: {mass: 1.4}                  # [kg]
joints:                              # where the aircraft are joined to the body [m]
  - {type: spherical, position: [1.1, 0.0, 0.0], yaw_deg: 0.0}
  - {type: spherical, position: [-0.6, 0.7, 0.0], yaw_deg: 0.0}
  - {type: spherical, position: [-0.6, -0.7, 0.0], yaw_deg: 0.0}
""",
    encoding="utf-8",
)

# The controller is made for the platform: its mass, inertia and allocation follow from the file.
for platform in ("three_star", str(FILE)):
    result = record("figure_eight", platform=platform, duration=3.0 if QUICK else None)
    metrics = result.metrics
    print(
        f"{metrics['platform']}: {1e3 * metrics['position_rmse_m']:.2f} mm RMS,"
        f" largest thrust {metrics['thrust_max_n']:.1f} N, {metrics['outcome']}"
    )

print(f"what it can do: iap list --platform {FILE}")
print(f"fly it: iap run figure_eight --platform {FILE}")

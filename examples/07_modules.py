# SPDX-License-Identifier: BSD-3-Clause
"""Joined modules: two vehicles with tilting rotors fly as one body and should not push each other.

You see the force and the torque in the joint between them, which are small.
Run it with: python examples/07_modules.py
"""

import sys

from iap_simulation import record

DURATION = 8.0 if "--quick" in sys.argv else 30.0  # [s]

# The coordinator shares the load between the modules; each of them flies by what it senses itself.
result = record("module_hover", duration=DURATION)
modules = result.metrics["modules"]
print(f"outcome: {result.metrics['outcome']}")
for name, joint in modules["joints"].items():
    print(
        f"joint {name}: {joint['force_n']:.3f} N and {joint['torque_nm']:.4f} N m on average,"
        f" {joint['force_rms_n']:.3f} N RMS"
    )

# Each module is a vehicle of its own, with errors of its own.
for name, metrics in result.metrics["vehicles"].items():
    roll, pitch, yaw = metrics["attitude_rmse_deg"]
    print(f"{name}: roll {roll:.3f}, pitch {pitch:.3f}, yaw {yaw:.3f} deg RMS")

print("more of them: iap run module_hover --set modules.count=4")
print("dock, release, fly a square: iap list scenarios")

# SPDX-License-Identifier: BSD-3-Clause
"""The ROS parameters with which other packages' nodes fly a resolved scenario; launch files and tests use them."""

from typing import Any

import yaml

from iap_bringup.scenario import Scenario, Vehicle
from iap_control.gains import preset_names

CHANGEABLE_GAINS = ("kP", "kI", "kD", "integral_limit")
FIXED_GAINS = ("per_inertia", "com_coupling", "rate_filter")


def controller_parameters(scenario: Scenario, vehicle: Vehicle) -> dict[str, Any]:
    """What makes a controller_node the controller of a scenario's vehicle, bit for bit."""
    control, noise = vehicle.control, vehicle.state_noise
    gains = control.gains
    is_noisy = any(noise.model_dump().values())
    return {
        "platform": yaml.safe_dump(vehicle.platform.model_dump(mode="json"), sort_keys=False),
        "gains.preset": control.preset if control.preset in preset_names() else "default",
        **{f"gains.{name}": list(getattr(gains, name)) for name in CHANGEABLE_GAINS},
        **{f"gains.{name}": getattr(gains, name) for name in FIXED_GAINS},
        "gains.rigid.kP": list(gains.rigid.kP),
        "gains.rigid.kD": list(gains.rigid.kD),
        "yaw_mode": control.yaw,
        "control_rate": scenario.rates.control_hz,
        "gravity": scenario.world.gravity,
        "state_topic": "state/measured" if is_noisy else "state",
    }

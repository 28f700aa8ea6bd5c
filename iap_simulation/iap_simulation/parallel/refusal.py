# SPDX-License-Identifier: BSD-3-Clause
"""What cannot be flown in many worlds at once."""

from iap_control.controller import AUTO, LAWS
from iap_io.runs.run_meta import TRUTH
from iap_simulation.scenario.scenario import Scenario

ENGINE = "closed_form"  # that flies them


def refusal(scenario: Scenario) -> str | None:
    """Why a scenario cannot be flown in many worlds at once, in one line; None where it can."""
    if len(scenario.vehicles) > 1:
        return "several vehicles in one world"
    (vehicle,) = scenario.vehicles
    engine, law, source = scenario.engine.name, vehicle.control.law, vehicle.control.state_source
    reasons = {
        f"engine.name: {engine}": engine != ENGINE,
        "sensors": bool(vehicle.sensors.topics) or bool(scenario.cameras),
        f"control.state_source: {source}": source != TRUTH,
        f"control.law: {law}": law not in (AUTO, *LAWS),
        "faults": bool(vehicle.faults),
        "contact, or a disturbance whose wrench is measured": scenario.has_contact(vehicle),
    }
    return next((what for what, is_so in reasons.items() if is_so), None)

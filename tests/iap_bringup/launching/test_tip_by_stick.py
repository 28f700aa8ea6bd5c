# SPDX-License-Identifier: BSD-3-Clause
"""Actions of teleop.launch.py by its arguments: a platform's reference by hand, or an end effector's twists."""

import pytest

from iap_bringup.launching.flight_nodes import flight_nodes
from iap_bringup.launching.launch_arguments import by_stick, flight_parameters, resolve_flight
from iap_description.errors import BadInput

GIVEN = {"reference": "true", "record": "false", "pace": "realtime", "localization": ""}
REST = {"seed": "-1", "duration": "0", "out": ""}


def launched(**given: str) -> dict[str, str]:
    """Parameters `arm` of the nodes that are launched, by their executables; "" where they have none."""
    found = {**GIVEN, **REST, **given, **by_stick({"vehicle": "iap", **given})}
    parameters = flight_parameters(found)
    nodes = flight_nodes(resolve_flight(parameters)[0], parameters, found)
    return {node.executable: str(node.parameters.get("arm", "")) for node in nodes}


def test_a_stick_gives_a_platform_s_reference() -> None:
    assert by_stick({"tip": "false", "vehicle": "m1"}) == {
        "by_hand": "m1",
        "scenario": "hover",
        "set": "",
    }
    assert "reference_node" not in launched(tip="false")


def test_a_stick_moves_an_end_effector_by_messages_on_the_platform_that_is_asked_for() -> None:
    nodes = launched(tip="true", platform="m100_arm", set="arm.motion.leash=0.2")
    assert set(nodes) == {"physics_node", "controller_node", "reference_node"}
    assert "type: tip_stick" in nodes["controller_node"]
    assert "demands: []" in nodes["controller_node"]
    assert "leash: 0.2" in nodes["controller_node"]


def test_a_scenario_whose_arm_follows_no_stick_is_refused() -> None:
    with pytest.raises(BadInput, match="unknown key 'arm.motion.demands'"):
        launched(tip="true", scenario="arm_hover_swing")

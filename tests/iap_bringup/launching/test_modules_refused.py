# SPDX-License-Identifier: BSD-3-Clause
"""Joined modules are not launched as nodes, of which none would coordinate them; one alone is."""

import pytest

from iap_bringup.launching.flight_nodes import flight_nodes
from iap_description.errors import BadInput
from iap_simulation.scenario.resolving import Options, resolve

GIVEN = {"reference": "true", "record": "false", "pace": "lockstep", "localization": "", "out": ""}
FLIGHT = {"scenario": "module_hover", "bag": "", "assignments": []}


def test_joined_modules_are_refused_and_one_alone_is_launched() -> None:
    scenario, _ = resolve("module_hover", Options())
    with pytest.raises(BadInput, match="fly in one process"):
        flight_nodes(scenario, FLIGHT, GIVEN)
    alone, _ = resolve("module_hover", Options(assignments=("modules.count=1",)))
    assert flight_nodes(alone, FLIGHT, GIVEN)

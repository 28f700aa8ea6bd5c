# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios that fly as nodes: all but those of joined modules."""

from iap_simulation.scenario.resolving import SCENARIOS

NODE_SCENARIOS = [
    name for name in SCENARIOS.names() if "modules" not in SCENARIOS.extended(SCENARIOS.file(name))
]

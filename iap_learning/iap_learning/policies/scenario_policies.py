# SPDX-License-Identifier: BSD-3-Clause
"""Policies that scenarios name by their key `policy`."""

from typing import Any

from iap_description.errors import BadInput
from iap_learning.policies.policy import Policy, policy_file
from iap_simulation.loop.agents import AGENTS, POLICY, registered
from iap_simulation.scenario.scenario import Scenario

KEY = "key 'policy'"  # of a scenario, for errors


def policy_of(scenario: Scenario) -> Policy:
    """A scenario's policy.

    Raises:
        BadInput: there is none, or it cannot be read.
    """
    if scenario.policy is None:
        raise BadInput(f"{KEY}: no policy is given")
    try:
        file = policy_file(scenario.policy)
    except BadInput as error:
        agents = ", ".join(name for name in registered(AGENTS) if name != POLICY)
        raise BadInput(f"{KEY}: {error}, or an agent: {agents}, module:Class") from error
    return Policy.load(file)


def periods(policy: Policy, scenario: Scenario) -> int:
    """Control periods between two actions.

    Raises:
        BadInput: there is no whole number of them.
    """
    ratio = scenario.rates.control_hz / policy.header.rate_hz
    if ratio < 1.0 or abs(ratio - round(ratio)) > 1e-9:
        raise BadInput(
            f"{policy.source}: key 'rate_hz': {policy.header.rate_hz:g} Hz does not divide"
            f" rates.control_hz, {scenario.rates.control_hz:g} Hz"
        )
    return round(ratio)


def info_of(policy: Policy) -> dict[str, Any]:
    """Key `policy` of metrics.json."""
    header = policy.header
    return {"name": policy.name, "task": header.task, "sha256": policy.digest}

# SPDX-License-Identifier: BSD-3-Clause
"""Docking by a learned policy: one aircraft puts its probe into another one's socket, in the air.

You see how often it succeeds, how long it takes and how hard it touches, beside a tuned script.
Run it with: python examples/09_dock_by_a_policy.py
"""

import sys

from iap_learning.evaluation.batched import fly_batched
from iap_learning.evaluation.flyers import baseline, of_policy
from iap_learning.policies.policy import Policy
from iap_learning.tasks.kinds.registry import make_task

EPISODES = 32 if "--quick" in sys.argv else 500

# A policy is one file: the network, and what it was trained for. Shipped ones go by their names.
policy = of_policy(Policy.load("docking_nominal"))

# All episodes fly side by side, each from a start that its seed draws.
task = make_task("docking")
for agent in (policy, baseline("script")):
    results = fly_batched(task, agent, range(1_000_000, 1_000_000 + EPISODES))
    figures = results.figures
    print(
        f"{agent.name}: {figures['successes']} of {figures['episodes']} docked,"
        f" in {figures['time_mean']:.2f} s on average,"
        f" 95 % with less than {figures['force_peak_95']:.0f} N"
    )

print("see one: iap run docking; judge it: iap evaluate docking")

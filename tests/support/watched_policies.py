# SPDX-License-Identifier: BSD-3-Clause
"""Policies whose observations are kept."""

import numpy as np

from iap_learning.policies.policy import Policy


def observed_rows(monkeypatch):
    """Observations that policies get from now on."""
    rows, acting = [], Policy.acting

    def watched(policy):
        act = acting(policy)

        def answer(observation):
            rows.append(np.array(observation))
            return act(observation)

        return answer

    monkeypatch.setattr(Policy, "acting", watched)
    return rows

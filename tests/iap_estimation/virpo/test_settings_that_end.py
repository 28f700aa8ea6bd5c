# SPDX-License-Identifier: BSD-3-Clause
"""Settings of estimators whose updates come to an end."""

import pytest

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_estimation.virpo.spec import PRESETS, VirpoSpec


def spec_with(iterations):
    tree = {**PRESETS.tree("default"), "iterations": iterations}
    return validate(VirpoSpec, tree, source="settings")


@pytest.mark.parametrize("iterations", [0, 101, 10**9])
def test_an_update_has_a_hundred_steps_at_most(iterations):
    with pytest.raises(BadInput, match="^settings: key 'iterations'"):
        spec_with(iterations)
    assert spec_with(100).iterations == 100

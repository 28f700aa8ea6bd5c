# SPDX-License-Identifier: BSD-3-Clause
"""Recorded wrenches are flown by platforms of about the weight that they hold up."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flying import controller_of

from iap_control.controllers.wrench_follower import WrenchFollower
from iap_description.errors import BadInput


@pytest.mark.parametrize(
    ("share", "flies"), [(0.39, False), (0.41, True), (1.0, True), (1.98, True), (2.02, False)]
)
def test_a_mean_force_holds_up_between_four_tenths_of_the_weight_and_twice_it(share, flies):
    controller = controller_of("three_star")
    model = controller.model
    weight = model.inertia.mass * model.inertia.gravity
    wrenches = np.zeros((4, 6))
    wrenches[:, 2] = share * weight * np.array([0.5, 1.5, 0.9, 1.1])
    command: Any = SimpleNamespace(source="flight.mcap", wrenches=wrenches)
    if flies:
        WrenchFollower.of(command, model, controller, 0.0)
        return
    said = (
        rf"^flight\.mcap: its mean force along z is .* N, and the platform weighs {weight:.3g} N"
    )
    with pytest.raises(BadInput, match=said):
        WrenchFollower.of(command, model, controller, 0.0)


def test_a_platform_that_cannot_push_sideways_flies_no_recorded_wrenches():
    controller = controller_of("f450")
    command: Any = SimpleNamespace(source="flight.mcap", wrenches=np.zeros((4, 6)))
    with pytest.raises(BadInput, match=r"flown by platforms that push along every axis"):
        WrenchFollower.of(command, controller.model, controller, 0.0)

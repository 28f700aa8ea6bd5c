# SPDX-License-Identifier: BSD-3-Clause
"""The paper's expert: it aligns at a gate, pushes with a constant force, and stays where the latch caught."""

import numpy as np
import pytest

from iap_control.docking.vehicle_control import POSITION, VELOCITY
from iap_control.docking.wrench_guidance import (
    WrenchGuidance,
    guidance_memory,
    guide_by_wrench,
)
from iap_description.states import P, Q
from iap_simulation.docking.pair_laws import docked_positions, pair_laws
from iap_simulation.scenario.resolving import Options, resolve

GAINS = WrenchGuidance(
    stiffness=4.0, integral=0.0, damping=3.0, reach=0.5, gate=0.1, aligned=0.02, way_off=0.05,
    push=0.7, drag=2.0,
)  # fmt: skip


class Pair:
    """Two level aircraft at rest, the chaser's probe so far before the mouth and aside [m]."""

    def __init__(self, before, aside=0.0):
        scenario, _ = resolve("docking", Options())
        self.laws, self.references = pair_laws(scenario).pair, docked_positions(scenario)
        self.measured = np.zeros((1, 2, 13))
        self.measured[0, :, Q] = [0.0, 0.0, 0.0, 1.0]
        self.measured[0, :, P] = self.references
        depth = scenario.latches["dock"].depth
        self.measured[0, 1, :3] += [aside, -(depth + before), 0.0]
        self.observed, self.memory = np.zeros((1, 2, 13)), guidance_memory(1)
        self.out = np.zeros((1, 2, 3))
        for i in range(2):
            self.observed[0, i, POSITION : POSITION + 3] = self.measured[0, i, :3]

    def guided(self, *, latched=False):
        """Accelerations (2, 3) of target and chaser."""
        guide_by_wrench(
            self.measured, np.array([latched]), self.observed, GAINS, self.references, self.laws,
            self.memory, self.out,
        )  # fmt: skip
        return self.out[0].copy()


@pytest.mark.parametrize(
    ("before", "aside", "pushes"), [(0.11, 0.01, True), (0.2, 0.0, False), (0.1, 0.03, False)]
)
def test_who_is_aligned_at_the_gate_pushes_against_a_damper_and_who_is_not_flies_there(
    before, aside, pushes
):
    pair = Pair(before, aside)
    target, chaser = pair.guided()
    np.testing.assert_allclose(target, 0.0, atol=1e-9)
    assert chaser[0] == pytest.approx(-4.0 * aside)
    assert chaser[1] == pytest.approx(0.7 if pushes else 4.0 * (before - 0.1), abs=1e-9)
    pair.observed[0, 1, VELOCITY + 1] = 0.1  # closing
    slowed = pair.guided()[1]
    assert chaser[1] - slowed[1] == pytest.approx((2.0 if pushes else 3.0) * 0.1)


def test_who_is_off_before_the_mouth_goes_back_to_the_gate():
    pair = Pair(0.1)
    assert pair.guided()[1, 1] == pytest.approx(0.7)
    pair.observed[0, 1, POSITION] += 0.06
    assert pair.guided()[1, 1] == pytest.approx(0.0, abs=1e-9)


def test_a_latched_pair_stays_where_the_latch_caught_until_it_opens():
    pair = Pair(-0.1)
    np.testing.assert_allclose(pair.guided(latched=True), 0.0, atol=1e-9)
    step = np.array([[0.1, 0.0, 0.0], [0.0, -0.1, 0.2]])
    pair.observed[0, :, POSITION : POSITION + 3] += step
    np.testing.assert_allclose(pair.guided(latched=True), -4.0 * step, atol=1e-9)
    pair.guided()
    np.testing.assert_allclose(pair.guided(latched=True), 0.0, atol=1e-9)

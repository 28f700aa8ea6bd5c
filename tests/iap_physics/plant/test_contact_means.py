# SPDX-License-Identifier: BSD-3-Clause
"""Means of contact wrenches over control periods, in one world and in batches."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from iap_physics.plant.contact_wrenches import BatchContactWrenches, ContactWrenches
from iap_physics.plant.part import PlantPart


class Magnet(PlantPart):
    """Pulls a body by what its place was before the step, times a strength."""

    def __init__(self, strength: float) -> None:
        self.strength = strength

    def add_reaction(self, row: int, before: np.ndarray, out: np.ndarray) -> None:
        out[:3] += self.strength * before[row, :3]


def test_a_wrench_is_the_mean_of_contacts_and_parts_over_the_steps_of_its_period() -> None:
    """Vehicle 4 with the row 1, and vehicle 0 with the row 2."""
    touch = {1: np.arange(6.0), 2: np.full(6, -5.0)}
    engine: Any = SimpleNamespace(contact_wrench=touch.__getitem__)
    measured = ContactWrenches(engine, {4: 1, 0: 2}, [Magnet(1.0), PlantPart(), Magnet(10.0)])
    before = np.zeros((3, 13))
    before[1, :3], before[2, :3] = (1.0, 2.0, 3.0), (0.0, 0.0, 6.0)
    measured.reset(before[None], np.array([0]))
    for _ in range(2):  # periods alike
        measured.begin_period(7, 0.1)
        for _ in range(3):
            measured.end_step(before, 0.1)
        measured.end_period()
        np.testing.assert_allclose(measured.wrench(4), [11.0, 23.0, 35.0, 3.0, 4.0, 5.0])
        np.testing.assert_allclose(measured.wrench(0), [-5.0, -5.0, 61.0, -5.0, -5.0, -5.0])
    assert measured.wrench(1).tolist() == [0.0] * 6  # of which none is measured
    measured.reset(before[None], np.array([0]))
    assert not measured.wrench(4).any() and not measured.wrench(0).any()


def test_wrenches_of_a_batch_are_the_engines_sums_over_the_steps_and_begin_anew() -> None:
    asked: list[list[int]] = []
    engine: Any = SimpleNamespace(
        felt=np.arange(24.0).reshape(2, 2, 6), measure_contacts=asked.append
    )
    measured = BatchContactWrenches(engine, {3: 8, 1: 2}, substeps=4)
    assert asked == [[8, 2]]
    np.testing.assert_array_equal(measured.wrenches(1), engine.felt[:, 1] / 4.0)
    np.testing.assert_array_equal(measured.wrenches(3), engine.felt[:, 0] / 4.0)
    assert measured.wrenches(0).shape == (2, 6) and not measured.wrenches(0).any()
    measured.begin_period(0, 0.0)
    assert not engine.felt.any()

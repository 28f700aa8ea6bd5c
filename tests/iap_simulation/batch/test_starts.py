# SPDX-License-Identifier: BSD-3-Clause
"""Starts of many worlds at once are those of single runs, bit for bit."""

import numpy as np
import pytest

from iap_simulation.batch.starts import Starts
from iap_simulation.batch.worlds import Worlds
from iap_simulation.vehicles.parts import vehicle_start

SCATTERED = {"draw.position": 0.3, "draw.attitude_deg": 15.0}


@pytest.mark.parametrize(
    "platform", ["three_star", "two_line", "f450", "three_star_fixed", "beetle", "tilt_3"]
)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"draw.com": 0.01, "draw.mass": 0.1, "model_error.com": [0.01, 0.0, 0.002]},
        {"start.mode": "ground"},
    ],
)
def test_starts_are_those_of_single_runs(platform, settings):
    worlds = Worlds.of("hover", 2, settings={**SCATTERED, **settings}, platform=platform)
    scenario, vehicle = worlds.scenario, worlds.flight.vehicles[0]
    starts = Starts(scenario, vehicle)
    seeds = np.random.default_rng(1).integers(0, 2**53, 40)
    x, rpm, tilt = starts(seeds)
    first = vehicle.timeline.row(0)
    for i, seed in enumerate(seeds.tolist()):
        seeded = scenario.model_copy(update={"seed": seed})
        alone = vehicle_start(seeded, seeded.vehicles[0], starts.assembly, vehicle.model, first)
        np.testing.assert_array_equal(x[i], alone[0])
        np.testing.assert_array_equal(rpm[i], alone[1])
        np.testing.assert_array_equal(tilt[i], alone[2])
    assert len(np.unique(x[:, 0, 0])) == len(seeds)
    one_x, one_rpm, _ = starts(seeds[3:4])
    np.testing.assert_array_equal(one_x[0], x[3])
    np.testing.assert_array_equal(one_rpm[0], rpm[3])

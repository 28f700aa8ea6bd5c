# SPDX-License-Identifier: BSD-3-Clause
"""An estimator's numbers of inertial units: those of the data, or those of its settings in their place."""

import math

import numpy as np
import pytest

from iap_estimation.navigation.fleet_data import CentreData, fleet_of
from iap_estimation.virpo.spec import load_spec

DENSITIES = np.array([1e-3, 2e-2, 3e-5, 4e-4])
SCALE = 0.01


@pytest.mark.parametrize("memory", [0.25, 4.0])
def test_an_error_of_scale_is_noise_with_the_memory_of_the_motion(memory: float) -> None:
    """White noise of the density sqrt(2 tau) sigma has the variance of an error sigma that lasts tau."""
    spec = load_spec()
    errors = spec.inertial.model_copy(
        update={"scale_memory": memory, "gyro_noise": None, "gyro_walk": None, "gyro_scale": None}
    )
    centre = CentreData(np.zeros((2, 3)), DENSITIES, 0.01, gyro_scale=SCALE)
    fleet = fleet_of([], centre, spec.model_copy(update={"inertial": errors}), 9.81)
    expected = [DENSITIES[0], DENSITIES[2], SCALE * math.sqrt(2.0 * memory)]
    np.testing.assert_allclose(fleet.turn_noise, expected, rtol=1e-12)

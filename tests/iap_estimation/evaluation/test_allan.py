# SPDX-License-Identifier: BSD-3-Clause
"""Allan deviation: slopes of white noise and of a walk, and the densities that explain a log."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_estimation.evaluation.allan import allan_deviation, densities, octaves

DT, COUNT = 0.005, 40_000
NOISE, WALK = 0.01, 0.004  # densities


def rates(noise, walk):
    """(COUNT, 3) rates of an unit at rest."""
    rng = np.random.default_rng(7)
    white = noise / np.sqrt(DT) * rng.standard_normal((COUNT, 3))
    steps = walk * np.sqrt(DT) * rng.standard_normal((COUNT, 3))
    return white + np.cumsum(steps, axis=0)


def test_white_noise_averages_out_by_the_root_of_time():
    clusters = octaves(COUNT)
    found = allan_deviation(rates(NOISE, 0.0), DT, clusters).mean(axis=1)
    np.testing.assert_allclose(found, NOISE / np.sqrt(clusters * DT), rtol=0.15)


def test_clusters_double_up_to_a_share_of_the_log():
    assert octaves(1000, 1.0 / 50.0).tolist() == [1, 2, 4, 8, 16]
    with pytest.raises(BadInput, match="16 samples are less than two clusters"):
        allan_deviation(np.zeros((16, 1)), DT, np.array([8]))


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_both_densities_are_found_at_once_in_any_unit(scale):
    found = densities(scale * rates(NOISE, WALK), DT)
    assert found.noise == pytest.approx(scale * NOISE, rel=0.05)
    assert found.walk == pytest.approx(scale * WALK, rel=0.3)

# SPDX-License-Identifier: BSD-3-Clause
"""Limits from which checks of data sets refuse, doubt or correct: who tunes one has to change it here too."""

from typing import Any

import numpy as np
import pytest

from iap_estimation.datasets import (
    accelerometer_axes,
    bag_clocks,
    bag_messages,
    bag_samples,
    bag_source,
    data_sample,
    dead_ranges,
    deep_images,
    euroc_source,
    fleet_bag_source,
    image_checks,
    image_rotation,
    inertial_checks,
    initial_states,
    loss_checks,
    method_results,
    range_bag_source,
    range_checks,
    range_motion,
    range_start,
    results,
    run_source,
    stereo_scale,
    stream_checks,
    understanding,
    virtual_ranges,
)

NUMBERS: tuple[tuple[Any, dict[str, Any]], ...] = (
    (accelerometer_axes, {"SPAN": 1.0, "MEAN": 0.4, "FEWEST": 10, "TURNS": 4.0, "LARGE": 6.0, "BETTER": 0.35}),
    (bag_clocks, {"SPAN_NS": 20 * 10**9, "EARLY": 0.3, "LATE": 5.0, "TRUTH_APART": 0.1, "UNSET": 0.01}),
    (bag_messages, {"UNIT_TOLERANCE": 0.01}),
    (bag_samples, {"RATE_SAMPLES": 50}),
    (bag_source, {"OTHER_BASELINE": 0.2}),
    (data_sample, {"SAMPLE_DURATION": 20.0, "MAX_IMAGES": 240, "MAX_PIXELS": 2**28, "CORNERS": 150, "QUALITY": 0.01,
                   "CORNER_SPACING": 12.0, "BACK": 0.7, "OFF_ROW": 2.0, "LEAST_DISPARITY": 3.0, "PAIR_LEVELS": 5,
                   "FEWEST_RAYS": 20}),
    (dead_ranges, {"MANY": 50, "CHANGED": 0.5}),
    (deep_images, {"MAX_LEVEL": 65535, "LOOKED_AT": 10, "LOW": 0.5, "HIGH": 99.5, "MARGIN": 0.1, "WIDE": 0.5}),
    (euroc_source, {"UNIT_TOLERANCE": 0.01}),
    (fleet_bag_source, {"NO_ATTITUDE": -1.0, "UNIT_WITHIN": 0.01}),
    (image_checks, {"FLAT": 8.0, "FULL": 0.9, "FEW_REPEATED": 0.03, "MANY": 0.2, "AT_REST": 0.04,
                    "FOCAL": (0.08, 30.0), "OFF_CENTRE": 0.45, "NARROWEST": 0.003, "FARTHEST": 5.0,
                    "FIRST_PAIRS": 4}),
    (image_rotation, {"FARTHEST": 0.3, "STEP": 0.02, "BLOCKS": 10, "CONTRAST": 3.0, "FEWEST_PAIRS": 40,
                      "FEWEST_BLOCKS": 3, "KEPT": 0.9}),
    (inertial_checks, {"LIKELY": (0.6, 1.6), "GRAVITY_TOLERANCE": 0.2, "STEADY": 0.5, "LEANING": 45.0,
                       "ON_ITS_HEAD": 0.5, "LOOKS_UP": 0.7, "BETTER": 0.3, "DOUBTFUL": 1.5, "SEEN": 1.5e-3,
                       "TURNING": 0.6, "LARGE": 15.0, "FEWEST_BUMPS": 20, "MIN_ACCELERATION": 0.1, "MATCHES": 0.2,
                       "DIFFERS": 0.5, "STEP": 0.01, "BUMP_HALF": 0.3, "BUMP_PERIOD": 0.1}),
    (initial_states, {"MIN_FORCE_RATIO": 0.3, "LEVELLING_TIME": 0.1}),
    (loss_checks, {"MOST_BLIND": 0.3, "FEWEST_RESTARTS": 3, "LEAST_TIME": 10.0, "LEAST_OFF": 0.08, "WORSE": 1.8,
                   "MOST_OFF": 0.5}),
    (method_results, {"WARM_UP_TIME": 1.0}),
    (range_bag_source, {"MAX_LEVER": 5.0, "MAX_TICKS": 2**62}),
    (range_checks, {"MOMENT": 0.5, "MOMENT_RANGES": 15, "MOMENTS": 20, "MISFIT": 0.15, "FIT": 0.05, "LARGE": 0.15,
                    "GAIN": 0.5, "FAR_BELOW": 0.3, "ALIKE": 1.5, "LEFT": 0.08, "MISPLACED": 1.0, "SUSPECTS": 8,
                    "IN_A_RING": 5}),
    (range_motion, {"WINDOW": 10.0, "MAX_WINDOWS": 12, "FEWEST": 15, "NOISE": 0.1, "BIASES": (0.2, 0.01),
                    "ASIDE": 6.0, "BETTER": 0.8, "FAR_BETTER": 0.15, "FITS": 6.0, "FITS_UPWARDS": 2.0, "SURE": 40.0,
                    "THICKNESS": 0.5}),
    (range_start, {"TRIAL": 10.0, "FIRST_ROUNDS": 10, "ROUNDS": 100, "STILL": 1e-4, "FEWEST": 4,
                   "DEVIATIONS": {"position": 0.3, "yaw_deg": 30.0, "tilt_deg": 5.0, "velocity": 0.5,
                                  "gyro_bias": 0.02, "accel_bias": 0.3}}),
    (results, {"MILLISECONDS": 1e3, "NORMAL": 1.4826}),
    (run_source, {"STAMP_TOLERANCE": 1e-6}),
    (stereo_scale, {"FEWEST_CORNERS": 12, "KEPT": 0.8, "FEWEST": 25, "WINDOW": 8.0, "TOLD": 0.15,
                    "LIKE": (1.0 / 1.5, 1.5), "SURE": 4.0, "CORRELATED": 3.0}),
    (stream_checks, {"FASTEST": 20e3, "FEWEST": 50, "EMPTY": 0.1, "HELD": 2.0, "EVEN": 0.5, "VALUES": 100,
                     "OFTEN": 5.0, "RUNS": 10, "WORTH_A_WORD": 0.01, "STEP": 0.02, "SMOOTH": 5, "FARTHEST": 2.0,
                     "LEAST_TURNING": 0.05, "ALIKE": 0.9, "BETTER": 0.1, "LEAST_LAG": 0.04}),
    (understanding, {"LEAST_DELAY": 0.005, "DEVIATIONS": 3.0, "UNSURE": 0.02, "MARGIN": 0.05, "ODD_DEVIATION": 15.0,
                     "LEAST_OFF": 0.01, "UNEXPLAINED": 0.3, "MAX_ANCHORS": 5, "ALIKE": 0.3}),
    (virtual_ranges, {"LONGEST_GAP": 0.2, "MAX_RATE": 1000.0}),
)  # fmt: skip


@pytest.mark.parametrize(("module", "numbers"), NUMBERS, ids=[m.__name__ for m, _ in NUMBERS])
def test_a_check_has_the_limits_that_it_was_tuned_with(
    module: Any, numbers: dict[str, Any]
) -> None:
    found = vars(module)
    assert {name: found[name] for name in numbers} == numbers


def test_yaws_excesses_and_finer_ones_are_even() -> None:
    np.testing.assert_allclose(np.rad2deg(range_start.YAWS), 45.0 * np.arange(8))
    np.testing.assert_allclose(range_checks.EXCESSES, 0.1 * np.arange(-10, 11), atol=1e-12)
    np.testing.assert_allclose(range_checks.FINER, 0.02 * np.arange(-4, 5), atol=1e-12)

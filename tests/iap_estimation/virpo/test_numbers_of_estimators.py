# SPDX-License-Identifier: BSD-3-Clause
"""Thresholds, memories and deviations of estimators and the front end: who tunes one has to change it here too."""

from typing import Any

import numpy as np
import pytest

from iap_estimation.capture import capture_filter, gains, kernel
from iap_estimation.frontend import calibration, matching, patches, tracker
from iap_estimation.virpo.drift import filter as drift_filter
from iap_estimation.virpo.drift import path
from iap_estimation.virpo.factors import (
    gyro_preintegration,
    landmarks,
    neighbours,
    physical_jacobians,
    vision,
)
from iap_estimation.virpo.methods import centre, uwb, vio
from iap_estimation.virpo.methods import drift_filter as drift_method
from iap_estimation.virpo.window import (
    buffers,
    failure_checks,
    measurement_queue,
    range_gate,
    terms,
    visual_terms,
    window,
)

NUMBERS: tuple[tuple[Any, dict[str, Any]], ...] = (
    (calibration, {"MOST_STEPS": 40, "LEAST_STEP": 1e-9}),
    (matching, {"GROWN": 1.5, "FLAT": 2.0, "BEHIND": 1.0, "MIN_POINTS": 200, "MAX_BEHIND": 0.8, "MOST_STEPS": 30,
                "LEAST_STEP": 0.01, "LEVELS_BACK": 1}),
    (patches, {"SPREAD": 0.6, "ROUNDS": 12, "STILL": 0.02, "WEAKEST": 0.1, "DIMMEST": 0.1}),
    (tracker, {"PYRAMID_FACTOR": 2, "BLOCK": 3, "CLIP": 3.0, "TILES": (8, 8), "FEWEST": 8, "SURE": 0.99, "OLD": 40,
               "SHIFT": 4, "CROWDED": 0.5, "LEVELS": 127.5}),
    (capture_filter, {"LAST_POSES": 64}),
    (gains, {"SETTLED": 1e-12, "MOST_POSES": 1_000_000}),
    (kernel, {"SIZE": 16, "KEPT": 128, "TOLERANCE": 1e-6}),
    (drift_filter, {"ROUNDS": 4000, "TILTS": 1000, "FRESH": 0.05}),
    (path, {"STAMP_TOLERANCE": 1e-3, "ODOMETRY": 11, "POSE": 14}),
    (gyro_preintegration, {"UNSEEN_RATE": 0.5, "MAX_SAMPLE_TIME": 0.1}),
    (landmarks, {"FARTHEST": -0.05, "CLOSEST": 2.0}),
    (neighbours, {"BENT": 0.05}),
    (physical_jacobians, {"FLOOR": 0.01, "FLAT": 1e-6}),
    (vision, {"NEAREST": 0.2, "NEARER": 0.1, "INDEPENDENT": 1e-6}),
    (centre, {"LEAST_DEVIATION": 1e-4, "UNKNOWN": 1.0, "ERRORS": 9}),
    (drift_method, {"ODOMETRY_MEMORY": 5.0}),
    (uwb, {"GATE": 4.0}),
    (vio, {"BLIND": 0.5}),
    (buffers, {"MAX_PIECE_TIME": 0.02, "MAX_TILTS": 1000, "TILT_TOLERANCE": 0.02}),
    (failure_checks, {"WIDTH": 4.0}),
    (measurement_queue, {"BRIEF": 0.02, "PIECE": 0.005, "STAMP_TOLERANCE": 1e-3}),
    (range_gate, {"MEMORY": 60, "FEWEST": 0.4, "MEMORY_FACTOR": 5.0}),
    (terms, {"NO_DRIFT": 1e-4}),
    (visual_terms, {"MAX_LANDMARKS": 500, "FIRST_DEVIATION": 0.1}),
    (window, {"EFFORT": 4, "COST_TOLERANCE": 1e-3, "LITTLE": 1e-4, "MUCH": 1.0}),
)  # fmt: skip


@pytest.mark.parametrize(("module", "numbers"), NUMBERS, ids=[m.__name__ for m, _ in NUMBERS])
def test_an_estimator_has_the_numbers_that_it_was_tuned_with(
    module: Any, numbers: dict[str, Any]
) -> None:
    found = vars(module)
    assert {name: found[name] for name in numbers} == numbers


def test_samples_that_are_made_up_are_a_hundred_times_as_uncertain_as_real_ones() -> None:
    assert window.SILENT.tolist() == [0.1, 3.0, 1e-3, 1e-2, 0.0]
    assert np.rad2deg(calibration.WIDEST) == pytest.approx(60.0)

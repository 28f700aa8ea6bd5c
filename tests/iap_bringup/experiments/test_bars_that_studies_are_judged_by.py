# SPDX-License-Identifier: BSD-3-Clause
"""Bars of studies, their lengths and their faults: who changes one has to change it here too."""

from typing import Any

import numpy as np
import pytest

from iap_bringup.experiments import (
    camera_effects,
    contact,
    convergence,
    docking,
    engine_bars,
    engine_figures,
    firmware,
    identification,
    images,
    landing,
    photometry,
    piloted_flights,
    rays,
    scripted_pilot,
    sensors,
)
from iap_bringup.experiments.modules import flight_bars, recorded_bars
from iap_bringup.experiments.virpo import cases, faults, light, runs, tables, units, zed

NUMBERS: tuple[tuple[Any, dict[str, Any]], ...] = (
    (camera_effects, {"DISTANCE": 4.0, "LINE_TIME": 4e-5, "SPEED": (1.0, 5.0, 0.5), "RATES": (0.3, -0.5, 1.0)}),
    (contact, {"STEP_AT": 3.0, "READ_DELAY": 0.5, "SETTLING": 1.0, "SEEDS": range(1, 6),
               "RATES": ((500.0, 250.0), (1000.0, 200.0), (2000.0, 200.0)),
               "STEPS": {"x": 5.0, "y": 5.0, "z": 5.0, "roll": 1.0, "pitch": 1.0, "yaw": 1.0}}),
    (convergence, {"RATES": (200, 1000, 5000), "DURATION": 2.0, "SAMPLES": 20}),
    (docking, {"LEAST_SUCCESS": {"script": 97.0, "policy": 98.1}, "LEAST_SUCCESS_LATE": 95.0, "LATEST_CALM": 1.5,
               "LATEST_LOCK": {"script": 3.0, "policy": 2.3}, "LARGEST_FORCE": 33.0, "LARGEST_ABOVE": 1.0,
               "ENGINE_SUCCESS": 3.0, "ENGINE_FORCE": 10.0, "DELAYS_MS": (0, 20, 40, 60, 80), "FIRST": 1,
               "LONGEST_DELAY_MS": 60, "QUICK": docking.Sizes(64, 32, 4)}),
    (engine_bars, {"SHARE": 1.1, "TRACKED": {"position_rmse_m": 0.01, "attitude_rmse_deg": 0.25},
                   "ALONG_A_LINE": {"position_rmse_m": 0.01, "axis_rmse_deg": 0.25}}),
    (engine_figures, {"SHOWN_THRESHOLD": 1e-5}),
    (firmware, {"SEEDS": (0, 1, 2), "TWICE": 2, "SETTLED": 8.0}),
    (identification, {"SEEDS": 40, "QUICK": 4, "FEW": 10, "WIDTH": 0.1, "SOON": 0.25}),
    (images, {"DISTANCE": 5.0, "FEATURES": 150, "FRAMES": 10, "STARTS": (6.0, 15.0, 24.0, 33.0), "TILES": 16,
              "SIDE": 16.0, "HARD_SCENES": {"foggy_arena": 60, "low_texture": 0, "smoke": 0}}),
    (landing, {"MAX_TOUCH": 0.12, "MAX_FORCE": 100.0, "MAX_FORCE_LARGE": 150.0}),
    (photometry, {"AGREEMENT": 0.01, "SHARE": 99.9, "SIZE": (320, 240), "FOCAL": 0.55}),
    (piloted_flights, {"START": (0.0, 0.0, 1.5), "DURATION": 60.0, "IDLE_TIMES": (1.0, 2.5), "STATES": 200,
                       "JOY": 50, "RECORDED": 25, "DIGITS": 6}),
    (rays, {"WORLDS": 4, "MAX_DEPTH": 12.0, "RADIUS": 12.0, "MAX_HEIGHT": 6.0, "LIGHTEST": 0.35}),
    (scripted_pilot, {"REACTION_TIME": 0.24, "STICK_RATE": 9.0, "STICK_DAMPING": 0.8, "TREMOR": 0.6,
                      "PAUSE_DURATION": (0.3, 0.9), "PAUSE_PROBABILITY": 0.25, "SPEED_GAIN": 1.1,
                      "GOAL_TOLERANCE": 0.7, "MIN_GOAL_DISTANCE": 2.5, "TIMEOUT": (3.0, 6.0), "STEPS": 127}),
    (sensors, {"HOURS": 3.0, "SPAN": 10.0, "STARTS": (3.0, 4.5, 6.0), "SEEDS": range(1, 11)}),
    (flight_bars, {"SHORT_HOVER_TIME": 20.0, "LONG_HOVER_TIME": 40.0, "PUSH_DURATION": 0.3, "PUSH_DELAY": 0.1,
                   "DEVIATION_BAR": 0.15, "END_FORCE": 2.0,
                   "PUSH": {"force": [0.0, 16.0, 0.0], "torque": [0.0, 0.0, 0.0]}}),
    (recorded_bars, {"HOVER_SHARES": {4: 0.75}, "GUST_SEEDS": tuple(range(1, 21)),
                     "DESIRED_WRENCH": (5.0, 0.0, 0.0, 0.0, 1.0, 0.0)}),
    (cases, {"SEEDS": (1, 2, 3), "QUICK_SECONDS": 8.0, "QUICK": ("a2", "b")}),
    (faults, {"SECONDS": 60.0, "QUICK_SECONDS": 20.0, "OUTLIER_DEVIATION": 30.0, "FOCAL": 320.0, "FAULT_TIME": 8.0,
              "MAX_ERROR_RATIO": 2.0}),
    (light, {"SECONDS": 40.0, "QUICK_SECONDS": 8.0, "DIVERGED": 0.5, "QUICK": ("day", "rain")}),
    (runs, {"DRAWN": 10}),
    (tables, {"JOINT": 0.05, "JOINT_OF_PILOT": 0.10, "MAX_NEES": 2.0, "MIN_BIASES_INSIDE": 0.99,
              "GAINS": {"drones": {"virpo": 20.0, "joint": 40.0}, "center": {"joint": 0.0}},
              "MAX_ATTITUDE": {"drones": {"vio_uwb": 0.3, "joint": 0.3}, "center": {"joint": 0.4}}}),
    (units, {"CENTRE_DEG": 0.4}),
    (zed, {"SECONDS": 40.0, "QUICK_SECONDS": 8.0, "SEEDS": (1,)}),
)  # fmt: skip


@pytest.mark.parametrize(("module", "numbers"), NUMBERS, ids=[m.__name__ for m, _ in NUMBERS])
def test_a_study_is_as_long_and_as_strict_as_its_page_has_it(
    module: Any, numbers: dict[str, Any]
) -> None:
    found = vars(module)
    assert {name: found[name] for name in numbers} == numbers


def test_a_pilots_cross_is_pressed_beyond_two_and_a_half_degrees() -> None:
    assert np.rad2deg(scripted_pilot.TILT_BAND) == pytest.approx(2.5)


def test_an_image_sensor_of_the_study_fills_its_levels_with_its_well() -> None:
    sensor = camera_effects.SENSOR
    assert sensor["black_level"] + camera_effects.SYSTEM_GAIN * sensor["full_well"] == pytest.approx(255.0)  # fmt: skip
    levels = camera_effects.LEVELS
    assert (len(levels), levels[0], levels[-1]) == (12, 0.02, 0.8)

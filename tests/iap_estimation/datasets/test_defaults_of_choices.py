# SPDX-License-Identifier: BSD-3-Clause
"""What data sets, mappings and fleets take where nobody says otherwise."""

import math
from typing import Any

import numpy as np
import pytest
from class_defaults import defaults_of

from iap_description.earth import GRAVITY
from iap_estimation.datasets import range_bag_source
from iap_estimation.datasets.bag_clocks import BagClocks
from iap_estimation.datasets.bag_source import NO_TRUTH, TruthPoses
from iap_estimation.datasets.bag_topics import TopicNames
from iap_estimation.datasets.data_sample import DataSample
from iap_estimation.datasets.dataset import SensorDataset
from iap_estimation.datasets.localization import _Course
from iap_estimation.datasets.method_results import MethodResult
from iap_estimation.datasets.opening import Choices
from iap_estimation.datasets.understanding import Corrections
from iap_estimation.datasets.virtual_ranges import VirtualAnchors
from iap_estimation.virpo.factors.joint_constraints import JointPositions
from iap_estimation.virpo.fleet import AircraftModel, Fleet
from iap_estimation.virpo.messages import Estimate
from iap_estimation.virpo.window.range_gate import RangeErrorMean

HERE = (0.0, 0.0, 0.0)
DEFAULTS: tuple[tuple[Any, dict[str, Any]], ...] = (
    (BagClocks, {"delay_ns": 0, "is_by_reception": False, "late_s": None, "notes": ()}),
    (TruthPoses, {"topic": None, "body": None, "frame": None}),
    (TopicNames, {"left": None, "right": None, "imu": None}),
    (Choices, {"vehicle": None, "topics": TopicNames(), "calibration": (), "truth": NO_TRUTH, "mapping": None}),
    (DataSample, {"is_scaled": False, "repeated": 0}),
    (SensorDataset, {"centre": None, "has_ranges": False, "gravity": GRAVITY, "anchors": (), "is_foreign": True,
                     "clock_doubt": None, "end": None, "parts": ()}),
    (_Course, {"failure": None, "seconds": 0.0, "keyframes": 0}),
    (MethodResult, {"left_out": ()}),
    (Corrections, {"accel_scale": None, "gyro_scale": 1.0, "image_delay": None, "begin": -math.inf}),
    (VirtualAnchors, {"rate": 10.0, "deviation": 0.1, "antenna": HERE, "range_max": 50.0, "seed": 1}),
    (range_bag_source._Ranges, {"each": None, "scale": 1.0, "valid": None, "stamp": "header.stamp", "antenna": HERE}),
    (range_bag_source._Anchor, {"bias": 0.0}),
    (range_bag_source._TruthTopic, {"point": HERE, "turned": False}),
    (range_bag_source.RangeMap, {"up": "z", "truth": None}),
    (JointPositions, {"deviation": 0.003}),
    (Fleet, {"d": None, "tilt_deviation": 0.01, "gravity": GRAVITY}),
    (RangeErrorMean, {"age": 0.0}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "defaults"), DEFAULTS, ids=[each.__name__ for each, _ in DEFAULTS]
)
def test_what_nobody_chooses_is_as_documented(kind: Any, defaults: dict[str, Any]) -> None:
    found = defaults_of(kind)
    assert {name: found[name] for name in defaults} == defaults


def test_a_fleet_has_noise_of_its_centre_and_antennas_and_joints_at_its_bodies() -> None:
    one = AircraftModel("one", None, np.zeros(5))
    fleet = Fleet((one,))
    assert one.p_BA_B.tolist() == one.p_BJ_B.tolist() == fleet.p_B0I_B0.tolist() == [0.0] * 3
    assert fleet.turn_noise.tolist() == [0.0015, 0.0002, 0.0]
    assert fleet.force_noise.tolist() == [0.02, 0.02]
    zero = np.zeros(3)
    assert np.isnan(Estimate(0.0, zero, zero, zero, zero, zero, np.eye(15)).w_B).all()

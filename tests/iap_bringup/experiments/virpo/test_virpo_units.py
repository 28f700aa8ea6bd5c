# SPDX-License-Identifier: BSD-3-Clause
"""Errors and consistency on units without and with errors of scale: the tables, and a short flight."""

import csv
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from iap_bringup.experiments.virpo import units as virpo_units
from iap_bringup.experiments.virpo.faults import behind_walls
from iap_bringup.experiments.virpo.flights import ObservedFlight
from iap_bringup.experiments.virpo.runs import with_pixel_noise
from iap_bringup.experiments.virpo.scores import EstimateKey, TrajectoryScore
from iap_bringup.experiments.virpo.units import UNITS, run_units, units_study, units_tables
from iap_description.errors import BadInput
from iap_description.sensors.readings import ImuReading, MagneticReading, SensorSource
from iap_estimation.virpo.messages import Ranges, Tracks

NEES = "NEES of the attitude"


def made_up(plan, nees):
    quartiles = (0.0, 0.01, 0.02, 0.03, 0.04)
    return {
        EstimateKey(case.name, method, seed, body): TrajectoryScore(
            0.02, 0.01, 0.01, quartiles, 0.2, nees, nees * seed
        )
        for case in plan.cases
        for method in case.methods
        for seed in plan.seeds
        for body in case.bodies
    }


@pytest.mark.parametrize(
    ("nees", "text"),
    [(0.1, "0.30 MISSED"), (0.3, "0.90 ok"), (0.5, "1.50 ok"), (1.0, "3.00 MISSED")],
)
def test_consistency_is_judged_either_way_and_over_all_seeds(nees, text):
    plan = units_study()
    made = units_tables(made_up(plan, nees), plan)
    rows = made.pivot(NEES)
    assert rows["figure_eight f450, euroc: drones"] == {"vio": text, "vio_uwb": text}
    assert rows["figure_eight three_star, paper: center"]["joint"] == text
    assert rows["figure_eight three_star, paper: center"]["drift_filter"] == text.split()[0]
    assert made.pivot("attitude, RMSE in deg")["figure_eight f450, euroc: drones"]["vio"] == "0.20"


def test_every_unit_is_flown_with_its_own_sensors():
    plan = units_study(quick=True)
    assert len(plan.cases) == 2 * len(UNITS)
    for case in plan.cases:
        scenario, _ = case.resolve(1)
        unit = scenario.vehicles[0].sensors.imu
        assert (unit.gyro.scale > 0.0) == case.name.endswith("euroc")
        assert len(case.drones) == scenario.vehicles[0].platform.count


def test_without_recordings_there_is_nothing_to_fly(tmp_path):
    with pytest.raises(BadInput, match="no rosbag2 folder"):
        run_units(Console(quiet=True), flights=tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("opengl")
def test_a_short_flight_is_estimated_by_all_methods_on_every_unit(tmp_path, monkeypatch):
    monkeypatch.setattr(virpo_units, "QUICK_SECONDS", 0.5)
    run_units(Console(quiet=True), quick=True, out=tmp_path / "units")
    with (tmp_path / "units" / "tables.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["table"] == "position, RMSE in m"]
    assert len(rows) == 2 * (
        2 + 2 * 5
    )  # of two and five methods, for drones and three_star's centre
    assert all(0.0 < float(row["measured"]) < 0.1 for row in rows)


def test_biases_are_kept_of_the_aircrafts_own_units_that_know_them_and_events_of_all():
    observed = object.__new__(ObservedFlight)
    observed._biases, observed.events = {"/a/imu": [], "/b/imu": []}, []
    observed._adapter = lambda reading: None if isinstance(reading, MagneticReading) else reading.t
    observed._frontend = lambda event: event
    one, zero = np.ones(3), np.zeros(3)
    for topic, t, biases in (
        ("/a/imu", 0.1, (0.1 * one, 0.2 * one)), ("/c/imu", 0.2, (one, one)), ("/a/imu", 0.3, (None, None)),
    ):  # fmt: skip
        source = SensorSource(topic, "frame")
        observed.receive(ImuReading(source, t, zero, zero, None, *biases))
    observed.receive(MagneticReading(SensorSource("/a/imu", "frame"), 0.4, zero))
    observed.own = SimpleNamespace(
        carried=[SimpleNamespace(imu=SimpleNamespace(topic=topic)) for topic in observed._biases]
    )
    np.testing.assert_allclose(observed.biases(0), [[0.1, *0.1 * one, *0.2 * one]])
    assert observed.biases(1).shape == (0, 7)
    assert observed.events == [0.1, 0.2, 0.3]


def test_an_anchor_behind_a_wall_lengthens_its_own_ranges_alone():
    ranges = Ranges(
        1.0, np.array([0, 1, 2]), np.zeros((3, 3)), np.array([2.0, 3.0, 4.0]), np.full(3, 0.1)
    )
    events = [(0, ranges), (1, "tracks")]
    (who, longer), other = behind_walls(events)
    assert (who, other) == (0, (1, "tracks"))
    assert longer.ranges.tolist() == [2.0, 4.0, 4.0]
    assert ranges.ranges.tolist() == [2.0, 3.0, 4.0]


def test_pixels_of_noise_are_pixels_of_the_tracks_own_camera_and_axis_and_the_same_each_time():
    focal = [[400.0, 500.0, 600.0, 700.0], [800.0, 400.0, 1600.0, 200.0]]  # x, y left and right
    pairs = [
        SimpleNamespace(
            left=SimpleNamespace(focal=np.array(each[:2])),
            right=SimpleNamespace(focal=np.array(each[2:])),
        )
        for each in focal
    ]
    observed = SimpleNamespace(
        own=SimpleNamespace(aircraft=[SimpleNamespace(cameras=pair) for pair in pairs]),
        scenario=SimpleNamespace(seed=3),
    )
    still = Tracks(0.0, np.arange(4000), np.zeros((4000, 4)), np.ones(4000, bool))
    events = [(0, still), (1, still), (0, "imu")]
    noisy = [each.views for _, each in list(with_pixel_noise(observed, events, 0.5))[:2]]
    for views, lengths in zip(noisy, focal, strict=True):
        np.testing.assert_allclose(views.std(axis=0) * lengths, 0.5, rtol=0.05)
    (_, first), (_, second), other = with_pixel_noise(observed, events, 0.5)
    assert other == (0, "imu")
    np.testing.assert_array_equal([first.views, second.views], noisy)

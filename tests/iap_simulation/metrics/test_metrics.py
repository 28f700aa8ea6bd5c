# SPDX-License-Identifier: BSD-3-Clause
"""Metrics of flights, one by one and in batches."""

import json
import math

import numpy as np
import pytest
from made_up_flights import Flight, Record, random_flight, steady_flight

from iap_description.math import so3
from iap_description.states import Mode
from iap_io.runs import topics
from iap_io.runs.run_folder import RunData
from iap_io.runs.run_meta import RunStats, Track
from iap_io.runs.run_reader import VehicleTracks
from iap_simulation.flights.flight import Flight as ScenarioFlight
from iap_simulation.metrics.metrics import Metrics, Scores
from iap_simulation.runs.run import record, score
from iap_simulation.scenario.resolving import resolved
from iap_simulation.simulation.simulation import Simulation

STATS = RunStats(outcome="completed", duration_s=1.0, wall_s=0.05, control_step_us=42.0)
KEYS = """scenario platform gains state_source seed duration_s wall_s real_time_factor physics_hz control_hz
outcome window_s position_rmse_m position_max_m velocity_rmse_mps attitude_rmse_deg
attitude_max_deg axis_rmse_deg thrust_max_n saturated_fraction control_step_us
actual_position_rmse_m actual_attitude_rmse_deg""".split()
MEASURED = ("wall_s", "real_time_factor", "control_step_us", "images_per_s", "compiled_fraction")


def _turned(flight: Flight, *degrees: float) -> None:
    """Turn the platform by roll, pitch, yaw against its level reference."""
    R = so3.matrix_from_euler(np.deg2rad(degrees))
    flight.x[:, 0, 3:7] = so3.quaternion_from_matrix(R)


def compute_metrics(run: RunData, stats: RunStats) -> Metrics:
    """All of metrics.json of a run that has been read whole."""
    scores = Scores(
        run.meta, [VehicleTracks(vehicle.commanded, vehicle.actual) for vehicle in run.vehicles]
    )
    scores.add([vehicle.columns for vehicle in run.vehicles])
    return scores.metrics(stats)


def test_the_keys_are_those_of_the_contract(recorded: Record) -> None:
    metrics = compute_metrics(recorded(steady_flight("three_star", 20)), STATS)
    assert sorted(metrics) == sorted(KEYS)
    assert metrics["scenario"] == "made_up"
    assert metrics["platform"] == "three_star"
    assert metrics["real_time_factor"] == pytest.approx(20.0)
    assert metrics["control_step_us"] == 42.0
    json.dumps(metrics, allow_nan=False)


def test_a_perfect_flight_has_no_error(recorded: Record) -> None:
    metrics = compute_metrics(recorded(steady_flight("three_star", 20)), STATS)
    assert metrics["position_rmse_m"] == 0.0
    assert metrics["velocity_rmse_mps"] == 0.0
    assert metrics["attitude_rmse_deg"] == [0.0, 0.0, 0.0]
    assert metrics["axis_rmse_deg"] is None
    assert metrics["thrust_max_n"] == pytest.approx(20.0)
    assert metrics["saturated_fraction"] == 0.0
    assert metrics["outcome"] == "completed"


def test_position_rmse_is_of_the_3d_error_and_the_maximum_per_axis(recorded: Record) -> None:
    flight = steady_flight("three_star", 20)
    flight.x[:, 0, :3] += [0.3, 0.0, -0.4]
    flight.x[:, 0, 7] += 0.2
    metrics = compute_metrics(recorded(flight), STATS)
    assert metrics["position_rmse_m"] == pytest.approx(0.5)
    assert metrics["position_max_m"] == pytest.approx([0.3, 0.0, 0.4])
    assert metrics["velocity_rmse_mps"] == pytest.approx(0.2)


def test_attitude_error_is_the_rotation_vector(recorded: Record) -> None:
    flight = steady_flight("three_star", 20)
    flight.x[:, 0, 3:7] = so3.quaternion_exp(np.deg2rad([1.0, -2.0, 3.0]))
    metrics = compute_metrics(recorded(flight), STATS)
    assert metrics["attitude_rmse_deg"] == pytest.approx([1.0, 2.0, 3.0])
    assert metrics["attitude_max_deg"] == pytest.approx([1.0, 2.0, 3.0])


def test_free_roll_is_null_and_does_not_leak_into_pitch_and_yaw(recorded: Record) -> None:
    flight = steady_flight("three_line", 20)
    level = so3.matrix_from_euler(np.deg2rad([0.0, 0.0, 3.0]))
    R = level @ so3.matrix_from_euler(np.deg2rad([60.0, 0.0, 0.0]))
    flight.x[:, 0, 3:7] = so3.quaternion_from_matrix(R)
    metrics = compute_metrics(recorded(flight), STATS)
    assert metrics["attitude_rmse_deg"][0] is None
    assert metrics["attitude_max_deg"][1:] == pytest.approx([0.0, 3.0], abs=1e-9)
    assert metrics["axis_rmse_deg"] == pytest.approx(3.0)


@pytest.mark.parametrize("platform", ["f450", "three_star_fixed"])
def test_platforms_of_rank_four_are_judged_by_their_yaw(platform: str, recorded: Record) -> None:
    flight = steady_flight(platform, 20)
    _turned(flight, 20.0, -15.0, 4.0)
    metrics = compute_metrics(recorded(flight), STATS)
    assert metrics["attitude_rmse_deg"] == [None, None, pytest.approx(4.0)]
    assert metrics["axis_rmse_deg"] is None


def test_errors_count_in_the_window_only(recorded: Record) -> None:
    flight = steady_flight("three_star", 101)
    flight.meta = flight.meta.model_copy(update={"window_s": (0.2, 0.4)})
    flight.x[:, 0, 1] = np.where((flight.t > 0.195) & (flight.t < 0.405), 0.1, 5.0)
    metrics = compute_metrics(recorded(flight), STATS)
    assert metrics["window_s"] == [0.2, 0.4]
    assert metrics["position_max_m"] == pytest.approx([0.0, 0.1, 0.0])


def test_a_flight_that_never_reached_its_window_has_null_errors(recorded: Record) -> None:
    flight = steady_flight("three_star", 20)
    flight.meta = flight.meta.model_copy(update={"window_s": (3.0, 40.0)})
    metrics = compute_metrics(recorded(flight), STATS)
    assert metrics["position_rmse_m"] is None
    assert metrics["position_max_m"] == [None, None, None]
    assert metrics["attitude_rmse_deg"] == [None, None, None]


def test_saturation_counts_commands_and_rotors_at_a_limit(recorded: Record) -> None:
    flight = steady_flight("three_star", 100)
    flight.rpm[:10, 1, 2] = flight.meta.rpm_limits[1]
    flight.rpm[10:20, 0, 0] = flight.meta.rpm_limits[0]
    for command in flight.commands[20:25]:
        command.thrust[2] = flight.meta.thrust_limits[1]
    for command in flight.commands[25:50]:
        command.mode, command.thrust[2] = Mode.RPM, flight.meta.thrust_limits[1]
    metrics = compute_metrics(recorded(flight), STATS)
    assert metrics["saturated_fraction"] == pytest.approx(0.25)


def test_a_state_that_is_no_number_is_an_outcome(recorded: Record) -> None:
    flight = steady_flight("three_star", 50)
    flight.x[30:, 2, 8] = np.nan
    metrics = compute_metrics(recorded(flight), STATS)
    assert metrics["outcome"] == "diverged"
    assert metrics["position_rmse_m"] == 0.0
    assert metrics["window_s"][1] == pytest.approx(29 * 0.005)
    json.dumps(metrics, allow_nan=False)


def test_not_one_number_gives_nulls(recorded: Record) -> None:
    flight = steady_flight("three_star", 5)
    flight.x[:] = np.inf
    metrics = compute_metrics(recorded(flight), STATS)
    assert metrics["outcome"] == "diverged"
    assert metrics["position_rmse_m"] is None
    assert metrics["saturated_fraction"] is None


def test_a_replay_is_judged_by_the_command_as_given(recorded: Record) -> None:
    """Not by the reference that was flown, and at the command's own times."""
    flight = steady_flight("three_star", 101)
    flight.reference[:, 2] = 7.0
    t = np.array([0.0, 0.0125, 0.25, 0.5])
    poses = np.zeros((4, 7))
    poses[:, 0], poses[:, 1], poses[:, 6] = t, 0.03, 1.0
    metrics = compute_metrics(
        recorded(flight, tracks={topics.REFERENCE_POSE: Track(t, poses)}), STATS
    )
    assert metrics["position_rmse_m"] == pytest.approx(0.03)
    assert metrics["position_max_m"] == pytest.approx([0.0, 0.03, 0.0], abs=1e-9)


def test_a_replay_is_compared_with_the_real_flight(recorded: Record) -> None:
    flight = steady_flight("three_star", 101)
    t = np.linspace(0.0, 0.6, 13)  # longer than the simulated flight
    poses = np.zeros((13, 7))
    poses[:, 0], poses[:, 2] = t, 0.2
    poses[:, 3:] = so3.quaternion_exp(np.array([0.0, 0.0, math.radians(-5.0)]))
    metrics = compute_metrics(recorded(flight, tracks={topics.ACTUAL: Track(t, poses)}), STATS)
    assert metrics["position_rmse_m"] == 0.0
    assert metrics["actual_position_rmse_m"] == pytest.approx(0.2)
    assert metrics["actual_attitude_rmse_deg"] == pytest.approx([0.0, 0.0, 5.0], abs=1e-9)


@pytest.mark.parametrize("piece", [1, 7, 100])
def test_figures_do_not_depend_on_the_pieces_that_rows_come_in(
    recorded: Record, piece: int
) -> None:
    flight = random_flight("two_line", 101)
    t = np.sort(np.random.default_rng(3).uniform(0.0, 0.6, 77))
    track = Track(t, np.random.default_rng(4).normal(size=(77, 7)))
    run = recorded(flight, tracks={topics.REFERENCE_POSE: track, topics.ACTUAL: track})
    vehicle = run.vehicles[0]
    scores = Scores(run.meta, [VehicleTracks(vehicle.commanded, vehicle.actual)])
    for first in range(0, 101, piece):
        scores.add([vehicle.columns.rows(slice(first, first + piece))])
    whole = compute_metrics(run, STATS)
    for key, value in scores.metrics(STATS).items():
        assert value == (whole[key] if isinstance(value, str) else pytest.approx(whole[key]))


def test_several_vehicles_have_their_own_and_the_largest_on_top(recorded: Record) -> None:
    star, line = steady_flight("three_star", 20, "star"), steady_flight("two_line", 20, "line")
    star.x[:, 0, 0] += 0.1
    line.x[:, 0, 1] += 0.2
    metrics = compute_metrics(recorded(star, line), STATS)
    assert metrics["platform"] == "three_star, two_line"
    assert metrics["position_rmse_m"] == pytest.approx(0.2)
    assert metrics["position_max_m"] == pytest.approx([0.1, 0.2, 0.0])
    assert metrics["attitude_rmse_deg"] == [0.0, 0.0, 0.0]
    assert metrics["axis_rmse_deg"] == 0.0
    assert metrics["vehicles"]["star"]["position_rmse_m"] == pytest.approx(0.1)
    assert metrics["vehicles"]["line"]["attitude_rmse_deg"][0] is None
    assert metrics["vehicles"]["line"]["platform"] == "two_line"


def scored(name, options):
    flight = ScenarioFlight.of(resolved(name, options.pop("settings", {}), options)[0])
    with Simulation(flight) as simulation:
        return score(flight, simulation)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("hover", {"duration": 22.0}),  # more than one piece
        ("figure_eight_windy", {"duration": 3.0, "seed": 4}),
        ("two_platforms", {"duration": 2.0}),
        ("wall_push", {"duration": 4.0}),
        ("hover", {"duration": 2.0, "settings": {"platform.center.mass": 30.0}}),  # comes down
    ],
)
def test_metrics_are_those_of_the_recording(tmp_path, name, options):
    recorded = record(name, folder=tmp_path / "run", **options)
    metrics, failure = scored(name, dict(options))
    assert failure == (recorded.failure or "")
    for key, value in recorded.metrics.items():
        if key not in MEASURED:
            assert metrics[key] == value, key
    assert set(metrics) == set(recorded.metrics)

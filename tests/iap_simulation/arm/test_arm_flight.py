# SPDX-License-Identifier: BSD-3-Clause
"""The published path: errors of the recorded flights, what gains change, stability, limits, and what is refused."""

import json

import numpy as np
import pytest

from iap_bringup.cli import main
from iap_description.errors import BadInput
from iap_io.runs.run_folder import read_metrics
from iap_simulation.arm.flight import ArmFlight, JointLimits
from iap_simulation.arm.judging import errors, stability
from iap_simulation.arm.log_file import FLIGHT_LOG, read_flight_log
from iap_simulation.arm.scenario import resolve_arm

QUIET = "noise=0.0"


def flight(*assignments, **options):
    return ArmFlight(resolve_arm("arm_path", assignments, **options)[0])


def rmse(*assignments, **options):
    made = flight(*assignments, **options)
    return errors(made.fly(), made.scenario.metrics.settle)["position_rmse_m"]


@pytest.mark.slow
def test_published_gains_and_noise_leave_the_recorded_errors_within_a_tenth():
    recorded = flight().scenario.metrics.published_rmse
    found = np.mean([rmse(seed=seed) for seed in range(8)])
    assert recorded == (0.101, 0.108)
    for each in recorded:
        assert abs(found - each) < 0.1 * each


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("seed=1", 0.0975),
        ("control.task=position", 0.0957),
        ("plant=paper_printed", 0.0992),
        ("control.slope=[2.0, 2.0, 2.0, 2.0]", 0.0548),
        ("control.slope=[3.0, 3.0, 3.0, 3.0]", 0.0362),
        ("control.static_inverse=true", 0.0423),
    ],
)
def test_errors_without_noise_are_those_measured_by_another_program(change, expected):
    assert abs(rmse(QUIET, change) - expected) < 2e-4


def test_half_the_step_changes_the_path_by_less_than_a_millimetre():
    made, finer = flight(QUIET), flight(QUIET, "rates.plant_hz=40.0")
    coarse, fine = made.fly(), finer.fly()
    found = errors(coarse, 10.0)["position_rmse_m"] - errors(fine, 10.0)["position_rmse_m"]
    assert abs(found) < 1e-3


def test_section_iv_holds_along_the_path_and_so_do_poles():
    made = flight()
    found = stability(made, made.fly())
    assert found["lyapunov_rate_max"] < 0.0
    assert found["pole_max_per_s"] < -0.2
    assert found["sampled_radius"] < 0.99
    assert found["singular_value_min"] > 0.9


def test_the_error_does_not_shrink_all_the_time_as_the_paper_has_it():
    made = flight(QUIET)
    found = stability(made, made.fly())
    assert 0.0 < found["rising_error_max"] < 0.15


def test_a_gain_that_is_too_large_is_seen_by_the_sampled_loop_and_in_flight():
    calm, wild = flight(QUIET), flight(QUIET, "control.slope=[12.0, 12.0, 12.0, 12.0]")
    flown = wild.fly()
    assert stability(wild, flown)["sampled_radius"] > 1.0
    shaking, still = (np.abs(np.diff(f.command[-400:], axis=0)).max() for f in (flown, calm.fly()))
    assert shaking > 10.0 * still  # it swings as far as tanh lets it


@pytest.mark.slow
def test_centring_keeps_the_joints_off_their_stops():
    made, centred = flight(QUIET, "duration=200.0"), flight(QUIET, "duration=200.0", CENTRED)
    low, high = made.arm.limits
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    far, near = (np.abs((f.fly().q[-800:] - middle) / half).max() for f in (made, centred))
    assert near < far
    assert abs(rmse(QUIET, CENTRED) - rmse(QUIET)) < 2e-3


CENTRED = "control.centring=0.3"


def test_commands_of_joints_are_cut_to_their_limits_and_counted():
    limits = JointLimits(flight().arm, 0.1)
    command = np.array([3.0, 0.0, 0.0, 0.0, 5.0, -1.0, 1.0])
    kept = limits(command, np.array([0.0, -0.1, 1.29]))
    np.testing.assert_allclose(kept, [3.0, 0.0, 0.0, 0.0, 1.6, 0.0, 0.1], atol=1e-12)
    assert list(limits.clipped) == [1, 1, 1]


@pytest.mark.slow
def test_a_run_leaves_config_log_metrics_plots_and_trajectories(tmp_path, capsys):
    out = tmp_path / "run"
    assert main.main(["run", "arm_path", "--out", str(out), "--json"]) == 0
    said = capsys.readouterr()
    metrics = json.loads(said.out)
    assert metrics == read_metrics(out)
    assert metrics["compare"]["gain_3"]["position_rmse_m"] < 0.05
    assert metrics["compare"]["static_inverse"]["position_rmse_m"] < 0.05
    assert "stability along" in said.err
    assert {path.name for path in (out / "plots").iterdir()} == {
        "path.png",
        "tracking.png",
        "velocities.png",
    }
    assert len((out / "trajectory_tip.tum").read_text().splitlines()) == 801
    flown = read_flight_log(out / FLIGHT_LOG)
    assert errors(flown, 10.0)["position_rmse_m"] == metrics["position_rmse_m"]
    assert main.main(["plot", str(out)]) == 0


def test_a_file_that_extends_the_published_flight_is_flown(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("extends: arm_path\nnoise: 0.0\nduration: 12.0\ncompare: {}\n")
    out = tmp_path / "run"
    assert main.main(["run", str(path), "--out", str(out), "--no-plot"]) == 0
    assert read_metrics(out)["duration_s"] == 12.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--platform", "f450"], "--platform: arm_path flies a plant identified from logs"),
        (["--set", "plant=none"], "unknown identified plant 'none'"),
        (["--set", "rates.control_hz=15.0"], "whole multiple"),
        (["--set", "start.joints_deg=[0.0, 170.0, 0.0]"], "beyond its limits"),
        (["--set", "metrics.settle=50.0"], "metrics.settle"),
        (["--set", "control.weights=[1.0, 1.0, 1.0, 1.0, 1.0]"], "control.weights"),
        (["--set", "compare.printed=[plant=none]"], "unknown identified plant 'none'"),
        (["--set", "path.x.rat=1.0"], "unknown key"),
    ],
)
def test_what_cannot_be_flown_is_one_line(arguments, words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main.main(["run", "arm_path", *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
    assert not list(tmp_path.glob("runs/*"))


def test_a_singular_pose_ends_the_flight_with_one_line(tmp_path, capsys):
    out = tmp_path / "run"
    weights = "control.weights=[1.0e9, 1.0e9, 1.0e9, 1.0e9, 1.0, 1.0, 1.0]"
    more = ["--set", weights, "--set", "compare={}", "--no-plot", "--out", str(out)]
    assert main.main(["run", "arm_path", *more]) == 1
    assert "singular pose" in capsys.readouterr().err
    assert read_metrics(out)["outcome"] == "singular"


def test_an_unknown_arm_is_refused():
    with pytest.raises(BadInput, match="unknown arm 'none'"):
        resolve_arm("arm_path", ("arm=none",))

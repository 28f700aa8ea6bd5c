# SPDX-License-Identifier: BSD-3-Clause
"""The published path: errors of the recorded flights, what gains change, stability, limits, and what is refused."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from iap_bringup.cli import main
from iap_description.config import bounds
from iap_description.errors import BadInput, RenamedKey
from iap_description.states import Command, Mode
from iap_description.vehicles.arm import load_arm
from iap_description.vehicles.joint_limits import JointLimits
from iap_io.runs.run_folder import load_run, read_metrics
from iap_simulation.arm.path_monitor import PathMonitor
from iap_simulation.flights.flight import Flight
from iap_simulation.flights.state_log import StateLog
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.simulation.simulation import Simulation

QUIET = {"plant.noise": 0.0}
SLOPE, CENTRING = "arm.motion.control.slope", {"arm.motion.control.centring": 0.3}


class Commands:
    """Keeps the twists and joint rates that were commanded."""

    def __init__(self):
        self.rows = []

    def record(self, vehicle, step):
        self.rows.append(np.append(step.command.wrench_P, step.arm.target[1]))


def flown(settings, **options):
    """Key `arm` of metrics.json, joint coordinates and commands of a flight of the published path with other keys."""
    with Simulation.of("arm_path", settings=settings, **options) as simulation:
        commands = Commands()
        simulation.begin(observers=[commands])
        simulation.fly()
        q = simulation.plant.part(StateLog).q
        return simulation.task.metrics(simulation.plant), q, np.array(commands.rows)


def rmse(settings, **options):
    return flown(settings, **options)[0]["position_rmse_m"]


@pytest.mark.slow
def test_published_gains_and_noise_leave_the_recorded_errors_within_a_tenth():
    recorded = resolve("arm_path", Options())[0].metrics.published_rmse
    found = np.mean([rmse({}, seed=seed) for seed in range(8)])
    assert recorded == (0.101, 0.108)
    for each in recorded:
        assert abs(found - each) < 0.1 * each


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, 0.0975),
        ({"arm.motion.control.task": "position"}, 0.0957),
        ({"plant.file": "paper_printed"}, 0.0992),
        ({SLOPE: [2.0] * 4}, 0.0548),
        ({SLOPE: [3.0] * 4}, 0.0362),
        ({"plant.static_inverse": True}, 0.0423),
    ],
)
def test_errors_without_noise_are_those_measured_by_another_program(change, expected):
    assert abs(rmse({**QUIET, **change}) - expected) < 2e-4


def test_half_the_step_changes_the_path_by_less_than_a_millimetre():
    assert abs(rmse(QUIET) - rmse({**QUIET, "rates.physics_hz": 40.0})) < 1e-3


def test_section_iv_holds_along_the_path_and_so_do_poles():
    found = flown({})[0]["stability"]
    assert found["lyapunov_rate_max"] < 0.0
    assert found["pole_max_per_s"] < -0.2
    assert found["sampled_radius"] < 0.99
    assert found["singular_value_min"] > 0.9


def test_the_error_does_not_shrink_all_the_time_as_the_paper_has_it():
    assert 0.0 < flown(QUIET)[0]["stability"]["rising_error_max"] < 0.15


def test_a_gain_that_is_too_large_shows_in_the_sampled_loop_and_in_flight():
    metrics, _, wild = flown({**QUIET, SLOPE: [12.0] * 4})
    assert metrics["stability"]["sampled_radius"] > 1.0
    calm = flown(QUIET)[2]
    shaking, still = (np.abs(np.diff(each[-200:], axis=0)).max() for each in (wild, calm))
    assert shaking > 10.0 * still  # it swings as far as tanh lets it


@pytest.mark.slow
def test_centring_keeps_the_joints_off_their_stops():
    low, high = load_arm("m100").limits
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    flights = (flown({**QUIET, **more}, duration=200.0)[1] for more in ({}, CENTRING))
    far, near = (np.abs((q[-800:] - middle) / half).max() for q in flights)
    assert near < far
    assert abs(rmse({**QUIET, **CENTRING}) - rmse(QUIET)) < 2e-3


def test_commands_of_joints_are_cut_to_their_limits_and_counted():
    limits = JointLimits(load_arm("m100"), 0.1)
    command = np.array([3.0, 0.0, 0.0, 0.0, 5.0, -1.0, 1.0])
    kept = limits(command, np.array([0.0, -0.1, 1.29]))
    np.testing.assert_allclose(kept, [3.0, 0.0, 0.0, 0.0, 1.6, 0.0, 0.1], atol=1e-12)
    assert list(limits.clipped) == [1, 1, 1]


def test_a_flight_begins_anew_and_returns_to_a_snapshot_bit_for_bit():
    with Simulation.of("arm_path", duration=3.0) as simulation:
        for _ in range(10):
            simulation.step()
        snapshot = simulation.snapshot()

        def rest():
            out = []
            while not simulation.is_done:
                x = simulation.step()
                out.append(np.append(x[0], simulation.plant.arm(0).q))
            return np.array(out)

        first = rest()
        metrics = simulation.task.metrics(simulation.plant)
        simulation.restore(snapshot)
        np.testing.assert_array_equal(rest(), first)
        assert simulation.task.metrics(simulation.plant) == metrics
        simulation.reset()
        np.testing.assert_array_equal(rest()[10:], first)
        simulation.reset(seed=2)
        assert not np.array_equal(rest()[10:], first)


def test_such_a_plant_takes_velocities_and_no_other_plant_does():
    with Simulation.of("arm_path", settings=QUIET) as simulation:
        with pytest.raises(BadInput, match="takes velocities"):
            simulation.step(Command.zeros(1))
        up = Command.zeros(1, Mode.VELOCITY)
        up.wrench_P[2] = 0.5
        for _ in range(20):
            simulation.step(up)
        assert simulation.state[0, 9] > 0.4
    with Simulation.of("hover", platform="f450") as simulation:
        with pytest.raises(BadInput, match="velocities are for a plant identified from logs"):
            simulation.step(Command.zeros(1, Mode.VELOCITY))


@pytest.mark.slow
def test_a_run_leaves_config_bag_metrics_plots_and_trajectories(tmp_path, capsys):
    out = tmp_path / "run"
    assert main.main(["run", "arm_path", "--out", str(out), "--json"]) == 0
    said = capsys.readouterr()
    metrics = json.loads(said.out)
    assert metrics == read_metrics(out)
    assert metrics["position_rmse_m"] is None  # no pose of the platform is asked for
    for name in ("gain_3", "static_inverse"):
        assert metrics["compare"][name]["arm"]["position_rmse_m"] < 0.05
    assert metrics["arm"]["stability"]["rising_error_max"] >= 0.0
    plots = {path.name for path in (out / "plots").iterdir()}
    assert {"path.png", "tracking.png", "velocities.png", "joints.png"} < plots
    assert "thrusts.png" not in plots
    assert len((out / "trajectory_tip.tum").read_text().splitlines()) == 801
    columns = load_run(out).vehicles[0].columns
    assert (columns.mode == Mode.VELOCITY).all()
    np.testing.assert_allclose(columns.wrench_P[:, 2], columns.reference[:, 9], atol=1e-12)
    assert main.main(["plot", str(out)]) == 0


def test_a_file_with_the_keys_of_the_version_before_is_flown(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("extends: arm_path\nnoise: 0.0\nduration: 12.0\ncompare: {}\n")
    out = tmp_path / "run"
    assert main.main(["run", str(path), "--out", str(out), "--no-plot", "--no-view"]) == 0
    assert read_metrics(out)["duration_s"] == 12.0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("plant=paper_printed", "plant.file=paper_printed"),
        ("noise=0.0", "plant.noise=0.0"),
        ("control.slope=[2.0, 2.0, 2.0, 2.0]", f"{SLOPE}=[2.0, 2.0, 2.0, 2.0]"),
        ("control.static_inverse=true", "plant.static_inverse=true"),
        ("path.x.offset=1.0", "arm.motion.path.x.offset=1.0"),
        ("rates.plant_hz=40.0", "rates.physics_hz=40.0"),
        ("start.yaw_deg=20.0", "reference.rpy_deg=[0.0, 0.0, 20.0]"),
        ("draw.yaw_deg=5.0", "draw.attitude_deg=[0.0, 0.0, 5.0]"),
    ],
)
def test_keys_of_the_version_before_mean_the_same(old, new):
    with pytest.warns(RenamedKey):
        by_old = resolve("arm_path", Options(assignments=(old,)))[1]
    assert by_old == resolve("arm_path", Options(assignments=(new,)))[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--platform", "f450"], "the platform has no arm"),
        (["--platform", "three_star_arm"], "'platform': a plant of type identified is one body"),
        (["--set", "model_error.force=[1.0, 0.0, 0.0]"], "'model_error.force': a plant of type"),
        (["--engine", "mujoco"], "'engine.name': a plant of type identified"),
        (["--sensors", "imu"], "'sensors': a plant of type identified"),
        (["--view"], "--view: a plant identified from logs"),
        (["--set", "wind.speed=3.0"], "'wind.speed': a plant of type identified"),
        (["--set", "control.law=auto"], "'control.law': velocity commands"),
        (["--set", "plant.file=none"], "unknown identified plant 'none'"),
        (["--set", "rates.control_hz=15.0"], "whole multiple"),
        (["--set", "start.joints_deg=[0.0, 170.0, 0.0]"], "beyond the limits"),
        (["--set", "draw.joints_deg=60.0"], "draw.joints_deg': q1 at 105.0 deg is beyond"),
        (["--set", "arm.motion.control.weights=[1.0, 1.0, 1.0, 1.0, 1.0]"], "control.weights"),
        (["--set", "arm.motion.path.x.rat=1.0"], "unknown key"),
        (["--set", "plant.type=wings"], "key 'plant.type': choose bodies, identified"),
    ],
)
def test_what_cannot_be_flown_is_one_line(arguments, words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main.main(["run", "arm_path", *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
    assert not list(tmp_path.glob("runs/*"))


def test_velocities_of_an_end_effector_are_refused_on_bodies():
    bodies = ("plant={type: bodies}", "rates={physics_hz: 1000.0, control_hz: 200.0}")
    with pytest.raises(BadInput, match=r"key 'arm\.motion\.type'.*plant\.type: identified"):
        resolve("arm_path", Options(assignments=bodies))


def test_a_singular_pose_ends_the_flight_with_one_line(tmp_path, capsys):
    weights = "arm.motion.control.weights=[1.0e9, 1.0e9, 1.0e9, 1.0e9, 1.0, 1.0, 1.0]"
    more = ["--set", weights, "--set", "compare={}", "--no-plot", "--out", str(tmp_path / "run")]
    assert main.main(["run", "arm_path", *more]) == 1
    said = capsys.readouterr().err
    assert "singular pose" in said
    assert said.count("\n") == 1


def test_an_unknown_arm_is_refused():
    with pytest.warns(RenamedKey), pytest.raises(BadInput, match="unknown arm 'none'"):
        resolve("arm_path", Options(assignments=("arm=none",)))


def test_the_tip_and_its_reference_are_written_level_with_their_headings(tmp_path, monkeypatch):
    t = np.array([0.0, 0.5])
    tips = np.array([[1.0, 2.0, 3.0, 0.0], [1.5, 2.0, 3.0, np.pi / 2]])
    monkeypatch.setattr(PathMonitor, "_tips", (tips, tips + [0.0, 0.1, 0.0, 0.0]))
    monitor = object.__new__(PathMonitor)
    monitor._log = SimpleNamespace(t=t)
    monitor.write(tmp_path)
    for name, shift in (("tip", 0.0), ("reference_tip", 0.1)):
        rows = np.loadtxt(tmp_path / f"trajectory_{name}.tum")
        half = np.sqrt(0.5)
        expected = [
            [0.0, 1.0, 2.0 + shift, 3.0, 0, 0, 0, 1],
            [0.5, 1.5, 2.0 + shift, 3.0, 0, 0, half, half],
        ]
        np.testing.assert_allclose(rows, expected, atol=1e-6)


def test_every_state_that_is_kept_takes_twenty_numbers_of_memory(monkeypatch):
    flight = Flight.of(resolve("arm_path", Options())[0])
    size = int(8 * 20 * flight.duration * flight.scenario.rates.physics_hz)
    monkeypatch.setattr(bounds, "MAX_TABLE", size + 1)
    with Simulation(flight):
        pass
    monkeypatch.setattr(bounds, "MAX_TABLE", size - 1)
    with pytest.raises(BadInput, match="^key 'duration': takes"):
        Simulation(flight)


def test_a_log_of_states_has_times_poses_and_joints_apart():
    with Simulation.of("arm_path", settings=QUIET) as simulation:
        simulation.begin()
        simulation.loop.control()
        simulation.loop.advance()
        plant, log = simulation.plant, simulation.plant.part(StateLog)
        substeps = plant.substeps
        np.testing.assert_allclose(log.t, plant.dt * np.arange(substeps + 1))
        assert log.pose.shape == (substeps + 1, 4) and log.q.shape == (substeps + 1, 3)
        np.testing.assert_allclose(log.pose[-1, :3], plant.state(0)[0, 0, :3])
        assert not np.array_equal(log.q[-1], log.q[0])

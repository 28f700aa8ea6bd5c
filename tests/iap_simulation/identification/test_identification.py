# SPDX-License-Identifier: BSD-3-Clause
"""Identification finds models that predict flights that it has not seen, and says how well."""

import json

import numpy as np
import pytest
from arm_logs import commands, write_log

from iap_bringup.cli import main
from iap_description.config.record import validate
from iap_io.runs.run_folder import read_metrics
from iap_physics.identified.dynamics import CHANNELS
from iap_physics.identified.plant_file import SecondOrderPlant, load_plant
from iap_simulation.identification.dynamic_model import backward_differences, low_pass
from iap_simulation.identification.least_squares import fitted

TRUE = {
    "u_l": {"gain": 1.3, "frequency": 2.0, "damping": 0.9, "delay": 0.23},
    "u_m": {"gain": 0.8, "frequency": 4.0, "damping": 0.5, "delay": 0.1},
    "u_n": {"gain": 1.0, "frequency": 5.0, "damping": 0.7, "delay": 0.0},
    "w": {"gain": 1.1, "frequency": 8.0, "damping": 1.2, "delay": 0.07},
}


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Two flights of the published model."""
    folder = tmp_path_factory.mktemp("logs")
    paper = load_plant("paper")
    return [
        write_log(folder / f"flight_{seed}.mat", paper, seed=seed, noise=0.0) for seed in (1, 2)
    ]


def run(*arguments):
    return main.main(["identify", *map(str, arguments), "--no-plot"])


def test_a_low_pass_is_exact_on_ramps_and_the_same_on_uneven_steps():
    t = np.concatenate([[0.0], np.cumsum(np.random.default_rng(1).uniform(0.02, 0.2, 60))])
    y = low_pass(t, np.column_stack([t, 0.0 * t]), 3.0)
    np.testing.assert_allclose(y[:, 0], t - (1.0 - np.exp(-3.0 * t)) / 3.0, atol=1e-12)
    assert (y[:, 1] == 0.0).all()


def test_backward_differences_of_a_ramp_are_its_slope():
    t = np.array([0.0, 0.1, 0.3, 0.35])
    np.testing.assert_allclose(backward_differences(t, 2.0 * t[:, None])[1:], 2.0)


def test_intervals_cover_the_truth_nineteen_times_of_twenty():
    x = np.linspace(0.0, 1.0, 200)
    inside = []
    for seed in range(100):
        y = 0.7 + 1.9 * x + np.random.default_rng(seed).normal(0.0, 0.3, len(x))
        fit = fitted(lambda p, y=y: p[0] + p[1] * x - y, np.zeros(2), scale=np.ones(2))
        inside.append(np.abs(fit.values - [0.7, 1.9]) < fit.half_widths)
    assert (np.abs(np.mean(inside, axis=0) - 0.95) < 0.06).all()


def test_what_only_counts_as_a_product_is_not_determined():
    x = np.linspace(0.0, 1.0, 50)
    fit = fitted(lambda p: p[0] * p[1] * x + p[2] - (2.0 * x + 1.0), np.ones(3), scale=np.ones(3))
    assert np.isinf(fit.half_widths[:2]).all()
    assert np.isfinite(fit.half_widths[2])


def test_a_penalty_drives_what_is_not_needed_to_zero():
    x = np.linspace(0.0, 1.0, 50)

    def residuals(p):
        return p[0] * x + p[1] * x - 2.0 * x

    plain, sparse = (
        fitted(residuals, np.array([3.0, 0.5]), scale=np.ones(2), penalty=alpha, steps=500).values
        for alpha in (0.0, 0.1)
    )
    assert np.abs(sparse).sum() < np.abs(plain).sum()


@pytest.mark.parametrize("alpha", [0.1, 0.5])
def test_a_penalty_moves_a_mean_by_half_its_share(alpha):
    """(1 - alpha) (v - a)^2 + alpha |v| is least at v = a - alpha / (2 (1 - alpha))."""
    fit = fitted(lambda v: v - 2.0, np.array([1.0]), scale=np.ones(1), penalty=alpha, steps=500)
    assert fit.values[0] == pytest.approx(2.0 - alpha / (2.0 * (1.0 - alpha)), abs=1e-4)


@pytest.mark.slow
def test_on_a_log_of_the_published_model_predictions_are_within_a_hundredth(logs, tmp_path):
    out = tmp_path / "out"
    how = ["--model", "dynamic", "--error", "free_run", "--set", "start=paper_printed"]
    assert run(*logs, *how, "--set", "steps=100", "--out", out) == 0
    metrics = read_metrics(out)
    for channel in CHANNELS:
        assert metrics["rmse"]["this fit"][channel] < 0.01 * metrics["rms"][channel]


def test_the_published_parameters_predict_their_own_log_and_beat_every_baseline(logs, tmp_path):
    out = tmp_path / "out"
    assert run(*logs, "--model", "second_order", "--out", out) == 0
    rmse = read_metrics(out)["rmse"]
    for channel in CHANNELS:
        assert rmse["published"][channel] < 1e-9
        assert rmse["this fit"][channel] < 0.5 * rmse["zero"][channel]


def test_second_order_channels_are_found_again_within_their_intervals(tmp_path):
    tree = {"model": "second_order", "description": "", "channels": TRUE}
    plant = validate(SecondOrderPlant, tree, source="test")
    paths = [write_four(tmp_path / f"{seed}.csv", plant, seed=seed, noise=0.02) for seed in (3, 4)]
    out = tmp_path / "out"
    assert run(*paths, "--model", "second_order", "--out", out) == 0
    metrics = read_metrics(out)
    assert "published" not in metrics["rmse"]
    for channel, true in TRUE.items():
        assert metrics["rmse"]["this fit"][channel] < 0.022  # noise of 0.02
        gain, half = metrics["parameters"][f"{channel} gain"]
        assert abs(gain - true["gain"]) < 2.0 * half < 0.1


def write_four(path, plant, *, seed, noise):
    """A log without an arm, of commands from rest."""
    from iap_physics.identified.second_order import response

    t = 0.1 * np.arange(400)
    told = commands(t, seed)[:, :4] * np.minimum(t, 1.0)[:, None]
    rows = plant.rows()
    v = np.stack([response(rows[i], t, told[:, i].copy(), 0.0, 0.0) for i in range(4)], -1)
    v += np.random.default_rng(seed).normal(0.0, noise, v.shape)
    header = ",".join(["t", *(f"{c}_ref" for c in TRUE), *TRUE])
    np.savetxt(path, np.column_stack([t, told, v]), delimiter=",", header=header, comments="")
    return path


def test_what_is_identified_flies(logs, tmp_path):
    out = tmp_path / "out"
    assert run(*logs, "--model", "second_order", "--out", out) == 0
    plant = f"plant.file={out / 'plant.yaml'}"
    flight = ["run", "arm_path", "--set", plant, "--set", "compare={}", "--no-plot", "--no-view"]
    assert main.main([*flight, "--out", str(tmp_path / "flight")]) == 0
    assert 0.05 < read_metrics(tmp_path / "flight")["arm"]["position_rmse_m"] < 0.15


def test_a_flight_is_not_judged_by_itself_nor_by_its_copy(logs, tmp_path, capsys):
    copy = tmp_path / "another_name.mat"
    copy.write_bytes(logs[0].read_bytes())
    for more in ([copy], ["--validate", logs[0]]):
        assert run(logs[0], *more, "--model", "second_order") == 2
        said = capsys.readouterr().err
        assert "is fitted, too" in said
        assert said.count("\n") == 1


def test_forced_it_is_and_the_table_says_so(logs, tmp_path, capsys):
    out = tmp_path / "out"
    assert run(logs[0], "--model", "second_order", "--force", "--out", out) == 0
    assert "NOT held out" in capsys.readouterr().out
    assert read_metrics(out)["validated_on_training"] is True


def test_logs_are_chosen_by_name(logs, tmp_path, capsys):
    out = tmp_path / "out"
    how = ["--model", "second_order", "--fit", "flight_2", "--validate", "flight_1", "--json"]
    assert run(*logs, *how, "--out", out) == 0
    metrics = json.loads(capsys.readouterr().out)
    assert (metrics["fit"], metrics["validate"]) == (["flight_2"], ["flight_1"])


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--error", "equation"], "second_order channels are fitted by their free run"),
        (["--set", "alpha=1.5"], "alpha"),
        (["--set", "bandwith=1.0"], "unknown key"),
        (["--fit", "nothing"], "nothing: no such log"),
    ],
)
def test_what_cannot_be_identified_is_one_line(logs, capsys, more, words):
    assert run(*logs, "--model", "second_order", *more) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


def test_one_log_alone_and_none_are_refused(logs, capsys):
    assert run(logs[0], "--model", "second_order") == 2
    assert "no log to validate" in capsys.readouterr().err
    assert run("nothing.mat", "--model", "second_order") == 2
    assert "nothing.mat: no such log" in capsys.readouterr().err
    assert run("--model", "second_order") == 2
    assert "no log to fit" in capsys.readouterr().err


def test_a_dynamic_model_needs_an_arm_and_logs_of_one_kind(logs, tmp_path, capsys):
    tree = {"model": "second_order", "description": "", "channels": TRUE}
    plant = validate(SecondOrderPlant, tree, source="test")
    paths = [write_four(tmp_path / f"{seed}.csv", plant, seed=seed, noise=0.02) for seed in (3, 4)]
    assert run(*paths, "--model", "dynamic") == 2
    assert "has no arm" in capsys.readouterr().err
    assert run(paths[0], logs[0], "--model", "second_order") == 2
    assert "other channels" in capsys.readouterr().err


@pytest.mark.slow
def test_a_recorded_flight_of_a_quadrotor_under_velocities_becomes_a_model_that_predicts_another(
    tmp_path,
):
    """RMSE within 5 % of each velocity's RMS, and better than to take the commands for velocities."""
    for seed in (1, 2):
        given = [
            "--set",
            f"reference.seed={seed}",
            "--no-plot",
            "--no-view",
            "--out",
            str(tmp_path / f"f{seed}"),
        ]
        assert main.main(["run", "velocity_steps", *given]) == 0
    flights = [tmp_path / "f1", tmp_path / "f2"]
    assert run(*flights, "--model", "second_order", "--out", tmp_path / "found") == 0
    metrics = read_metrics(tmp_path / "found")
    for channel in ("u_l", "u_m", "u_n", "w"):
        found = metrics["rmse"]["this fit"][channel]
        assert found < 0.05 * metrics["rms"][channel], channel
        assert found < 0.8 * metrics["rmse"]["command"][channel], channel

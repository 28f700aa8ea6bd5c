# SPDX-License-Identifier: BSD-3-Clause
"""Channels whose commands leave little trace: wind moves the vehicle sideways more than its commands do."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from iap_bringup.cli import main
from iap_physics.identified.dynamics import CHANNELS
from iap_physics.identified.second_order import response
from iap_simulation.identification.channels import (
    bound_notes,
    fit_channel,
    offered_fit,
    poor_excitation,
    run_channel,
)
from iap_simulation.identification.least_squares import Fit
from iap_simulation.identification.log import make_log
from iap_simulation.identification.settings import load_settings

SETTINGS = load_settings()
TRUE = np.array([1.0, 3.0, 0.9, 0.1])  # of every channel
SAMPLES, DT = 900, 0.1
WIND_TIME = 8.0  # in which it changes [s]
SIDE = CHANNELS.index("u_m")


def signals(seed):
    """A flight of four channels: commands of 0.5 m/s, sideways of 0.05 m/s only, in wind that moves it by 0.3 m/s."""
    rng, t = np.random.default_rng(seed), DT * np.arange(SAMPLES)
    out = {"t": t}
    for name in ("u_l", "u_m", "u_n", "w"):
        size, wind = (0.05, 0.3) if name == "u_m" else (0.5, 0.02)
        u = size * np.repeat(rng.uniform(-1.0, 1.0, SAMPLES // 30), 30)
        keep, drift = np.exp(-DT / WIND_TIME), np.zeros(SAMPLES)
        for k, noise in enumerate(rng.normal(0.0, 1.0, SAMPLES - 1), 1):
            drift[k] = keep * drift[k - 1] + np.sqrt(1.0 - keep * keep) * noise
        out[f"{name}_ref"], out[name] = u, response(TRUE, t, u, 0.0, 0.0) + wind * drift
    return out


def log(seed):
    return make_log(f"flight_{seed}", f"flight_{seed}", signals(seed))


def error(row, flight):
    """Root mean square of the sideways prediction's error over that of no motion."""
    off = run_channel(row, flight, SIDE) - flight.v[:, SIDE]
    return float(np.linalg.norm(off) / np.linalg.norm(flight.v[:, SIDE]))


@pytest.mark.parametrize(("half_width", "notes"), [(0.49, 0), (0.51, 1)])
def test_a_gain_whose_interval_holds_zero_is_poorly_excited(half_width, notes):
    moved = SimpleNamespace(v=np.ones((100, 1)), sound=np.ones((100, 1), bool))
    fit = Fit(np.array([-0.5, 1.0, 1.0, 0.0]), np.array([half_width, 0.1, 0.1, 0.1]), 0.1, 1)
    found = poor_excitation(fit, [moved], 0)
    assert len(found) == notes
    assert all("does not leave zero out" in note for note in found)


@pytest.mark.parametrize("seed", [1, 5])
def test_a_channel_of_which_wind_is_most_is_not_predicted_worse_than_by_no_motion(seed):
    fitted, held_out = [log(10 * seed + 1), log(10 * seed + 2)], [log(10 * seed + 3)]
    settings = SETTINGS.second_order
    whole = fit_channel(fitted, "u_m", settings, SETTINGS.steps)
    assert error(whole.values, held_out[0]) > 1.0, "all data together fall behind no motion"
    offered = offered_fit(fitted, held_out, "u_m", settings, SETTINGS.steps)
    assert error(offered.fit.values, held_out[0]) <= 1.0
    assert any("poorly excited" in note for note in offered.notes)
    assert any("offered is" in note for note in offered.notes)


def test_a_channel_that_is_excited_well_is_fitted_by_all_logs_whatever_validates_best():
    fitted, held_out = [log(11), log(12)], [log(13)]
    settings = SETTINGS.second_order
    whole = fit_channel(fitted, "u_l", settings, SETTINGS.steps)
    offered = offered_fit(fitted, held_out, "u_l", settings, SETTINGS.steps)
    np.testing.assert_array_equal(offered.fit.values, whole.values)
    assert offered.notes == ()


def test_a_parameter_that_lies_at_its_bound_is_named_with_the_bound():
    settings = SETTINGS.second_order
    fit = fit_channel([log(11), log(12)], "u_m", settings, SETTINGS.steps)
    assert "damping is at its upper bound, 6" in bound_notes(fit, settings)


def test_the_command_says_which_channel_is_poorly_excited_and_what_is_offered(tmp_path, capsys):
    paths = []
    for seed in (11, 12, 13):
        columns, path = signals(seed), tmp_path / f"flight_{seed}.csv"
        rows = np.column_stack(list(columns.values()))
        np.savetxt(path, rows, delimiter=",", header=",".join(columns), comments="")
        paths.append(str(path))
    asked = ["identify", *paths, "--model", "second_order", "--fit", *paths[:2], "--no-plot"]
    assert main.main([*asked, "--json", "--out", str(tmp_path / "out")]) == 0
    out, err = capsys.readouterr()
    metrics = json.loads(out)
    assert metrics["rmse"]["this fit"]["u_m"] <= metrics["rmse"]["zero"]["u_m"]
    assert set(metrics["channel_notes"]) == {"u_m"}
    assert "u_m: " in err
    assert "poorly excited" in err

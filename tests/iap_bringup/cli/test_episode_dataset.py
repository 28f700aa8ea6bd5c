# SPDX-License-Identifier: BSD-3-Clause
"""Lines on a data set of episodes, and the settings of its task."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from iap_bringup.cli.episode_dataset import _show, summary
from iap_bringup.cli.options import parsed_settings
from iap_description.errors import BadInput
from iap_learning.datasets.rollouts import Rollout

NOTHING = np.zeros(0)


def rollout(steps, reward, outcome):
    actions, rewards = np.zeros((steps, 2)), np.full(steps, reward)
    success = outcome == "docked"
    return Rollout(1, NOTHING, actions, rewards, NOTHING, NOTHING, success, outcome)


ROLLOUTS = [rollout(10, 0.5, "docked"), rollout(30, 1.0, "docked"), rollout(100, -0.1, "missed")]


def test_successes_alone_have_a_mean_time_and_all_count_for_the_rest(capsys):
    found = summary(ROLLOUTS, SimpleNamespace(dt=0.05))
    assert (found["episodes"], found["steps"], found["time_mean_s"]) == (3, 140, 1.0)
    assert found["success_rate"] == pytest.approx(2 / 3)
    assert found["return_mean"] == pytest.approx((5.0 + 30.0 - 10.0) / 3)
    assert found["outcomes"] == {"docked": 2, "missed": 1}
    assert found["success_low"] == pytest.approx(0.2077, abs=1e-4)  # Wilson, 95 %
    assert found["success_high"] == pytest.approx(0.9385, abs=1e-4)
    _show(Console(width=80), found, Path("x/y"), as_json=False)
    said = capsys.readouterr().out
    assert said == (
        "3 episodes, 140 steps; success 66.7 % (Wilson 95 %: 20.8 to 93.9), mean 1.00 s; return 8.33\n"
        "docked: 2, missed: 1\nfolder: x/y\n"
    )
    _show(Console(), found, Path("x/y"), as_json=True)
    assert json.loads(capsys.readouterr().out) == {**found, "folder": "x/y"}


def test_without_a_success_there_is_no_mean_time(capsys):
    found = summary(ROLLOUTS[2:], SimpleNamespace(dt=0.05))
    assert found["time_mean_s"] is None and found["success_rate"] == 0.0
    _show(Console(width=80), found, Path("x"), as_json=False)
    assert "success 0.0 %" in (said := capsys.readouterr().out) and "mean -;" in said


@pytest.mark.parametrize("typed", ["speed", "=3", ""])
def test_settings_are_keys_with_values_of_yaml(typed):
    assert parsed_settings(["a.b=3.5", "c=[1, 2]", "d=x=y"]) == {
        "a.b": 3.5,
        "c": [1, 2],
        "d": "x=y",
    }
    with pytest.raises(BadInput, match=f"--set {typed}: expected KEY=VALUE"):
        parsed_settings([typed])

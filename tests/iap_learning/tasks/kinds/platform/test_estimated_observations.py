# SPDX-License-Identifier: BSD-3-Clause
"""Policies that observe estimates: worlds and single runs go by the same ones, in what is seen and in what flies."""

import numpy as np
import pytest
from linear_policies import linear_policy
from watched_policies import observed_rows

from iap_description.errors import BadInput
from iap_description.states import P
from iap_learning.tasks.kinds.registry import make_episodes, make_task
from iap_simulation.simulation.simulation import Simulation

ESTIMATES = {
    "sensors": "capture",
    "control.state_source": "capture_inertial",
    "sensors.motion_capture.position": 0.02,
    "sensors.motion_capture.latency": 0.05,
}
STEADY = {"position_error": 1.5, "velocity": -2.0}  # gains [1/s^2], [1/s]
SEEN = {"position_error": 1.0, "velocity": 1.0, "attitude_error": 0.5, "rates": 1.0, "action": 1.0}


def estimated(kind="acceleration", **more):
    """Keys of a task whose policy observes estimates."""
    low, high = ([-4.0, -4.0, -4.0, -1.0], [4.0, 4.0, 4.0, 1.0])
    return {
        "observed": "estimated",
        "platform": "f450",
        "settings": {**make_task("hold").settings, **ESTIMATES},
        "observation": SEEN,
        "action": {"kind": kind, "low": low, "high": high},
        **more,
    }


def flown(kind, tmp_path, monkeypatch, steps=40, **more):
    """Episodes of seeds 4 to 6 and the single run of seed 5, by a linear policy; both kinds of observations."""
    settings = estimated(kind, **more)
    episodes = make_episodes("hold", 3, settings=settings)
    made = linear_policy(episodes, gains=STEADY, settings=settings, drawn=0.01)
    made.save(tmp_path / "policy.npz")
    seen, together = episodes.reset(seeds=[4, 5, 6]), []
    alone = observed_rows(monkeypatch)
    keys = {**episodes.task.settings, "policy": str(tmp_path / "policy.npz")}
    options = {"platform": "f450", "seed": 5, "engine": "closed_form"}
    with Simulation.of("hover", settings=keys, **options) as simulation:
        for _ in range(steps):
            together.append(seen)
            for _ in range(episodes.task.repeat):
                simulation.step()
            seen = episodes.step(made(seen)).observation
            np.testing.assert_array_equal(simulation.state, episodes.worlds.state[1])
    return episodes, np.array(together), np.array(alone[:steps])[:, 0]


@pytest.mark.parametrize("kind", ["acceleration", "velocity"])
def test_a_single_run_on_estimates_observes_and_flies_as_the_world_of_its_seed(
    kind, tmp_path, monkeypatch
):
    episodes, together, alone = flown(kind, tmp_path, monkeypatch, history=2)
    np.testing.assert_array_equal(alone, together[:, 1])
    known, true = episodes.worlds.known_states()[:, 0], episodes.worlds.state[:, 0]
    assert 1e-4 < np.linalg.norm(known[:, P] - true[:, P], axis=1).max() < 0.1


def test_commands_of_rotors_on_estimates_fly_alike(tmp_path, monkeypatch):
    """Without a controller below: the policy alone goes by the estimate."""
    action = {"kind": "rate_thrust", "low": [-1.0, -1.0, -1.0, 5.0], "high": [1.0, 1.0, 1.0, 25.0]}
    _, together, alone = flown("velocity", tmp_path, monkeypatch, action=action)
    np.testing.assert_array_equal(alone, together[:, 1])


def test_rewards_and_ends_go_by_the_truth(tmp_path, monkeypatch):
    episodes, *_ = flown("acceleration", tmp_path, monkeypatch, steps=10)
    goal = episodes.goal
    away = np.linalg.norm(episodes.worlds.state[:, 0, P] - goal, axis=1)
    np.testing.assert_allclose(episodes.report()["distance"], away, atol=1e-12)
    guessed = np.linalg.norm(episodes.worlds.known_states()[:, 0, P] - goal, axis=1)
    assert np.abs(guessed - away).max() > 1e-5


def test_a_policy_on_estimates_holds_its_place_in_worlds():
    episodes = make_episodes("hold", 8, settings=estimated(), scenario={"draw.position": 0.3})
    policy = linear_policy(episodes, gains=STEADY, settings=estimated())
    seen = episodes.observe()
    for _ in range(240):
        seen = episodes.step(policy(seen)).observation
    assert (episodes.report()["distance"] < 0.12).all()  # of poses with 20 mm of noise


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"settings": {}}, "^key 'control.state_source': 'truth', but task 'hold' observes estimates: name a method"),
        ({"observed": "truth"}, "'capture_inertial', but task 'hold' observes 'truth' in many worlds: it needs"),
        ({"observed": "measured"}, "'capture_inertial', but task 'hold' observes 'measured' in many worlds"),
        ({"observed": "guessed"}, "key 'observed'"),
        ({"platform": None}, "is for one body, and the platform has 4"),
    ],
)  # fmt: skip
def test_what_is_not_estimated_is_refused_in_a_line(settings, line):
    with pytest.raises(BadInput, match=line):
        make_episodes("hold", 1, settings=estimated(**settings))


def test_a_single_run_on_the_truth_gives_no_estimates(tmp_path):
    episodes = make_episodes("hold", 1, settings=estimated())
    path = str(tmp_path / "policy.npz")
    linear_policy(episodes, gains=STEADY, settings=estimated()).save(path)
    keys = {**episodes.task.settings, "control.state_source": "truth", "policy": path}
    with pytest.raises(BadInput, match="'truth', but task 'hold' observes estimates"):
        Simulation.of("hover", settings=keys, platform="f450")


def test_tasks_that_touch_refuse_estimates_in_worlds():
    line = "but in many worlds task 'perch_on_wall' goes by the truth|is for one body"
    with pytest.raises(BadInput, match=line):
        make_episodes("perch_on_wall", 1, scenario=ESTIMATES)

# SPDX-License-Identifier: BSD-3-Clause
"""Terms of a user's own: what they compute, what they refuse, and that a number that is none ends its world alone."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.states import P
from iap_learning.tasks.kinds.registry import make_episodes
from iap_simulation.tasks.outcomes import INVALID_TERM, OUTCOMES

MODULE = """
import math

def ahead(world):
    return (world.goal[0] - world.x[0, 0], float(world.action[1]))

def aside(world):
    return abs(world.x[0, 1] - world.goal[1])

def high_is_none(world):
    return (math.nan if world.x[0, 2] > world.goal[2] else 1.0,)

def unsound(world):
    return math.nan if world.x[0, 2] > world.goal[2] else 0.0

def along(values, world):
    return (values[0], 0.5 * values[0], 0.0, 0.0)

def scalar(world):
    return 1.0

def texts(world):
    return ("a", "b")

def wrong(world):
    return (world.nothing,)

constant = 3
"""


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch):
    """A module of a user's beside the tasks."""
    (tmp_path / "mine.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "mine", raising=False)


def episodes_with(worlds=3, **settings):
    return make_episodes("hold", worlds, settings={"seconds": 1.0, **settings})


def test_an_observed_term_is_the_function_of_each_world_over_its_scale():
    episodes = episodes_with(observation={"velocity": 1.0, "mine:ahead": 2.0, "up": 1.0})
    assert [term[:2] for term in episodes.layout] == [
        ("velocity", 3),
        ("mine:ahead", 2),
        ("up", 3),
    ]
    actions = np.linspace(-1.0, 1.0, 12).reshape(3, 4)
    seen = episodes.step(actions).observation
    x, goal = episodes.worlds.state[:, 0], episodes._inputs().goals
    wanted = [goal[0, 0] - x[:, 0], actions[:, 1]]
    np.testing.assert_allclose(seen[:, 3:5], 0.5 * np.transpose(wanted), atol=1e-6)
    np.testing.assert_array_equal(seen, episodes.observe())


def test_a_quantity_rewards_and_judges_as_those_of_the_suite():
    term = {"weight": -2.0, "factors": [{"of": "mine:aside", "shape": "square", "k": 3.0}]}
    episodes = episodes_with(
        **{"reward.terms": {"aside": term}, "fails_beyond": {"mine:aside": 0.3}}
    )
    push = np.zeros((3, 4))
    push[1, 1] = 1.0  # to the side
    for _ in range(40):
        step = episodes.step(push)
        aside = np.abs(episodes.worlds.state[:, 0, 1] - episodes._inputs().goals[0, 1])
        if step.terminated[1]:
            break
        np.testing.assert_allclose(step.reward, -6.0 * aside**2, rtol=1e-6)
    assert OUTCOMES[int(episodes.outcome[1])] == "out_of_bounds"
    assert aside[1] > 0.3 and not step.terminated[[0, 2]].any()


@pytest.mark.parametrize("where", ["observation", "reward"])
def test_a_term_that_is_no_number_ends_its_world_alone_and_is_named(where):
    settings = {"observation": {"velocity": 1.0, "mine:high_is_none": 1.0}}
    if where == "reward":
        factors = [{"of": "mine:unsound", "shape": "linear"}]
        settings = {"reward.terms": {"odd": {"weight": 1.0, "factors": factors}}}
    name = "mine:high_is_none" if where == "observation" else "mine:unsound"
    episodes = episodes_with(8, **settings)
    high = episodes.worlds.state[:, 0, 2] > episodes._inputs().goals[0, 2]
    up = np.zeros((8, 4))
    up[:, 2] = np.where(np.arange(8) == 5, 1.0, -1.0)
    episodes.observe()
    with pytest.warns(UserWarning, match=f"'hold': {name} gave no finite number in world"):
        for _ in range(10):
            step = episodes.step(up)
            high |= episodes.worlds.state[:, 0, 2] > episodes._inputs().goals[0, 2]
    assert np.isfinite(step.observation).all() and np.isfinite(step.reward).all()
    np.testing.assert_array_equal(episodes.outcome == INVALID_TERM, high)
    assert high[5] and not high.all()


def test_an_action_is_what_the_function_makes_of_it():
    own = {"kind": "velocity", "function": "mine:along", "low": [-1.0], "high": [1.0]}
    of_four = {"kind": "velocity", "low": [-1.0] * 4, "high": [1.0] * 4}
    one, four = episodes_with(action=own), episodes_with(action=of_four)
    assert (one.size, four.size) == (1, 4)
    assert one.policy_layout.action.kind == "velocity by mine:along"
    for _ in range(5):
        one.step(np.full((3, 1), 0.4))
        four.step(np.tile([0.4, 0.2, 0.0, 0.0], (3, 1)))
    np.testing.assert_array_equal(one.worlds.state, four.worlds.state)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"observation": {"mine:scalar": 1.0}}, "'mine:scalar' returns 1.0; a tuple of floats"),
        ({"observation": {"mine:texts": 1.0}}, r"key 'observation.mine:texts': .*texts"),
        ({"observation": {"mine:wrong": 1.0}}, "numba cannot compile 'mine:wrong'"),
        ({"observation": {"mine:missing": 1.0}}, "'mine:missing' is no function"),
        ({"observation": {"mine:constant": 1.0}}, "'mine:constant' is no function"),
        (
            {"observation": {"json:JSONDecoder": 1.0}},
            "'json:JSONDecoder' is no function in Python",
        ),
        ({"observation": {"math:sin": 1.0}}, "'math:sin' is no function in Python"),
        ({"observation": {"nowhere:any": 1.0}}, "module 'nowhere' cannot be imported"),
        ({"fails_beyond": {"mine:ahead": 1.0}}, r"'mine:ahead' returns \(.*; one float is"),
        ({"history": 1001}, "key 'history': .* 1000"),
        ({"observation": {"nothing": 1.0}}, "no term 'nothing': choose .*module:function"),
        (
            {"action": {"kind": "pose", "function": "mine:ahead", "low": [0.0], "high": [1.0]}},
            "numba cannot compile 'mine:ahead'|mine:ahead",
        ),
    ],
)
def test_what_is_no_term_is_refused_by_its_key(settings, message):
    with pytest.raises(BadInput, match=message):
        episodes_with(**settings)


def test_the_last_steps_are_observed_newest_first_and_begin_with_the_start():
    alone = episodes_with(observation={"velocity": 1.0, "action": 1.0})
    three = episodes_with(observation={"velocity": 1.0, "action": 1.0}, history=3)
    names = [term[0] for term in three.layout]
    assert names == [
        "velocity",
        "action",
        "velocity[-1]",
        "action[-1]",
        "velocity[-2]",
        "action[-2]",
    ]
    frames = [alone.observe()] * 3
    np.testing.assert_array_equal(three.observe(), np.hstack(frames))
    rng = np.random.default_rng(0)
    for _ in range(4):
        actions = rng.uniform(-0.2, 0.2, (3, 4))
        frames = [alone.step(actions).observation, *frames[:2]]
        np.testing.assert_array_equal(three.step(actions).observation, np.hstack(frames))
        np.testing.assert_array_equal(three.observe(), np.hstack(frames))
    begun, alike = three.reset([1]), alone.reset([1])
    np.testing.assert_array_equal(begun, np.hstack([alike] * 3))


def test_measured_states_are_those_that_controllers_see():
    noisy = {"state_noise.position": 0.05}
    episodes = make_episodes(
        "hold", 4, settings={"observation": {"position_error": 1.0}, "observed": "measured"},
        scenario=noisy,
    )  # fmt: skip
    start = episodes.observe()
    seen = episodes.step(np.zeros((4, 4))).observation
    worlds, goal = episodes.worlds, episodes._inputs().goals[0]
    np.testing.assert_allclose(seen, goal[P] - worlds.measured[:, P], atol=1e-6)
    assert np.abs(seen - (goal[P] - worlds.state[:, 0, P])).max() > 0.01
    assert start.shape == (4, 3)
    with pytest.raises(BadInput, match="key 'observed': no controller measures"):
        make_episodes("hold_rotor_thrust", 1, settings={"observed": "measured"})


def test_inertial_terms_are_the_units_means_over_a_period():
    settings = {"observation": {"gyro": 1.0, "specific_force": 10.0}}
    episodes = make_episodes("hold", 3, settings=settings, scenario={"sensors": "imu"})
    assert not episodes.observe().any()  # nothing has been measured yet
    seen = episodes.step(np.zeros((3, 4))).observation
    samples = episodes.worlds.imu
    np.testing.assert_allclose(seen[:, :3], samples.w_S[:, 0].mean(axis=1), atol=1e-5)
    np.testing.assert_allclose(10.0 * seen[:, 3:], samples.f_S[:, 0].mean(axis=1), atol=1e-4)
    with pytest.raises(BadInput, match="key 'observation.gyro': scenario 'hover' has no sensors"):
        make_episodes("hold", 1, settings=settings)


def test_a_lidar_is_observed_by_its_ranges():
    """Inside a ring of walls every beam of a level turn meets one; with none around it nothing is measured."""
    image = {"preset": "vlp16", "settings": {"channels": 1, "columns": 8, "elevation_deg": [0, 0]}}
    episodes = episodes_with(1, depth=image)
    numbers = episodes.observe()[0, episodes.observer.size :]
    assert numbers.shape == (8,) and (numbers == 1.0).all()

# SPDX-License-Identifier: BSD-3-Clause
"""Actions of hand-written agents of tasks that touch in one instant, worked out by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_learning.tasks.kinds.hinge_turn import agents as hinge
from iap_learning.tasks.kinds.hinge_turn.observations import TurnInputs
from iap_learning.tasks.kinds.peg_in_hole import kind as peg
from iap_learning.tasks.kinds.perch_on_wall import kind as perch
from iap_learning.tasks.kinds.push_object import kind as shove
from iap_learning.tasks.kinds.push_object.observations import ShoveInputs
from iap_learning.tasks.kinds.slide_along_wall import kind as slide
from iap_learning.tasks.kinds.wall_push import kind as press

DT = 0.02


def columns(**numbers):
    """Inputs as an agent reads them; what is not given is missing."""
    return SimpleNamespace(**{key: np.array(each, float) for key, each in numbers.items()})


def made(cls, inputs, size, true=None, **keys):
    """An agent of worlds with these inputs."""
    count = len(next(each for each in vars(inputs).values() if each.ndim))
    episodes = SimpleNamespace(
        count=count, size=size, dt=DT, limit=9, inputs=inputs, true_inputs=true, steps=np.zeros(count, int),
        scale=SimpleNamespace(invert=lambda values: values),
    )  # fmt: skip
    return cls(cls.SETTINGS(description="x", **keys), episodes), episodes


def check(values, expected):
    np.testing.assert_allclose(values, expected, atol=1e-12)


# what turns about a hinge

ARC = {
    "approach": 0.1, "felt": 1.0, "swing": 0.2, "resist": 10.0, "stop_deg": 60.0, "centering": 2.0, "pull": 0.5,
    "inwards": 0.25, "follows": 0.9, "turns": 1.5,
}  # fmt: skip
HANDLE = {"lean": 4.0, "shove": 8.0, "press": 0.1, "depth": 0.1, "opened": 0.05, "rise": 2.0}


def test_a_force_slows_down_until_it_stops_and_beyond_that_turns_back_by_three_tenths():
    forces = np.array([0.0, 2.0, -2.0, 10.0, 12.0, 14.0])
    check(hinge.slowed(forces, 10.0), [1.0, 0.8, 0.8, 0.0, -0.2, -0.3])


def turns(force=0.0, turn=0.0, lift=0.0, **others):
    """Inputs of one world, whose other numbers are zero."""
    keys = dict.fromkeys(TurnInputs._fields, [0.0])
    keys |= {"force": [[force, 0.0, lift]], "turn": [turn], "lag": [[0.0, 0.0]], **others}
    return columns(**keys)


def test_a_swing_follows_the_arc_and_pulls_back_to_its_radius():
    lag = {"lag": [[0.02, 0.01]], "radius": [0.04], "heading": [0.05]}
    agent, _ = made(hinge.SwingAgent, turns(turn=0.1, **lag), 3, guide="swing", **ARC)
    check(agent.values(), [[0.1, 2.0 * (0.01 + 0.25 * 0.02 - 0.5 * 0.04), 1.5 * (0.09 - 0.05)]])


def test_a_swing_is_faster_once_it_has_felt_what_it_turns_until_it_has_turned_so_far():
    agent, episodes = made(hinge.SwingAgent, turns(), 3, guide="swing", **ARC)
    onward = []
    for force, turn in ((-0.99, 0.0), (-5.0, 0.0), (0.0, 1.0), (0.0, 1.05)):
        episodes.inputs = turns(force, turn)
        onward.append(agent.values()[0, 0])
    check(onward, [0.1 * 0.901, 0.2 * 0.5, 0.2, 0.0])
    agent.begin(np.array([0]))
    episodes.inputs = turns()
    check(agent.values()[0, 0], 0.1)


def test_an_oracle_of_a_swing_goes_by_what_is_true():
    agent, _ = made(hinge.SwingOracle, turns(), 3, turns(turn=2.0), guide="swing_oracle", **ARC)
    assert agent.values()[0, 0] == 0.0


@pytest.mark.parametrize("cls", [hinge.HandleAgent, hinge.HandleOracle])
def test_a_handle_is_leant_on_pressed_and_let_go_once_the_door_gives_way(cls):
    guide = "handle" if cls is hinge.HandleAgent else "handle_oracle"
    agent, episodes = made(cls, turns(), 4, guide=guide, **ARC, **HANDLE)
    episodes.arc = SimpleNamespace(reach=0.5)

    def at(**keys):
        inputs = turns(**keys)
        episodes.inputs, episodes.true_inputs = inputs, inputs
        if cls is hinge.HandleOracle:
            episodes.inputs = None
        return agent.values()

    check(at(turn=0.1, height=[0.3]), [[0.1, 0.0, 0.0, 0.0]])  # it comes along the arc
    pressed = {"force": -3.0, "lift": 4.0, "turn": 0.15}
    # 5 N of 10 leave half of the speed; pressed by three quarters, half of what is between lean and shove is wanted
    check(at(**pressed, height=[-0.075]), [[0.1 * (6.0 - 3.0) / 4.0, 0.0, -0.05, 0.0]])
    # a fifth of the depth before its end it goes slower
    check(at(**pressed, height=[-0.095]), [[0.1, 0.0, -0.1 * 0.25, 0.0]])
    check(at(force=-20.0, turn=0.15, height=[0.0])[0, 0], 0.1 * -2.0)
    opened = {"turn": 0.22, "height": [-0.1], "sag": [0.02], "heading": [0.1]}
    check(at(**opened), [[0.2, 0.0, 2.0 * 0.12, 1.5 * (0.9 * 0.22 - 0.1)]])
    check(at(turn=0.0)[0, 0], 0.2)  # it stays open
    agent.begin(np.array([0]))
    check(at(turn=0.0, sag=[1.0]), [[0.1, 0.0, 0.0, 0.0]])


# a loose object

SHOVE = {
    "approach": 0.1, "felt": 1.0, "shove": 0.3, "hastens": 0.5, "slows": 0.4, "steers": 0.2, "side": 0.03, "leads": 2.0,
    "shifts": 3.0, "turn_deg": 20.0, "stop": 0.05, "retreat": 0.1, "lets_go": 4.0,
}  # fmt: skip


def shoved(**others):
    keys = {key: [[0.0, 0.0]] for key in ShoveInputs._fields}
    return columns(**{**keys, "heading": [0.0], "left": [[1.0, 0.0]], **others})


def shove_at(**others):
    agent, _ = made(shove.ShoveAgent, shoved(**others), 2, guide="shove", **SHOVE)
    return agent.values()


def test_a_shove_approaches_the_middle_of_the_object_until_it_feels_it():
    check(shove_at(tip=[[-0.2, 0.01]]), [[0.1, 3.0 * 2.0 * -0.01]])
    check(shove_at(lag=[[0.5, 0.02]]), [[0.1, 3.0 * 0.02]])
    check(shove_at(force=[[0.6, 0.7]])[0, 0], 0.1)


@pytest.mark.parametrize(("left", "pace"), [(1.0, 0.3), (0.5, 0.2), (0.2, 0.12)])
def test_a_shove_slows_down_towards_the_goal_and_hastens_what_is_late(left, pace):
    values = shove_at(force=[[0.0, -2.0]], left=[[left, 0.0]], velocity=[[0.1, 0.0]])
    check(values, [[pace + 0.5 * (pace - 0.1), 0.0]])


def test_a_shove_steers_by_the_side_on_which_it_pushes_up_to_its_edge():
    """A goal to the left asks for a turn to the left, by a push on the right; 20 deg at most."""
    check(shove_at(left=[[0.5, 0.05]])[0, 1], 3.0 * 2.0 * -0.2 * np.arctan2(0.05, 0.5))
    check(shove_at(left=[[0.5, 5.0]])[0, 1], 3.0 * 2.0 * -0.03)
    check(shove_at(left=[[0.5, -5.0]], heading=[-0.3])[0], shove_turned(-0.3, 0.0491, 0.1))
    check(shove_at(left=[[0.06, 0.01]])[0, 1], 3.0 * 2.0 * -0.2 * np.arctan2(0.01, 0.1))


def shove_turned(heading, turn, onward):
    """Onward along the object's heading, and across it to the side that turns it."""
    turn = np.deg2rad(20.0) + heading if turn else 0.0
    across = 6.0 * np.clip(0.2 * turn, -0.03, 0.03)
    c, s = np.cos(heading), np.sin(heading)
    return [c * onward - s * across, s * onward + c * across]


def test_a_shove_goes_along_the_heading_of_the_object_where_its_tip_and_lag_lie_across_it():
    """Turned by a quarter, forwards of the object is to the left, and its left is backwards."""
    quarter = {"heading": [np.pi / 2], "left": [[1.0, 0.0]]}
    values = shove_at(**quarter, tip=[[-0.01, -0.2]], lag=[[0.02, 0.5]])
    # it is to turn back by a quarter: pushed at its left edge; the tip is 0.01 to the left, the reference 0.02 right
    across = 3.0 * (2.0 * (0.03 - 0.01) - 0.02)
    check(values, [[-across, 0.1]])


def test_a_shove_lets_go_at_the_goal_for_good():
    agent, episodes = made(
        shove.ShoveAgent, shoved(left=[[0.049, 0.3]]), 2, guide="shove", **SHOVE
    )
    check(agent.values(), [[-0.1, 0.0]])
    episodes.inputs = shoved(lag=[[-0.01, 0.0]])
    check(agent.values(), [[-0.14, 0.0]])
    agent.begin(np.array([0]))
    check(agent.values(), [[0.1, 0.0]])
    oracle, _ = made(
        shove.ShoveOracle, shoved(), 2, shoved(left=[[0.04, 0.0]]), guide="shove_oracle", **SHOVE
    )
    check(oracle.values(), [[-0.1, 0.0]])


# perches

ALIGHT = {"cruise": 1.0, "touch": 0.2, "time": 2.0, "kV": 0.5, "kI": 0.25}


def perching(**others):
    return columns(**{"range": [1.0, 0.1, 5.0], "closing": [0.3] * 3, "held": [0.0] * 3, **others})


def test_an_alighting_platform_is_as_fast_as_its_time_to_contact_allows_against_the_wind():
    agent, _ = made(perch.AlightAgent, perching(), 1, guide="alight", **ALIGHT)
    missing = np.array([0.2, -0.1, 0.7])
    for calls in (1, 2):
        expected = np.array([0.5, 0.2, 1.0]) + (0.5 + calls * DT * 0.25) * missing
        check(agent.values(), expected[:, None])
    agent.begin(np.array([1]))
    expected = np.array([0.5, 0.2, 1.0]) + (0.5 + np.array([3, 1, 3]) * DT * 0.25) * missing
    check(agent.values(), expected[:, None])


def test_where_the_patch_is_held_no_speed_is_missing():
    held = perching(held=[1.0, 1.0, 1.0])
    agent, _ = made(perch.AlightAgent, held, 1, guide="alight", **ALIGHT)
    check(agent.values(), [[0.5], [0.2], [1.0]])


def test_an_oracle_touches_halfway_between_what_catches_and_its_own_speed():
    agent, episodes = made(
        perch.AlightOracle, perching(), 1, perching(), guide="alight_oracle", **ALIGHT
    )
    episodes.inputs, episodes.least_speed = None, lambda world: 0.1 * (world + 1)
    check(agent.values()[1, 0], 0.2 + (0.5 + DT * 0.25) * -0.1)
    episodes.true_inputs = perching(range=[0.0] * 3, held=[1.0] * 3)
    agent.begin(np.arange(3))
    check(agent.values(), [[0.15], [0.2], [0.25]])


# slides

GLIDE = {
    "approach": 0.05, "felt": 1.0, "rush": 0.4, "near": 0.1, "brakes": 2.0, "kP": 0.01, "press": 0.03, "settled": 1.5,
    "glide": 0.05, "gather": 1.0, "yields": 3.0, "returns": 4.0,
}  # fmt: skip


def sliding(forces, gap=0.25):
    n = len(forces)
    force = np.column_stack([forces, np.full(n, 9.0), np.full(n, 9.0)])
    inputs = columns(force=force, gap=[gap] * n, way=[[0.5, 0.01]] * n, lag=[[0.5, 0.5, 0.02]] * n)
    inputs.desired = np.array(10.0)
    return inputs


@pytest.mark.parametrize(("gap", "speed"), [(0.25, 0.3), (0.9, 0.4), (0.11, 0.05)])
def test_a_slide_rushes_to_where_the_wall_may_be(gap, speed):
    agent, _ = made(slide.GlideAgent, sliding([0.0], gap), 3, guide="glide", **GLIDE)
    check(agent.values(), [[speed, 0.0, -0.04]])


def test_a_slide_presses_by_what_is_missing_and_goes_on_once_little_is():
    agent, episodes = made(slide.GlideAgent, sliding([8.0, 9.0, 30.0]), 3, guide="glide", **GLIDE)
    check(agent.values(), [[0.02, 0.0, 0.06], [0.01, 0.02, -0.04], [-0.03, 0.0, 0.06]])
    episodes.inputs = sliding([2.0, 20.0, 11.6])
    check(agent.values(), [[0.03, 0.0, 0.06], [-0.03, 0.04, -0.04], [-0.016, 0.0, 0.06]])
    check(agent.values()[1, 1], 0.05)  # the speed that it gathers
    agent.begin(np.array([1]))
    episodes.inputs = sliding([0.0, 0.0, 0.0])
    check(agent.values()[1], [0.3, 0.0, -0.04])
    assert agent.values()[0, 0] == 0.03  # this one still feels the wall
    oracle, _ = made(
        slide.GlideOracle, sliding([0.0]), 3, sliding([8.0]), guide="glide_oracle", **GLIDE
    )
    check(oracle.values(), [[0.02, 0.0, 0.06]])


# pegs

INSERT = {
    "approach": 0.1, "gate": 0.02, "insert": 0.05, "stop": 0.06, "yields": 0.01, "turns": 0.2, "steers": 0.03,
    "resist": 10.0,
}  # fmt: skip


def test_a_peg_goes_in_slowly_yields_across_and_turns_as_it_is_pushed():
    inputs = columns(
        mouth=[[0.03, 9.0, 9.0], [0.01, 9.0, 9.0], [-0.07, 9.0, 9.0]],
        force_P=[[2.0, 1.0, -1.5], [-20.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
        torque_P=[[9.0, 0.5, -0.25], [0.0] * 3, [0.0] * 3],
    )
    agent, _ = made(peg.InsertAgent, inputs, 5, guide="insert", **INSERT)
    agent.begin(np.arange(3))
    first = [-0.08, 0.01, -0.015, 0.2 * 0.5 - 0.03 * 1.5, -0.2 * 0.25 - 0.03]
    check(agent.values(), [first, [0.05 * 0.3, 0.0, 0.0, 0.0, 0.0], [0.0] * 5])


def test_an_oracle_of_a_peg_goes_in_along_the_axis_once_it_is_on_it():
    inputs = columns(mouth=[[0.0, 0.0, 0.0]] * 3 + [[-0.07, 0.0, 0.0]])
    keys = {"approach": 0.1, "rate": 2.0, "near": 0.01, "aligned": 0.05, "stop": 0.06}
    agent, episodes = made(peg.OracleAgent, inputs, 5, guide="insert_oracle", **keys)
    ways = np.array([[0.5, 0.006, 0.007], [0.5, 0.008, 0.008], [0.5, 0.0, 0.0], [0.5, 0.0, 0.0]])
    angles = np.array([[0.0, 0.03, 0.03], [0.0, 0.0, 0.0], [0.0, 0.04, 0.04], [0.0, 0.0, 0.0]])
    episodes.off_axis = lambda: (ways, angles)
    agent.begin(np.arange(4))
    expected = np.column_stack([[-0.1, 0.0, 0.0, 0.0], 2.0 * ways[:, 1:], 2.0 * angles[:, 1:]])
    check(agent.values(), expected)


# pushes

PRESS = {
    "cruise": 0.5, "touch": 0.1, "near": 0.05, "slow": 2.0, "kV": 0.5, "begin": 0.02, "kP": 0.001, "kI": 0.002,
    "back": 0.1, "press": 0.06,
}  # fmt: skip


def test_a_push_comes_fast_touches_slowly_and_presses_as_force_is_missing():
    inputs = columns(
        gap=[0.2, 9.0, 0.01, 0.0, 0.0, 0.0], velocity=[[0.3, 9.0, 9.0]] * 6, force=[0.0, 0.0, 0.0, 4.0, -90.0, 300.0],
        integral=[0.0, 0.0, 0.0, 5.0, 0.0, 0.0],
    )  # fmt: skip
    inputs.desired, inputs.has_felt = np.array(10.0), np.array([False] * 3 + [True] * 3)
    agent, _ = made(press.PressAgent, inputs, 1, guide="press", **PRESS)
    expected = [0.45, 0.6, 0.0, 0.02 + 0.006 + 0.01, 0.06, -0.1]
    check(agent.values()[:, 0], expected)
    oracle, _ = made(
        press.PressOracle, columns(gap=[0.0] * 6), 1, inputs, guide="press_oracle", **PRESS
    )
    check(oracle.values()[:, 0], expected)

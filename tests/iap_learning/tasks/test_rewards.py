# SPDX-License-Identifier: BSD-3-Clause
"""Rewards, ranges, seeds and moments of learning against their equations; in Python, as compiled loops have them."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.vehicles.face_latch import CatchLimits
from iap_learning.tasks.kinds.arm_reach import rewards as arm
from iap_learning.tasks.kinds.arm_reach.observations import Tips
from iap_learning.tasks.kinds.arm_reach.rewards import ArmReachWeights, Ends, ReachInstant
from iap_learning.tasks.kinds.module_docking import latch as module_latch
from iap_learning.tasks.kinds.module_docking import rewards as module
from iap_learning.tasks.kinds.module_docking.latch import LatchThresholds
from iap_learning.tasks.kinds.module_docking.rewards import ModuleDockingWeights
from iap_learning.tasks.kinds.platform.outcome import EpisodeCounts, PlatformInstant, Rules
from iap_learning.tasks.kinds.platform.outcome import begin as platform_begin
from iap_learning.tasks.kinds.platform.outcome import outcome as platform_outcome
from iap_learning.tasks.kinds.platform.platform_responder import PlatformResponder
from iap_learning.tasks.scaling import ActionRange, ActionScale, clipped
from iap_learning.tasks.seeds import episode_seeds, next_seeds
from iap_learning.tasks.senses import Senses
from iap_learning.tasks.sensor_wait import lacking
from iap_learning.tasks.terms import TermTable, array_term
from iap_learning.training.moments import Scaling, no_moments, scaling, updated
from iap_learning.training.transitions import Transitions
from iap_physics.engines.engine import INVALID_COMMAND, RUNNING, TOO_FAR
from iap_simulation.modules.outcome import ModuleDockingLimits
from iap_simulation.tasks.outcomes import ARRIVED, COLLIDED, OUT_OF_BOUNDS, TIME_IS_UP


def plain(compiled: Any) -> Any:
    """The Python function that is compiled."""
    return compiled.py_func


def numbers(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


ACTIONS = np.array([[0.5, -0.5], [0.1, 0.2], [0.0, 0.0], [0.0, 0.0]]), np.zeros((4, 2))

# an arm that reaches


def test_a_step_of_an_arm_is_rewarded_by_its_equation_and_ends_add_or_replace() -> None:
    w = ArmReachWeights(closer=10.0, time=-0.5, change=-2.0, cut=-0.3, success=7.0, failure=-9.0)
    ends = Ends(distance=0.1, speed=0.2, lasting=2, away=3.0, limit=50)
    tips = Tips.empty(4)
    tips.error_H[:] = [[0.0, 0.3, 0.4], [0.0, 0.0, 0.1], [0.0, 4.0, 0.0], [0.3, 0.0, 0.0]]
    tips.v_WE_H[1] = [0.2, 0.0, 0.0]
    distance = np.array([0.8, 0.1, 3.0, 0.1])
    cut = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 0, 0]], dtype=bool)
    steps, kept, outcomes = numbers([3, 9, 0, 49]), numbers([5, 1, 0, 0]), numbers([0] * 4)
    reward = np.zeros(4)
    plain(arm.reward_step)(
        ACTIONS,
        tips,
        distance,
        cut,
        (w, ends),
        numbers([RUNNING] * 4),
        (steps, kept, outcomes),
        reward,
    )
    np.testing.assert_allclose(
        reward,
        [10.0 * 0.3 - 0.5 - 2.0 * 0.25 - 0.6, -0.5 - 2.0 * 0.025 + 7.0, -9.0, -2.0 - 0.5],
    )
    np.testing.assert_allclose(distance, [0.5, 0.1, 4.0, 0.3])
    assert outcomes.tolist() == [RUNNING, ARRIVED, OUT_OF_BOUNDS, TIME_IS_UP]
    assert (kept.tolist(), steps.tolist()) == ([0, 2, 0, 0], [4, 10, 1, 50])


@pytest.mark.parametrize(
    ("instant", "ends"),
    [
        ((RUNNING, 3.0, 0, 49), RUNNING),
        ((RUNNING, 3.01, 9, 49), OUT_OF_BOUNDS),
        ((RUNNING, 0.0, 2, 50), ARRIVED),
        ((RUNNING, 0.0, 1, 50), TIME_IS_UP),
        ((TOO_FAR, 0.0, 9, 9), TOO_FAR),
    ],
)
def test_an_episode_of_an_arm_ends_by_what_happened_first(instant: tuple, ends: int) -> None:
    assert plain(arm.outcome)(ReachInstant(*instant), Ends(0.1, 0.2, 2, 3.0, 50)) == ends


# a platform

RULES = Rules(np.zeros(11), np.zeros(11), 0.5, 3, True, 100, -5.0, 5.0)


@pytest.mark.parametrize(
    ("instant", "rules", "ends"),
    [
        ((RUNNING, False, False, 2, 99), RULES, RUNNING),
        ((RUNNING, False, False, 3, 100), RULES, ARRIVED),
        ((RUNNING, False, False, 3, 99), RULES._replace(arrives=False), RUNNING),
        ((RUNNING, False, False, 2, 100), RULES, TIME_IS_UP),
        ((RUNNING, False, True, 3, 100), RULES, OUT_OF_BOUNDS),
        ((RUNNING, True, True, 3, 100), RULES, COLLIDED),
        ((TOO_FAR, True, True, 3, 100), RULES, TOO_FAR),
    ],
)
def test_an_episode_of_a_platform_ends_by_what_happened_first(
    instant: tuple, rules: Rules, ends: int
) -> None:
    assert plain(platform_outcome)(PlatformInstant(*instant), rules) == ends


def test_an_episode_begins_with_the_distance_from_its_own_goal_and_nothing_kept_to() -> None:
    counts = EpisodeCounts.of(3)
    counts.kept[:], counts.success[:] = 7, True
    x, goals = np.zeros((3, 1, 13)), np.zeros((2, 19))
    x[:, 0, :3], goals[:, :3] = (
        [[0.0, 0.0, 0.0], [1.0, 2.0, 2.0], [9.0, 9.0, 9.0]],
        [[9.0, 9.0, 9.0], [1.0, 5.0, 6.0]],
    )
    inputs = SimpleNamespace(x=x, goals=goals, at=numbers([1, 1, 0]))
    plain(platform_begin)(numbers([1, 2]), inputs, counts)
    np.testing.assert_allclose(counts.distance, [0.0, 5.0, 0.0])
    assert (counts.kept.tolist(), counts.success.tolist()) == ([7, 0, 0], [True, False, False])


# modules that dock

LATCH = LatchThresholds(
    np.array([0.5, 0.0, 0.0]),
    np.array([1.0, 0.0, 0.0]),
    0.25,
    CatchLimits(gap=0.02, offset=0.01, angle=0.05),
)
WEIGHTS = ModuleDockingWeights(
    along=-2.0, aside=-5.0, angle=-3.0, time=-0.1, change=-4.0, touch=-6.0, gentle_touch=0.05, success=8.0, failure=-9.0
)  # fmt: skip


def state(
    place: list[float], turn: tuple[float, float, float] = (0.0, 0.0, 0.0), v: float = 0.0
) -> np.ndarray:
    x = np.zeros(13)
    x[:3], x[3:7], x[7] = place, so3.quaternion_exp(np.array(turn)), v
    return x


def test_the_potential_of_a_follower_counts_gap_offset_and_angle() -> None:
    leader = np.stack([state([1.0, 0.0, 0.0])] * 3)
    follower = np.stack(
        [
            state([1.8, 0.03, -0.04], (0.0, 0.1, 0.2)),
            state([1.4, 0.0, 0.0]),
            state([np.nan, 0.0, 0.0]),
        ]
    )
    out = np.full(3, 77.0)
    plain(module.potentials)(numbers([0, 1, 2]), leader, follower, LATCH, WEIGHTS, out)
    expected = -2.0 * 0.3 - 5.0 * 0.05 - 3.0 * np.hypot(0.1, 0.2)
    np.testing.assert_allclose(out, [expected, -2.0 * 0.1, 0.0])


def test_a_step_of_docking_modules_is_rewarded_by_its_equation() -> None:
    potential = np.array([-1.0, -0.5, -3.0, -2.0]), np.array([-1.4, -0.6, -1.0, -2.5])
    known = np.array([[0.3, 0.0], [0.15, 0.0], [0.3, 0.0], [0.3, 0.0]])
    steps, reward = numbers([0, 5, 6, 7]), np.zeros(4)
    outcomes = numbers([RUNNING, ARRIVED, COLLIDED, TIME_IS_UP])
    plain(module.reward_step)(ACTIONS, potential, known, WEIGHTS, steps, outcomes, reward)
    np.testing.assert_allclose(
        reward,
        [0.4 - 0.1 - 4.0 * 0.25, 0.1 - 0.1 - 4.0 * 0.025 + 8.0 - 6.0 * 0.1, -9.0, 0.5 - 0.1],
    )
    assert steps.tolist() == [1, 6, 7, 8]
    gentle = np.array([[0.04, 0.0]] * 4)
    plain(module.reward_step)(ACTIONS, potential, gentle, WEIGHTS, steps, outcomes, reward)
    assert reward[1] == pytest.approx(-0.1 + 8.0)


def test_episodes_of_modules_end_at_the_catch_with_its_speed_and_offset() -> None:
    leader = np.stack([state([0.0, 0.0, 0.0])] * 4)
    follower = np.stack([state([0.51, 0.003, 0.004], v=-0.1)] * 4)
    outcomes, known = numbers([RUNNING, RUNNING, ARRIVED, RUNNING]), np.full((4, 2), 7.0)
    limits = ModuleDockingLimits(0.2, 0.02, 0.5, 1.0, 30.0)
    fits, times = np.array([True, False, True, False]), np.array([1.0, 1.0, 1.0, 31.0])
    plain(module.end_episodes)(
        (leader, follower), times, numbers([RUNNING] * 4), fits, LATCH, limits, outcomes, known
    )
    assert outcomes.tolist() == [ARRIVED, RUNNING, ARRIVED, TIME_IS_UP]
    np.testing.assert_allclose(known, [[0.1, 0.005], [7.0, 7.0], [7.0, 7.0], [7.0, 7.0]])


def test_a_latch_goes_by_poses_behind_a_low_pass() -> None:
    leader, filtered, fits = state([0.0, 0.0, 0.0])[None], np.zeros((1, 6)), np.zeros(1, bool)
    first, then = state([0.6, 0.02, 0.0], (0.1, 0.0, 0.0))[None], state([0.5, 0.0, 0.0])[None]
    follow = plain(module_latch.follow_latch)
    follow(numbers([0]), leader, first, True, LATCH, filtered, fits)
    np.testing.assert_allclose(filtered[0], [0.1, 0.02, 0.0, 0.1, 0.0, 0.0], atol=1e-12)
    gaps = []
    while not fits[0]:
        follow(numbers([0]), leader, then, False, LATCH, filtered, fits)
        gaps.append(filtered[0, 0])
    np.testing.assert_allclose(gaps, 0.1 * 0.75 ** np.arange(1.0, 1.0 + len(gaps)))
    assert gaps[-1] < 0.02 <= gaps[-2]


# ranges of actions


def test_actions_are_scaled_between_their_bounds_and_back() -> None:
    scale = ActionScale.of([-2.0, 0.0], [4.0, 10.0], repeats=2)
    assert scale.size == 4
    actions = np.array([[-1.0, 1.0, 0.0, 0.5]])
    values = scale.apply(actions)
    np.testing.assert_allclose(values, [[-2.0, 10.0, 1.0, 7.5]])
    np.testing.assert_allclose(scale.invert(values), actions)
    np.testing.assert_array_equal(
        clipped(np.array([-3.0, 0.5, 2.0])), np.array([-1.0, 0.5, 1.0], "f4")
    )


def test_an_action_beyond_its_range_is_clipped_and_one_that_is_no_number_ends_its_world() -> None:
    scale, status, action = (
        ActionScale.of([-2.0], [4.0]),
        numbers([RUNNING, RUNNING, TOO_FAR]),
        np.zeros((3, 1)),
    )
    values = scale.apply_to_worlds([[3.0], [np.nan], [np.nan]], status, action)
    np.testing.assert_allclose(values, [[4.0], [1.0], [1.0]])
    assert action[:, 0].tolist() == [1.0, 0.0, 0.0]
    assert status.tolist() == [RUNNING, INVALID_COMMAND, TOO_FAR]
    with pytest.raises(BadInput, match=r"has shape \(3, 2\); \(3, 1\) is expected"):
        scale.apply_to_worlds(np.zeros((3, 2)), status, action)


def test_ranges_that_are_none_are_refused_by_their_key() -> None:
    ActionRange(kind="x", low=(1.0,), high=(1.0,))
    for low, high, key in (
        ((1.0,), (1.0, 2.0), "key 'high': 1 columns"),
        ((0.0, 2.0), (1.0, 1.9), "column 1"),
    ):
        with pytest.raises(ValueError, match=key):
            ActionRange(kind="x", low=low, high=high)


# observations


def test_terms_follow_each_other_divided_by_their_scales_and_are_clipped() -> None:
    table = TermTable.of(
        array_term("place", 2, lambda inputs: inputs.place),
        array_term("action", 0, lambda inputs: inputs.action),
    )
    observer = table.observer({"action": 0.5, "place": 2.0}, actions=3)
    assert (observer.size, observer.layout) == (5, (("action", 3, 0.5), ("place", 2, 2.0)))
    inputs = SimpleNamespace(
        place=np.array([[1.0, 2.0], [3.0, 900.0]]), action=np.arange(6.0).reshape(2, 3)
    )
    np.testing.assert_array_equal(
        observer(inputs, numbers([1, 0])),
        np.array([[6, 8, 10, 1.5, 100], [0, 2, 4, 0.5, 1]], "f4"),
    )


# seeds


def test_seeds_of_episodes_are_split_mix_64s() -> None:
    """Of a state that is the base, mixed, plus the episode's number times the golden ratio; in 53 bits."""
    mask = (1 << 64) - 1

    def mixed(z: int) -> int:
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
        return z ^ z >> 31

    for base in (0, 7, 123_456_789):
        seeds = episode_seeds(numbers([base] * 3), numbers([0, 1, 5]))
        later = [mixed(mixed(base) + k * 0x9E3779B97F4A7C15 & mask) >> 11 for k in (1, 5)]
        assert seeds.tolist() == [base, *later]


def test_new_seeds_begin_anew_and_without_them_the_next_episodes_follow() -> None:
    seeds, episodes = numbers([5, 6, 7]), numbers([0, 3, 0])
    following = next_seeds(seeds, episodes, numbers([0, 1]), None)
    np.testing.assert_array_equal(following, episode_seeds(numbers([5, 6]), numbers([1, 4])))
    assert episodes.tolist() == [1, 4, 0]
    assert next_seeds(seeds, episodes, numbers([1]), [9]).tolist() == [9]
    assert (seeds.tolist(), episodes.tolist()) == ([5, 9, 7], [1, 0, 0])
    with pytest.raises(BadInput):
        next_seeds(seeds, episodes, numbers([0, 1]), [9])


# moments and steps


def test_moments_of_several_groups_are_those_of_all_rows() -> None:
    rows = np.random.default_rng(3).normal([1.0, -4.0], [2.0, 0.5], size=(90, 2))
    moments = no_moments(2)
    for group in (rows[:20], rows[20:21], rows[21:].reshape(3, 23, 2)):
        moments = updated(moments, group)
    assert moments.samples == 90
    np.testing.assert_allclose(moments.mean, rows.mean(axis=0))
    np.testing.assert_allclose(moments.squares, 90.0 * rows.var(axis=0))
    scaled = scaling(moments, 1.0)(rows)
    np.testing.assert_allclose(scaled[:, 0].std(), 1.0, rtol=1e-6)
    np.testing.assert_allclose(
        scaled[:, 1], rows[:, 1] - rows[:, 1].mean(), atol=1e-5
    )  # the least deviation
    np.testing.assert_array_equal(scaling(no_moments(2), 1.0)(rows), rows)


def transitions(**changes: Any) -> Transitions:
    parts = {
        "observations": np.ones((2, 3)), "actions": np.array([[2.0], [-0.5]]), "rewards": np.array([1.0, 3.0]),
        "following": np.full((2, 3), 4.0), "terminated": np.array([False, True]),
    }  # fmt: skip
    return Transitions.of(**{**parts, **changes}, source="data")


def test_steps_are_single_numbers_with_clipped_actions_and_are_scaled() -> None:
    steps = transitions()
    assert {part.dtype for part in steps} == {np.dtype("f4")}
    assert steps.actions[:, 0].tolist() == [1.0, -0.5] and steps.terminated.tolist() == [0.0, 1.0]
    scaled = steps.scaled(Scaling(np.ones(3, "f4"), np.full(3, 2.0, "f4")), 0.5)
    assert (scaled.observations == 0.0).all() and (scaled.following == 1.5).all()
    assert scaled.rewards.tolist() == [0.5, 1.5]
    assert steps.rows(np.array([1])).rewards.tolist() == [3.0]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"rewards": np.array([1.0, np.nan])}, "'rewards': not all numbers are finite"),
        ({"following": np.full((2, 3), np.inf)}, "'following'"),
        ({"rewards": np.zeros(0)}, "has no steps"),
    ],
)
def test_steps_that_are_none_are_refused(changes: dict, reason: str) -> None:
    with pytest.raises(BadInput, match=f"data: {reason}"):
        transitions(**changes)


# answers to messages


class Eye:
    """A camera that keeps what it gets."""

    topic = "/a/camera"

    def __init__(self) -> None:
        self.stamps: list[int] = []

    def receive(self, reading: Any) -> None:
        self.stamps.append(reading.stamp)

    def is_ready(self, stamp: int, _: int) -> bool:
        return bool(self.stamps) and stamp - 10 <= self.stamps[-1] <= stamp


def image(stamp: int) -> Any:
    return SimpleNamespace(stamp=stamp, source=SimpleNamespace(topic=Eye.topic))


class Policy:
    """A policy that answers with its number and the instant's, and looks every second instant."""

    count = 0
    asks_for: tuple[Any, ...] = ()

    def __init__(self, eye: Eye | None) -> None:
        Policy.count += 1
        self.number, self.inputs = Policy.count, () if eye is None else (eye,)

    def __call__(self, k: int, x: Any, rpm: Any, row: Any, senses: Any) -> Any:
        assert senses == Senses()
        return self.number, k, x, rpm, row

    def lacks(self, stamp: int, k: int) -> Any:
        return lacking(self.inputs, stamp, k) if k % 2 == 0 else ()


def responder(*, sees: bool = False) -> PlatformResponder:
    Policy.count = 0
    return PlatformResponder(lambda: Policy(Eye() if sees else None))  # type: ignore[arg-type, return-value]


def test_an_instant_is_answered_once_its_state_and_reference_are_there() -> None:
    pilot: Any = responder()
    assert pilot.take_state(100, 3, "x", "rpm") is None
    assert pilot.take_reference(100, "row") == (1, 3, "x", "rpm", "row")
    assert (pilot.stamp, pilot.sequence, pilot.answered) == (100, 3, 1)
    pilot.take_state(100, 3, "x", "rpm")
    assert pilot.take_reference(100, "row") == (1, 3, "x", "rpm", "row")  # the same again
    assert pilot.answered == 1


def test_a_state_before_the_newest_begins_a_new_flight() -> None:
    pilot: Any = responder()
    for stamp, k, number in ((100, 3, 1), (200, 4, 1), (150, 0, 2), (150, 0, 2)):
        pilot.take_reference(stamp, "row")
        assert pilot.take_state(stamp, k, "x", "rpm")[:2] == (number, k)
        pilot.take_reference(stamp, "row")


def test_an_answer_waits_for_the_image_of_its_period() -> None:
    pilot: Any = responder(sees=True)
    pilot.take_reference(100, "row")
    assert (
        pilot.take_state(100, 2, "x", "rpm") is None
    )  # it acts at this instant, and has seen nothing
    assert pilot.take_reading(image(89)) is None  # of the period before
    assert pilot.awaited == ("/a/camera",) and pilot.missing == ()
    assert pilot.take_reading(image(90))[:2] == (1, 2)
    assert pilot.policy.inputs[0].stamps == [89, 90]
    assert pilot.awaited == ()
    pilot.take_reference(105, "row")
    assert pilot.take_state(105, 3, "x", "rpm")[:2] == (1, 3)  # between two actions
    pilot.take_reference(110, "row")
    assert pilot.take_state(110, 4, "x", "rpm") is None
    assert (
        pilot.take_state(90, 4, "x", "rpm") is None and pilot.policy.number == 2
    )  # while one waits


def test_an_image_before_the_newest_begins_a_new_flight() -> None:
    pilot: Any = responder(sees=True)
    pilot.take_reading(image(50))
    pilot.take_reading(image(50))
    assert pilot.policy.number == 1
    pilot.take_reading(image(49))
    assert pilot.policy.number == 2

# SPDX-License-Identifier: BSD-3-Clause
"""Observations of platforms' policies besides states: earlier steps, depths in blocks, and none."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_learning.tasks.depth_numbers import DepthImage, DepthNumbers
from iap_learning.tasks.kinds.platform.history import History
from iap_learning.tasks.kinds.platform.observation_checks import check_in_worlds
from iap_learning.tasks.kinds.platform.task import PlatformTask
from iap_learning.tasks.kinds.registry import make_task
from iap_learning.tasks.user_quantities import UserQuantities
from iap_physics.engines.engine import RUNNING, TOO_FAR
from iap_simulation.tasks.outcomes import INVALID_TERM


def frames(*rows):
    return np.array(rows, np.float32)


def test_a_history_has_the_newest_step_first_and_begins_with_the_start_alone():
    history, start = History(2, 3, 2), frames([1, 2], [3, 4])
    history.begin(np.arange(2), start)
    np.testing.assert_array_equal(history(start), np.hstack([start] * 3))
    first, second = frames([5, 6], [7, 8]), frames([9, 10], [11, 12])
    history.add(first)
    np.testing.assert_array_equal(history(first), np.hstack([first, start, start]))
    history.add(second)
    np.testing.assert_array_equal(history(second), np.hstack([second, first, start]))
    np.testing.assert_array_equal(
        history(second[1:], np.array([1])), np.hstack([second, first, start])[1:]
    )
    history.begin(np.array([0]), frames([0, 0]))
    np.testing.assert_array_equal(history(frames([0, 0], [11, 12]))[0], np.zeros(6))
    np.testing.assert_array_equal(history(second)[1], [11, 12, 7, 8, 3, 4])


def test_terms_of_earlier_steps_have_their_number_in_their_name():
    terms = (("a", 2, 1.0), ("b", 1, 0.5))
    earlier = (("a[-1]", 2, 1.0), ("b[-1]", 1, 0.5), ("a[-2]", 2, 1.0), ("b[-2]", 1, 0.5))
    assert History(1, 3, 3).layout(terms) == terms + earlier
    alone = History(2, 1, 2)
    assert alone.layout(terms) == terms
    now = frames([1, 2], [3, 4])
    alone.add(now)
    assert alone(now) is now


def depth(blocks=(2, 3), inverse=None):
    image = DepthImage(preset="d455", settings={}, blocks=blocks, inverse=inverse)
    return DepthNumbers(image, (4, 6), 10.0)


PIXELS = np.full((2, 4, 6), 20.0, np.float32)
PIXELS[0, :2, :3] = [[4.0, 3.0, 9.0], [0.0, -1.0, 9.0]]
PIXELS[0, 3, 5], PIXELS[1, 2, 0] = 5.0, 0.25


def test_a_depth_image_is_the_nearest_of_each_block_row_by_row():
    numbers = depth()
    assert numbers.shape == (2, 2) and numbers.size == 4 and numbers.term == ("depth", 4, 1.0)
    np.testing.assert_allclose(numbers.of(PIXELS), [[0.3, 1.0, 1.0, 0.5], [1.0, 1.0, 0.025, 1.0]])
    found = numbers.depths(frames([0.3, 1.0, 0.5, 0.999]))
    np.testing.assert_allclose(found, [[3.0, np.inf, 5.0, 9.99]], rtol=1e-6)


def test_an_inverse_depth_is_the_least_one_over_what_is_measured():
    numbers = depth(inverse=0.5)
    assert numbers.term == ("inverse_depth", 4, 2.0)
    expected = [[0.5 / 3.0, 0.025, 0.025, 0.1], [0.025, 0.025, 1.0, 0.025]]
    np.testing.assert_allclose(numbers.of(PIXELS), expected, rtol=1e-6)
    np.testing.assert_allclose(
        numbers.depths(frames([0.25, 0.0, 1.0, 0.1])), [[2.0, np.inf, 0.5, 5.0]], rtol=1e-6
    )


@pytest.mark.parametrize("blocks", [(3, 3), (2, 4)])
def test_blocks_that_do_not_fill_an_image_are_refused(blocks):
    text = f"^key 'depth.blocks': 4 rows and 6 columns are no multiples of {blocks[0]} and {blocks[1]}$"
    with pytest.raises(BadInput, match=text):
        depth(blocks)


def seen(observed="truth", terms=(), kind="velocity", preset=None):
    image = None if preset is None else SimpleNamespace(preset=preset, settings={})
    return SimpleNamespace(
        name="t", scenario="s", observed=observed, observation=dict.fromkeys(terms, 1.0), depth=image,
        action=SimpleNamespace(kind=kind),
    )  # fmt: skip


def sensed(imu):
    control = SimpleNamespace(state_source="truth")
    vehicle = SimpleNamespace(sensors=SimpleNamespace(imu=imu), control=control)
    return SimpleNamespace(scenario=SimpleNamespace(vehicles=[vehicle]))


def test_worlds_observe_measurements_under_controllers_and_what_their_sensors_measure():
    check_in_worlds(seen("measured", ("up", "gyro")), sensed("imu"))
    check_in_worlds(seen(terms=("up",)), sensed(None))
    with pytest.raises(
        BadInput,
        match="^task 't': key 'observed': no controller measures under actions 'rotor_thrust'$",
    ):
        check_in_worlds(seen("measured", kind="rotor_thrust"), sensed("imu"))
    text = "^task 't': key 'observation.specific_force': scenario 's' has no sensors.imu$"
    with pytest.raises(BadInput, match=text):
        check_in_worlds(seen(terms=("up", "specific_force", "gyro")), sensed(None))


def test_a_task_of_the_suites_own_quantities_needs_none_of_the_users():
    task = make_task("hold")
    own = UserQuantities(task.name, task.own_quantities, 3, None)
    assert task.own_quantities == {} and own.names == () and not own.is_needed
    assert own.values.shape == (3, 0)
    own.unsound[:] = [0, 1, 1]
    status = np.array([RUNNING, RUNNING, TOO_FAR])
    assert own.fates(status).tolist() == [RUNNING, INVALID_TERM, TOO_FAR]
    with pytest.warns(UserWarning, match="^task 'hold': a term gave no finite number in world 1"):
        own.warn(np.zeros(3), tuple)
    own.begin(np.array([1]))
    assert own.unsound.tolist() == [0, 0, 1]


def test_quantities_of_the_users_own_are_named_with_the_key_that_needs_them():
    factor = [SimpleNamespace(of="my.module:far"), SimpleNamespace(of="distance")]
    task = SimpleNamespace(
        reward=SimpleNamespace(terms={"near": SimpleNamespace(factors=factor)}),
        success=SimpleNamespace(within={"my.module:still": 1.0, "speed": 1.0}), fails_beyond={"my.module:off": 1.0},
    )  # fmt: skip
    assert PlatformTask.own_quantities.fget(task) == {
        "my.module:far": "reward.terms.near",
        "my.module:still": "success.within",
        "my.module:off": "fails_beyond",
    }


@pytest.mark.parametrize(
    ("changes", "minds"),
    [
        ({}, False), ({"clearance": 0.5}, True), ({"fails_beyond": {"clearance": 1.0}}, True),
        ({"success.within": {"clearance": 1.0}}, True),
    ],
)  # fmt: skip
def test_a_task_minds_obstacles_where_it_names_how_far_they_are(changes, minds):
    assert make_task("hold", changes).minds_obstacles == minds

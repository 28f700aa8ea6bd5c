# SPDX-License-Identifier: BSD-3-Clause
"""When episodes go on, succeed and end."""

import numpy as np

from iap_description.math.lanes import LANES
from iap_learning.tasks.kinds.platform.block import MEASURES, REWARD
from iap_learning.tasks.kinds.platform.outcome import Counted, Rules, write_outcomes
from iap_learning.tasks.kinds.platform.quantities import DISTANCE, SPEED
from iap_learning.tasks.kinds.platform.rewards import FACTORS
from iap_learning.tasks.kinds.platform.task import PlatformTask
from iap_physics.engines.engine import DIVERGED, RUNNING
from iap_simulation.tasks.outcomes import ARRIVED, OUT_OF_BOUNDS, OUTCOMES, TIME_IS_UP


class Judged:
    """One world that is judged step by step; steps take 0.1 s."""

    def __init__(self, **success):
        settings = {"success": {"within": {"distance": 0.1}, **success}, "seconds": 0.5}
        settings["fails_beyond"] = {"speed": 3.0}
        self.rules = Rules.of(PlatformTask.of("land", settings), 0.1)
        self.counted = Counted.of(1)

    def __call__(self, *, distance=0.0, speed=0.0, status=RUNNING):
        rows = np.zeros((int(FACTORS), LANES))
        rows[REWARD], rows[int(MEASURES) + DISTANCE] = 1.0, distance
        rows[int(MEASURES) + SPEED] = speed
        write_outcomes(rows.reshape(-1), 0, 1, np.array([status]), self.rules, self.counted)
        assert self.counted.distance[0] == distance
        reward = float(rows[REWARD, 0])
        return int(self.counted.outcome[0]), bool(self.counted.success[0]), reward


def test_success_must_last_and_a_break_starts_it_anew():
    step = Judged(lasting=0.2, ends=True)
    assert step() == (RUNNING, False, 1.0)
    assert step(distance=0.2) == (RUNNING, False, 1.0)
    assert step() == (RUNNING, False, 1.0)
    assert step() == (ARRIVED, True, 11.0)  # land's arrival is 10


def test_success_that_ends_nothing_counts_at_the_end():
    step = Judged(lasting=0.2, ends=False)
    assert [step()[:2] for _ in range(5)] == [
        (RUNNING, False),
        (RUNNING, True),
        (RUNNING, True),
        (RUNNING, True),
        (TIME_IS_UP, True),
    ]


def test_failures_come_before_success_and_have_their_own_reward():
    step = Judged(lasting=0.0, ends=True)
    assert step(speed=4.0) == (OUT_OF_BOUNDS, False, -10.0)
    assert Judged(lasting=0.0, ends=True)(status=DIVERGED) == (DIVERGED, False, -10.0)


def test_what_is_no_number_is_a_failure():
    assert Judged(lasting=0.0, ends=True)(speed=np.nan)[0] == OUT_OF_BOUNDS


def test_every_outcome_has_a_name():
    assert list(OUTCOMES) == list(range(len(OUTCOMES)))
    assert len(set(OUTCOMES.values())) == len(OUTCOMES)

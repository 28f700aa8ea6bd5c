# SPDX-License-Identifier: BSD-3-Clause
"""Curricula: draws between two ends, which widen after legs of success, also where a training goes on."""

import numpy as np
import pytest
from interruption import Interruption

pytest.importorskip("jax")

from iap_description.errors import BadInput
from iap_learning.training.curriculum import Curriculum, scenario_at
from iap_learning.training.experience import EndedEpisodes
from iap_learning.training.experiment import Choice, make_experiment
from iap_learning.training.training import begin, go_on

SETS = (
    "worlds=6",
    "threads=1",
    "online.together=2",
    "online.ppo.horizon=8",
    "online.ppo.minibatches=2",
)
KEYS = {"draw.position": (0.0, 0.2), "wind.speed": (1.0, 3.0)}


def curriculum(**changes):
    return Curriculum(**{"keys": KEYS, "success": 0.5, "rise": 0.25, **changes})


def ended(*success):
    return EndedEpisodes(np.array(success, bool), np.zeros(len(success)), np.ones(len(success)))


def test_every_key_goes_from_its_first_value_to_its_second():
    found = curriculum(keys={**KEYS, "trees.count": (2, 9), "start": ([0.0, 1.0], [2.0, -1.0])})
    assert found.scenario(0.0) == {
        "draw.position": 0.0, "wind.speed": 1.0, "trees.count": 2, "start": [0.0, 1.0],
    }  # fmt: skip
    half = found.scenario(0.5)
    assert half["draw.position"] == pytest.approx(0.1) and half["wind.speed"] == 2.0
    assert half["trees.count"] == 6 and isinstance(half["trees.count"], int)  # of 5.5
    assert half["start"] == [1.0, 0.0]
    assert scenario_at(None, {"wind.speed": 5.0}, 0.3) == {"wind.speed": 5.0}
    assert scenario_at(curriculum(), {"wind.speed": 5.0}, 1.0)["wind.speed"] == 3.0


def test_the_level_rises_after_success_alone_and_ends_at_one():
    found = curriculum()
    assert found.risen(0.0, ended(True, False)) == 0.25
    assert found.risen(0.0, ended(True, False, False)) == 0.0
    assert found.risen(0.0, ended()) == 0.0  # nothing has ended
    assert found.risen(0.9, ended(True)) == 1.0


def test_ends_of_other_lengths_are_refused():
    with pytest.raises(ValueError, match="'keys.a': both values need one length"):
        curriculum(keys={"a": ((0.0, 1.0), 2.0)})


def experiment(curriculum):
    easy = f"online.curriculum={curriculum}"
    sets = (
        *SETS,
        easy,
        "settings={seconds: 0.1, success.lasting: 0.02, success.within: {distance: 2.5}}",
    )
    return make_experiment("hold", Choice(steps=6 * 8 * 8, assignments=sets))


@pytest.mark.slow
def test_a_training_with_a_curriculum_goes_on_bit_for_bit(tmp_path):
    """Every short episode near its goal is a success, so that the level rises with every leg."""
    wide = "{keys: {draw.position: [0.001, 0.2], draw.attitude_deg: [0.0, 5.0]}, success: 0.1, rise: 0.4}"
    for name in ("whole", "parts"):
        (tmp_path / name).mkdir()
    rows = begin(experiment(wide), tmp_path / "whole").rows
    levels = [row["level"] for row in rows]
    assert levels[0] == 0.0 and levels[-1] == 1.0 and sorted(levels) == levels
    with pytest.raises(KeyboardInterrupt):
        begin(experiment(wide), tmp_path / "parts", Interruption(5))
    again = go_on(tmp_path / "parts").rows
    drop = {"steps_per_s"}
    assert [{k: v for k, v in row.items() if k not in drop} for row in again] == [
        {k: v for k, v in row.items() if k not in drop} for row in rows
    ]


def test_a_key_that_is_none_of_the_scenario_s_is_refused(tmp_path):
    with pytest.raises(BadInput, match="draw.positions"):
        begin(
            experiment("{keys: {draw.positions: [0.0, 0.2]}, success: 0.5, rise: 0.1}"), tmp_path
        )

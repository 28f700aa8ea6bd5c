# SPDX-License-Identifier: BSD-3-Clause
"""Tasks are data: what is unknown, missing or impossible in them stops with its name."""

import pytest

from iap_description.errors import BadInput
from iap_learning.tasks.kinds.platform.episodes import PlatformEpisodes
from iap_learning.tasks.kinds.platform.task import PlatformTask
from iap_learning.tasks.kinds.registry import make_episodes
from iap_learning.tasks.task import TASKS


@pytest.mark.parametrize("name", TASKS.names())
def test_shipped_tasks_can_be_flown(name):
    episodes = make_episodes(name, 2)
    step = episodes.step(0.1 * episodes.observe()[:, : episodes.size])
    assert step.observation.shape == (2, episodes.observed)
    assert not (step.terminated | step.truncated).any()


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"colour": 1}, "unknown key 'colour'"),
        ({"action.kind": "magic"}, "key 'action.kind': choose pose, velocity"),
        ({"action.low": [0.0]}, "key 'low': kind 'acceleration' has 4 columns"),
        ({"action.low": [9.0, 0.0, 0.0, 0.0]}, "key 'low': it must not be above 'high'"),
        ({"observation": {"colour": 1.0}}, "no term 'colour': choose position_error"),
        ({"observation": {"velocity": 0.0}}, "key 'observation.velocity'"),
        ({"fails_beyond": {"colour": 1.0}}, "key 'fails_beyond.colour"),
        ({"success.within": {}}, "key 'success.within'"),
        ({"repeat": 0}, "key 'repeat'"),
        ({"seconds": float("inf")}, "key 'seconds'"),
    ],
)
def test_what_is_wrong_is_named(settings, text):
    with pytest.raises(BadInput, match=text.replace("[", r"\[")) as error:
        PlatformTask.of("hold", settings)
    assert "\n" not in str(error.value)


def test_keys_that_a_file_lacks_or_should_not_have_are_named(tmp_path):
    text = TASKS.file("hold").read_text(encoding="utf-8")
    path = tmp_path / "mine.yaml"
    path.write_text(text.replace("seconds: 5.0", "minutes: 1.0"), encoding="utf-8")
    with pytest.raises(BadInput, match=r"mine\.yaml: missing key 'seconds'"):
        PlatformTask.of(str(path))
    path.write_text(text + "minutes: 1.0\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"mine\.yaml: unknown key 'minutes'"):
        PlatformTask.of(str(path))


def test_an_unknown_task_is_refused_with_those_that_there_are():
    with pytest.raises(BadInput, match="unknown task 'juggle': choose .*hold"):
        PlatformTask.of("juggle")


def test_scenarios_that_worlds_cannot_fly_are_refused():
    with pytest.raises(BadInput, match="cannot be flown side by side"):
        PlatformEpisodes(PlatformTask.of("hold", {"scenario": "wall_push"}), 2)

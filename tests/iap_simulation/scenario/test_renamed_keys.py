# SPDX-License-Identifier: BSD-3-Clause
"""Keys that have new names: the old ones mean the same, with a warning that names the new one."""

import pytest
import yaml

from iap_description.errors import RenamedKey
from iap_simulation.scenario.resolving import Options, resolve, resolve_again, scenario_of


@pytest.mark.parametrize(
    ("scenario", "old", "new", "name"),
    [
        ("arm_pick", "gripper.told=false", "gripper.known_load=false", "'gripper.known_load'"),
        ("peg_in_hole", "control.yaw=given", "control.yaw=reference", "'reference'"),
        (
            "arm_hover_swing",
            "arm.motion={type: given}",
            "arm.motion={type: external}",
            "'external'",
        ),
    ],
)
def test_an_assignment_by_an_old_name_is_that_by_the_new_one(scenario, old, new, name):
    with pytest.warns(RenamedKey, match=name):
        by_old = resolve(scenario, Options(assignments=(old,)))[1]
    assert by_old == resolve(scenario, Options(assignments=(new,)))[1]


def test_old_names_are_read_in_each_of_several_vehicles():
    headed = ("vehicles.1.control.yaw=given", "vehicles.1.control.aircraft_yaw_deg=[0, 0, 0]")
    with pytest.warns(RenamedKey, match="'reference'"):
        tree = resolve("two_platforms", Options(assignments=headed))[1]
    assert [each["control"]["yaw"] for each in tree["vehicles"]] == ["follow", "reference"]


def test_a_run_of_the_version_before_is_read(tmp_path):
    _, tree = resolve("peg_in_hole", Options())
    old = {**tree, "control": {**tree["control"], "yaw": "given"}}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(old), encoding="utf-8")
    with pytest.warns(RenamedKey):
        again = resolve_again(tmp_path / "config.yaml", sensors=None, scene=None)[1]
    assert again["control"] == tree["control"]
    with pytest.warns(RenamedKey):
        assert scenario_of(old, "config.yaml") == scenario_of(tree, "config.yaml")


def test_present_names_warn_of_nothing(recwarn):
    resolve("arm_pick", Options())
    resolve("peg_in_hole", Options())
    assert not [each for each in recwarn if issubclass(each.category, RenamedKey)]

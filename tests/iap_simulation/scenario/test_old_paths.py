# SPDX-License-Identifier: BSD-3-Clause
"""Old paths of keys, one function after the other: which tree results and what the warning says."""

import warnings

import pytest

from iap_description.errors import BadInput, RenamedKey
from iap_simulation.scenario import renamed_keys
from iap_simulation.scenario.renamed_keys import assigned, present_path, with_new_names


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("gripper.told", "gripper.known_load"),
        ("gripper.tolds", "gripper.tolds"),
        ("noise.position", "plant.noise.position"),
        ("noisy", "noisy"),
        ("path", "arm.motion.path"),
        ("control.weights.first", "arm.motion.control.weights.first"),
        ("start.yaw_deg", "reference.rpy_deg"),
        ("metrics.settle", "metrics.window"),
        ("seed", "seed"),
    ],
)
def test_a_path_is_renamed_with_all_below_it_and_no_other_is(old: str, new: str) -> None:
    assert present_path(old) == new


def moved(tree: dict, *said: str) -> dict:
    """The tree under present names, whose warnings are these."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        out = with_new_names(tree)
    end = "; the old name is read until the next version"
    assert [str(each.message) for each in caught] == [f"{each}{end}" for each in said]
    assert all(each.category is RenamedKey for each in caught)
    return out


def test_old_keys_move_with_their_values_in_a_new_form() -> None:
    tree = {
        "start": {"position": [1.0, 2.0, 3.0], "yaw_deg": 30.0, "mode": "hover"},
        "noise": 0.1,
        "plant": {"type": "bodies"},
        "metrics": {"settle": 4.0, "steady": 2.0},
        "control": {"slope": 2.0, "law": "auto"},
    }
    assert moved(
        tree,
        "key 'noise' is now called 'plant.noise'",
        "key 'control.slope' is now called 'arm.motion.control.slope'",
        "key 'start.position' is now called 'reference.position'",
        "key 'start.yaw_deg' is now called 'reference.rpy_deg'",
        "key 'metrics.settle' is now called 'metrics.window'",
    ) == {
        "start": {"mode": "hover"},
        "plant": {"type": "bodies", "noise": 0.1},
        "metrics": {"steady": 2.0, "window": [4.0, 1e9]},
        "control": {"law": "auto"},
        "arm": {"motion": {"control": {"slope": 2.0}}},
        "reference": {"position": [1.0, 2.0, 3.0], "rpy_deg": [0.0, 0.0, 30.0]},
    }
    assert tree["start"]["yaw_deg"] == 30.0  # what was given stays as it is


def test_an_old_key_has_its_new_name_in_its_place_and_an_old_value_its_new_one() -> None:
    tree = {
        "gripper": {"first": 1, "told": False, "last": 2},
        "control": {"yaw": "given"},
        "arm": {"motion": {"type": "given", "speed": 1.0}},
    }
    out = moved(
        tree,
        "key 'gripper.told' is now called 'gripper.known_load'",
        "key 'control.yaw': 'given' is now called 'reference'",
        "key 'arm.motion.type': 'given' is now called 'external'",
    )
    assert list(out["gripper"].items()) == [("first", 1), ("known_load", False), ("last", 2)]
    assert out["control"] == {"yaw": "reference"}
    assert out["arm"] == {"motion": {"type": "external", "speed": 1.0}}


@pytest.mark.parametrize(
    "tree",
    [
        {"gripper": None, "control": 3, "start": [1], "arm": {"motion": None}},
        {"gripper": {"known_load": True}, "control": {"yaw": "follow"}},
        {"control": {"yaw": ["given"]}, "vehicles": "two"},
        {"vehicles": ["m1", {"control": {"yaw": "hold"}}]},
    ],
)
def test_trees_without_old_names_are_as_they_were(tree: dict) -> None:
    assert moved(tree) == tree


def test_old_names_of_each_vehicle_of_a_list_are_new_ones() -> None:
    vehicles = ["m1", {"control": {"yaw": "given"}}, {"gripper": {"told": 1}}]
    assert moved(
        {"vehicles": vehicles},
        "key 'control.yaw': 'given' is now called 'reference'",
        "key 'gripper.told' is now called 'gripper.known_load'",
    ) == {"vehicles": ["m1", {"control": {"yaw": "reference"}}, {"gripper": {"known_load": 1}}]}


TREE = {
    "plant": {"noise": 1.0},
    "gripper": {"known_load": True},
    "reference": {"rpy_deg": [0.0, 0.0, 0.0], "position": [0.0, 0.0, 0.0]},
    "metrics": {"window": [0.0, 1.0]},
}


@pytest.mark.parametrize(
    ("assignment", "path", "value", "said"),
    [
        ("gripper.told=false", "gripper.known_load", False, "'gripper.told' .* 'gripper.known_"),
        ("noise=2.5", "plant.noise", 2.5, "key 'noise' is now called 'plant.noise';"),
        ("start.yaw_deg=40", "reference.rpy_deg", [0.0, 0.0, 40], "'start.yaw_deg' .*rpy_deg'"),
        ("start.position.1=2.0", "reference.position", [0.0, 2.0, 0.0], "'start.position' is"),
        ("metrics.settle=3.0", "metrics.window", [3.0, 1e9], "'metrics.settle' .*'metrics.wi"),
    ],
)
def test_an_assignment_by_an_old_path_sets_the_present_key(
    assignment: str, path: str, value: object, said: str
) -> None:
    with pytest.warns(RenamedKey, match=said):
        tree = assigned(TREE, assignment)
    home, key = path.split(".")
    assert tree[home][key] == value
    assert {k: v for k, v in tree.items() if k != home} == {
        k: v for k, v in TREE.items() if k != home
    }


@pytest.mark.filterwarnings("error")
def test_an_assignment_by_a_present_path_warns_of_nothing_and_one_without_a_value_is_refused() -> (
    None
):
    assert assigned(TREE, "plant.noise=3.0")["plant"] == {"noise": 3.0}
    assert assigned(TREE, "plant={noise: 4.0}")["plant"] == {"noise": 4.0}
    with pytest.raises(BadInput, match="noise"):
        assigned(TREE, "noise")


def test_an_arm_by_its_name_is_the_arm_of_the_platform() -> None:
    own = {"arm": {"motion": {"type": "hold"}}, "platform": {"name": "own", "arm": None}}
    with pytest.warns(RenamedKey, match="key 'arm' with a name is now called 'platform.arm'"):
        tree = assigned(own, "arm=m100")
    assert tree["platform"]["name"] == "own" and len(tree["platform"]["arm"]["joints"]) == 3
    assert tree["arm"] == own["arm"] and own["platform"]["arm"] is None
    with pytest.warns(RenamedKey):
        named = assigned({"platform": "f450"}, "arm=m100")
    assert named["platform"]["name"] == "f450"
    assert named["platform"]["arm"] == tree["platform"]["arm"]


def test_a_plant_by_its_name_is_an_identified_one_of_that_file() -> None:
    plant = {"type": "identified", "file": "paper", "noise": 1.0}
    with pytest.warns(RenamedKey, match="key 'plant': 'paper' is now called 'plant.file'"):
        assert assigned(TREE, "plant=paper") == {**TREE, "plant": plant}
    with pytest.raises(BadInput, match="nonesuch"):
        assigned(TREE, "plant=nonesuch")


def test_a_tree_with_the_names_of_plant_and_arm_extends_the_flight_along_a_path() -> None:
    with pytest.warns(RenamedKey):
        tree = with_new_names({"plant": "paper_printed", "seed": 77})
    path = renamed_keys._without_others("arm_path")
    assert "compare" not in path and "compare" not in tree
    assert tree["seed"] == 77 and tree["plant"]["file"] == "paper_printed"
    assert tree["arm"] == path["arm"]


def test_bodies_by_the_old_name_of_their_plant_are_flown_as_the_flight_of_bodies_is() -> None:
    with pytest.warns(RenamedKey, match="key 'plant': 'multibody' .* scenario 'arm_path_bodies';"):
        tree = with_new_names({"plant": "multibody"})
    bodies = renamed_keys.read_yaml(renamed_keys.SHIPPED / "arm_path_bodies.yaml")
    before = renamed_keys._without_others("arm_path")
    assert tree["plant"] == {"type": "bodies"} and tree["compare"] == bodies["compare"]
    assert tree["control"]["law"] == "auto"
    assert (tree["rates"]["physics_hz"], tree["rates"]["control_hz"]) == (1000.0, 200.0)
    motion = tree["arm"]["motion"]
    for key in ("path", "control"):
        assert motion[key] == before["arm"]["motion"][key]
    assert motion["type"] == bodies["arm"]["motion"]["type"]

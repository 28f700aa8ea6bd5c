# SPDX-License-Identifier: BSD-3-Clause
"""Parts of a scenario's tree before it is checked, and what a seed draws of motions and hinges."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flying import scenario_of

from iap_control.gains import gains_tree
from iap_description.errors import BadInput
from iap_description.vehicles.platform import platform_tree
from iap_simulation.scenario import randomization, resolving
from iap_simulation.scenario.modules import motor_faults, plant_joints, with_modules
from iap_simulation.scenario.resolving import Options
from iap_simulation.scenario.vehicle_trees import expand_names, mapping_of, vehicles_of

# trees


def test_vehicles_are_a_list_of_one_to_a_hundred_mappings() -> None:
    tree = {"platform": "f450"}
    assert vehicles_of(tree, "here") == [tree]
    assert vehicles_of({"vehicles": [tree] * 100}, "here") == [tree] * 100
    for vehicles, said in (
        ([], "a list with at least one vehicle is expected"),
        ({"a": tree}, "a list with at least one vehicle is expected"),
        ([tree] * 101, "101 vehicles, at most 100 fly together"),
        ([tree, "f450"], r"a mapping is expected \(got 'f450'\)"),
    ):
        with pytest.raises(BadInput, match=f"^here: key 'vehicles': {said}$"):
            vehicles_of({"vehicles": vehicles}, "here")


def test_a_mapping_below_a_key_is_given_or_refused() -> None:
    assert mapping_of({"control": {"law": "auto"}}, "control", "here") == {"law": "auto"}
    for tree, got in (({}, "null|None"), ({"control": 3}, "3")):
        with pytest.raises(BadInput, match=rf"^here: key 'control': a mapping .* \(got ({got})\)"):
            mapping_of(tree, "control", "here")


def test_names_of_platform_and_gains_become_their_trees_and_options_come_first() -> None:
    vehicle: dict[str, Any] = {
        "platform": "f450", "tool": {"mass": 1.0}, "control": {"gains": "paper", "law": "auto"}, "sensors": "imu",
    }  # fmt: skip
    expand_names(vehicle, "here", gains="default", sensors="none", state_source="vio")
    assert vehicle["platform"] == {**platform_tree("f450")[0], "tool": {"mass": 1.0}}
    assert "tool" not in vehicle and vehicle["sensors"] == "none"
    assert vehicle["control"] == {
        "preset": "default", "gains": gains_tree("default"), "law": "auto", "state_source": "vio",
    }  # fmt: skip
    own: dict[str, Any] = {
        "platform": {"name": "own"},
        "control": {"gains": {"kP": 1}},
        "sensors": "imu",
    }
    expand_names(own, "here")
    assert own == {
        "platform": {"name": "own"}, "control": {"preset": "custom", "gains": {"kP": 1}}, "sensors": "imu",
    }  # fmt: skip
    expand_names(own, "here", platform="f450")
    assert own["platform"] == platform_tree("f450")[0]


def chain(count: int, joints: Any = None) -> dict[str, Any]:
    vehicles = [
        {"name": "first", "offset": [1.0, 2.0, 3.0], "platform": {"mass": 2.0}},
        {"name": "second", "offset": [4.0, 9.0, 9.0]},
    ]
    modules = {"count": count, "size": 0.5} | ({} if joints is None else {"joints": joints})
    return with_modules({"vehicles": vehicles, "modules": modules, "seed": 1}, "here")


def test_a_chain_of_modules_is_centred_along_x_and_has_the_rest_of_the_first() -> None:
    tree = chain(3)
    assert [each["name"] for each in tree["vehicles"]] == ["m1", "m2", "m3"]
    np.testing.assert_allclose(
        [each["offset"] for each in tree["vehicles"]],
        [[2.0, 2.0, 3.0], [2.5, 2.0, 3.0], [3.0, 2.0, 3.0]],
    )
    assert all(each["platform"] == {"mass": 2.0} for each in tree["vehicles"])
    assert tree["vehicles"][0]["platform"] is not tree["vehicles"][1]["platform"]
    joints = tree["modules"]["joints"]
    assert list(joints) == ["j1", "j2"] and tree["seed"] == 1
    parts = ("leader", "face", "follower", "joined")
    assert [joints["j2"][key] for key in parts] == ["m2", "+x", "m3", True]
    kept = {"a": 1, "b": 2}
    assert chain(3, kept)["modules"]["joints"] == kept
    assert list(chain(4, kept)["modules"]["joints"]) == ["j1", "j2", "j3"]


def test_without_a_count_or_a_list_of_vehicles_modules_stay_as_they_are() -> None:
    for tree in ({"modules": None, "vehicles": [1]}, {"modules": {"size": 1.0}, "vehicles": [1]},
                 {"modules": {"count": 2}, "platform": "f450"}):  # fmt: skip
        assert with_modules(tree, "here") == tree


def test_motors_of_a_module_stop_and_its_controller_is_none() -> None:
    def fault(module: str, kind: str, at: float) -> Any:
        return SimpleNamespace(module=module, kind=kind, at=at)

    spec = SimpleNamespace(
        faults=(
            fault("m1", "motors", 3.0),
            fault("m2", "motors", 4.0),
            fault("m1", "controller", 5.0),
        )
    )
    vehicle: Any = SimpleNamespace(name="m1")
    (found,) = motor_faults(SimpleNamespace(modules=spec), vehicle)  # type: ignore[arg-type]
    assert (found.at, found.aircraft, found.motors) == (3.0, 1, "off")
    assert motor_faults(SimpleNamespace(modules=None), vehicle) == ()  # type: ignore[arg-type]


def test_joints_of_a_plant_are_those_of_its_modules() -> None:
    assert plant_joints(scenario_of("hover")) is None
    scenario = scenario_of("module_docking", engine="mujoco")
    joints, spec = plant_joints(scenario), scenario.modules
    assert joints is not None and spec is not None
    assert (joints.rate, joints.latch_force) == (spec.rate, spec.latch_force)
    assert joints.proximity == spec.proximity and set(joints.joints) == set(spec.joints)
    for name, joint in joints.joints.items():
        there = spec.joints[name]
        assert (joint.leader, joint.follower) == (there.leader, there.follower)
        assert (joint.joined, joint.closes) == (there.joined, there.closes)
        assert np.linalg.norm(joint.way) > 0.0


def test_names_of_runs_have_a_hundred_characters_that_files_may_have() -> None:
    assert resolving._file_name("a b.c,+=@()~-d") == "a b.c,+=@()~-d"
    assert resolving._file_name("/a/b\n*") == "_a_b__" and resolving._file_name("-a") == "_a"
    assert resolving._file_name("x" * 101) == "x" * 100


def test_options_are_told_as_they_were_typed_by_the_paths_of_their_keys() -> None:
    options = Options(
        engine="mujoco", state_source="vio", seed=0, assignments=("gripper.told=1", "wind.speed=2"),
        words={"renderer": "--renderer x"},
    ).and_set(("seed=3",))  # fmt: skip
    assert options.typed == {
        "engine.name": "--engine mujoco", "control.state_source": "--state-source vio", "renderer": "--renderer x",
        "gripper.known_load": "--set gripper.told=1", "wind.speed": "--set wind.speed=2", "seed": "--set seed=3",
    }  # fmt: skip


def test_defaults_are_of_the_whole_and_of_each_vehicle() -> None:
    short = resolving._with_defaults({"wind": {"speed": 3.0}}, "here")
    assert short["wind"]["speed"] == 3.0 and "direction_deg" in short["wind"]
    assert "platform" in short and "vehicles" not in short
    own = {"name": "a", "control": {"law": "mine"}}
    many = resolving._with_defaults({"vehicles": [own, {"name": "b"}], "seed": 4}, "here")
    assert "platform" not in many and "control" not in many and many["seed"] == 4
    first, second = many["vehicles"]
    assert (first["name"], first["control"]["law"]) == ("a", "mine")
    assert first["control"]["yaw"] == second["control"]["yaw"] == short["control"]["yaw"]


# draws


def test_a_motion_is_drawn_around_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        randomization, "uniform", lambda seed, name, n: np.array([0.5, -0.5, 1.0])[:n]
    )
    draw = SimpleNamespace(motion_speed=0.4, motion_turn_deg=10.0, motion_shift=3.0)
    scenario: Any = SimpleNamespace(seed=1, draw=draw)
    motion: Any = SimpleNamespace(
        time_scale=2.0, turn_deg=5.0, time_shift=1.0, changed=lambda **keys: keys
    )
    assert randomization._drawn_motion(scenario, "a", motion) == pytest.approx(
        {"time_scale": 2.4, "turn_deg": 0.0, "time_shift": 4.0}
    )


@pytest.mark.parametrize("key", ["friction", "damping", "stiffness", "release"])
def test_hinges_are_drawn_by_each_of_their_keys(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = dict.fromkeys(("friction", "damping", "stiffness", "release"), 0.0)

    def draw(**some: float) -> Any:
        return SimpleNamespace(**{f"hinge_{k}": v for k, v in {**keys, **some}.items()})

    assert not randomization._draws_hinges(draw()) and randomization._draws_hinges(
        draw(**{key: 0.2})
    )
    monkeypatch.setattr(randomization, "uniform", lambda seed, name, n: np.full(n, 0.5))

    def copied(**own: Any) -> Any:
        made = SimpleNamespace(**own)
        made.model_copy = lambda update: copied(**{**own, **update})
        return made

    torques = {"friction": 1.0, "damping": 2.0, "stiffness": 3.0}
    hinge = copied(**torques, latch=copied(release_deg=20.0))
    scenario: Any = SimpleNamespace(seed=1, draw=draw(**{key: 0.2}))
    made = randomization._drawn_hinge(scenario, "a", hinge)
    for name, value in {**torques, "release": 20.0}.items():
        found = made.latch.release_deg if name == "release" else getattr(made, name)
        assert found == pytest.approx(value * (1.1 if name == key else 1.0))

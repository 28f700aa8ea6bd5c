# SPDX-License-Identifier: BSD-3-Clause
"""Keys of a vehicle, a latch or a plant that do not fit each other, and objects as a seed draws them."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flying import scenario_of

from iap_description.errors import BadInput
from iap_simulation.scenario import randomization
from iap_simulation.scenario.plant_checks import check_plant, check_scenario_latches
from iap_simulation.scenario.resolving import Options, resolve, resolved


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        (("control.yaw=reference",), r"'control\.aircraft_yaw_deg': a list of headings goes with yaw"),
        (("control.aircraft_yaw_deg=[0.0]",), r"'control\.aircraft_yaw_deg': a list of headings"),
        (("control.yaw=reference", "control.aircraft_yaw_deg=[0.0]"), "3 headings are needed, not 1"),
        (("control.observer=acceleration",), r"'control\.observer': acceleration needs sensors\.imu"),
        (("arm.motion={type: external}",), r"'arm\.motion': platform three_star has no arm"),
        (("control.state_source=uwb",), "method uwb is for recordings alone"),
        (("control.state_source=vio",), r"--state-source vio needs sensors: .*\(--sensors stereo has"),
        (("faults=[{at: 1.0, sensor: imu, duration: 1.0, effect: silent}]",), "faults"),
    ],
)  # fmt: skip
def test_keys_of_a_vehicle_that_do_not_fit_are_refused(sets: tuple[str, ...], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        scenario_of("hover", *sets)


def test_a_joined_aircraft_needs_the_tilt_of_its_centre_and_a_single_one_does_not() -> None:
    alone = scenario_of(
        "hover", "sensors.attitude=null", platform="f450", sensors="stereo", state_source="vio"
    )
    assert alone.vehicles[0].control.state_source == "vio"
    with pytest.raises(BadInput, match="needs sensors: attitude "):
        scenario_of("hover", "sensors.attitude=null", sensors="stereo", state_source="vio")


def latched(latches: dict[str, Any], docking: Any = None, policy: str | None = None) -> Any:
    engine = SimpleNamespace(name="mujoco")
    return SimpleNamespace(
        vehicles=(), latches=latches, docking=docking, policy=policy, world=None, engine=engine
    )


def test_a_docking_has_a_latch_between_two_vehicles(monkeypatch: pytest.MonkeyPatch) -> None:
    from iap_simulation.scenario import plant_checks

    monkeypatch.setattr(plant_checks, "check_latches", lambda *_: None)
    docking = SimpleNamespace(latch="l")
    two, face = SimpleNamespace(face=None), SimpleNamespace(face=1)
    check_scenario_latches(latched({"l": two}, docking, "script"))
    check_scenario_latches(latched({"k": face}))
    for scenario, said in (
        (
            latched({"a": two, "b": two}, docking),
            r"'docking\.latch': no latch 'l' \(latches: a, b\)",
        ),
        (latched({}, docking), r"'docking\.latch': no latch 'l' \(latches: none\)"),
        (latched({"l": face}, docking), r"'docking\.latch': 'l' holds no two vehicles"),
        (latched({"l": two}, None, "script"), "'policy': 'script' needs the key 'docking'"),
    ):
        with pytest.raises(ValueError, match=f"^key {said}$"):
            check_scenario_latches(scenario)


def test_an_identified_plant_is_one_body_with_an_arm_that_holds_or_is_led() -> None:
    scenario = scenario_of("arm_path", engine="pybullet")
    vehicle = scenario.vehicles[0]

    def checked(**changes: Any) -> None:
        changed = vehicle.model_copy(update=changes)
        check_plant(scenario.model_copy(update={"vehicles": (changed,)}))

    checked()
    joined = scenario_of("hover").vehicles[0].platform
    for platform in (vehicle.platform.model_copy(update={"arm": None}), joined,
                     vehicle.platform.model_copy(update={"joints": joined.joints})):  # fmt: skip
        with pytest.raises(
            ValueError, match="key 'platform': a plant of type identified is one body"
        ):
            checked(platform=platform)
    swings = scenario_of("arm_hover_swing", engine="pybullet").vehicles[0].arm
    with pytest.raises(ValueError, match=r"'arm\.motion\.type': hold or tip_velocities .*\(got "):
        checked(arm=swings)
    hold = scenario_of("hover").vehicles[0].arm
    checked(arm=hold)
    with pytest.raises(
        ValueError, match=r"^key 'vehicles': a plant of type identified has nothing"
    ):
        check_plant(scenario.model_copy(update={"vehicles": (vehicle, vehicle)}))


# draws of objects


@pytest.fixture
def halves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(randomization, "uniform", lambda seed, name, count: np.full(count, 0.5))


def draw_of(name: str, *sets: str) -> Any:
    return scenario_of(name, *sets, engine="mujoco")


@pytest.mark.usefixtures("halves")
def test_surfaces_are_drawn_harder_by_a_power_of_ten_with_the_damping_that_goes_with_it() -> None:
    soft = "world.objects.wall.surface={friction: 0.4, restitution: 0.0, stiffness: 1.0e+4, damping: 150.0}"
    wall = randomization.drawn_world(draw_of("wall_push", soft, "draw.stiffness=2.0")).objects[
        "wall"
    ]
    assert wall.surface.stiffness == pytest.approx(1e5)
    assert wall.surface.damping == pytest.approx(150.0 * np.sqrt(10.0))
    assert wall.surface.friction == pytest.approx(0.4)
    rubbed = randomization.drawn_world(draw_of("wall_push", "draw.friction=0.2")).objects["wall"]
    before = draw_of("wall_push").world.objects["wall"].surface
    assert rubbed.surface.stiffness == before.stiffness
    assert rubbed.surface.friction == pytest.approx(1.1 * before.friction)


@pytest.mark.usefixtures("halves")
def test_objects_are_drawn_heavier_where_they_have_a_mass_and_moved_the_way_that_is_drawn() -> (
    None
):
    scenario = draw_of("wall_push", "draw.object_mass=0.4")
    assert randomization.drawn_world(scenario).objects["wall"].mass is None
    crate = SimpleNamespace(surface=scenario.world.surface, mass=2.0, hinge=None)
    made: Any = {}
    crate.model_copy = lambda update: made.update(update)
    randomization._drawn_object(scenario, "crate", crate, 1.0)  # type: ignore[arg-type]
    assert made["mass"] == pytest.approx(2.4) and set(made) == {"mass", "surface"}
    moved = randomization.placed_world(
        draw_of("wall_push", "draw.object_position=[0.2, 0.0, 0.4]")
    )
    here = draw_of("wall_push").world.objects["wall"].position
    assert moved.objects["wall"].position == pytest.approx(np.add(here, [0.1, 0.0, 0.2]))


@pytest.mark.usefixtures("halves")
def test_obstacles_have_a_seed_of_their_own_or_one_of_the_flight_and_motions_are_drawn() -> None:
    boxes = "world.objects={{crates: {{preset: boxes, {}motion: {{type: velocity, velocity: [0.1, 0.0, 0.0]}}}}}}"
    scenario = draw_of("hover", boxes.format(""), "draw.motion_shift=3.0")
    drawn = randomization.placed_world(scenario).objects["crates"]
    assert drawn.seed == round(1.5 * 2**30)  # type: ignore[union-attr]
    assert drawn.motion is not None
    assert drawn.motion.time_shift == pytest.approx(1.5)
    own = draw_of("hover", boxes.format("seed: 5, "))
    assert randomization.placed_world(own) is own.world
    assert own.world.objects["crates"].seed == 5  # type: ignore[union-attr]


def test_options_are_written_into_the_keys_that_they_set() -> None:
    tree = resolve(
        "hover", Options(seed=41, duration=2.5, engine="closed_form", scene="textured_walls")
    )[1]
    assert (tree["seed"], tree["duration"], tree["engine"]["name"]) == (41, 2.5, "closed_form")
    assert tree["world"]["scene"] == "textured_walls"
    plain = resolve("hover", Options())[1]
    assert plain["world"]["scene"] is None and plain["engine"]["name"] != "auto"
    with pytest.raises(BadInput, match="^unknown option 'sped'"):
        resolved("hover", {}, {"sped": 1})
    scenario = resolved("hover", {"wind.speed": 2.0}, {"seed": 3})[0]
    assert (scenario.wind.speed, scenario.seed) == (2.0, 3)
    assert resolved(scenario, {}, {})[0] is scenario
    with pytest.raises(BadInput, match="a resolved scenario takes no settings or options"):
        resolved(scenario, {"wind.speed": 2.0}, {})
    with pytest.raises(BadInput, match=r"--seed -3: .*'seed'|seed"):
        resolve("hover", Options(seed=-3))


@pytest.mark.usefixtures("halves")
def test_faces_catch_at_the_speeds_that_a_seed_draws() -> None:
    made: dict[str, Any] = {}

    def copied(**own: Any) -> Any:
        return SimpleNamespace(**own, model_copy=lambda update: copied(**{**own, **update}))

    face = copied(least_speed=1.0, slip=2.0, turn_rate=4.0)
    latches = {"face": copied(speed=8.0, face=face), "plain": copied(speed=3.0, face=None)}
    scenario: Any = SimpleNamespace(seed=1, draw=SimpleNamespace(face_speed=0.4), latches=latches)
    made |= randomization.drawn_latches(scenario)
    drawn = made["face"]
    numbers = (drawn.speed, drawn.face.least_speed, drawn.face.slip, drawn.face.turn_rate)
    assert numbers == pytest.approx((9.6, 1.2, 2.4, 4.8))
    assert made["plain"] is latches["plain"] and list(made) == ["face", "plain"]
    scenario.draw.face_speed = 0.0
    assert randomization.drawn_latches(scenario) is latches


def test_a_sensor_that_fails_is_one_that_is_flown() -> None:
    fault = "faults=[{at: 1.0, sensor: uwb, output: frozen}]"
    assert scenario_of("hover", fault, sensors="uwb").vehicles[0].faults
    with pytest.raises(
        BadInput, match=r"faults\.0\.sensor': 'uwb' is not flown \(sensors: none\)"
    ):
        scenario_of("hover", fault)
    with pytest.raises(BadInput, match=r"'uwb' is not flown \(sensors: imu"):
        scenario_of("hover", fault, sensors="imu")
    with pytest.raises(BadInput, match="faults"):
        scenario_of("hover", "faults=[{at: 1.0, aircraft: 9, rotor: 1, thrust: 0.5}]")

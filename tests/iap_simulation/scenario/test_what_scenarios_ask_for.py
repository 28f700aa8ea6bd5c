# SPDX-License-Identifier: BSD-3-Clause
"""What scenarios ask for: lifts of replays, contact, drag, sensors of methods, and what identified plants have."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flying import scenario_of

from iap_description.errors import BadInput
from iap_simulation.scenario import replays, vehicle_spec
from iap_simulation.scenario.plant_checks import _any, _unknown_to_identified, check_plant

# replays


def test_what_the_user_has_left_open_is_filled_in() -> None:
    reference: Any = SimpleNamespace(lift=None, attitude="full", topic=None)
    keys = {"lift": 0.4, "attitude": "heading", "topic": "/pose"}
    assert replays._left_open(reference, keys) == {"lift": 0.4, "topic": "/pose"}


def test_axes_of_wrenches_are_kept_where_all_have_the_same() -> None:
    def command(*axes: str, use: str | None = None) -> Any:
        wrenches = [SimpleNamespace(axes=each) for each in axes]
        wrench = None if use is None else SimpleNamespace(use=use)
        return SimpleNamespace(about=SimpleNamespace(wrenches=wrenches), wrench=wrench)

    assert replays._of_wrenches(command()) == replays._of_wrenches(command("world", "body")) == {}
    assert replays._of_wrenches(command("body", "body")) == {"wrench_frame": "body"}
    assert replays._of_wrenches(command("body", use="open_loop")) == {
        "wrench_frame": "body", "wrench_use": "open_loop",
    }  # fmt: skip


def fitted(
    *z: float, offset: float = 0.0, has_ground: bool = True, tilt: float = 0.0
) -> dict[str, Any]:
    """Keys of a flight at heights [m] by a vehicle that stands at 0.2 m and turns as commanded."""
    poses = np.zeros((len(z), 7))
    poses[:, 2], poses[:, 3], poses[:, 6] = z, np.sin(0.5 * tilt), np.cos(0.5 * tilt)
    platform = SimpleNamespace(ground_clearance=0.2)
    vehicle: Any = SimpleNamespace(offset=(0.0, 0.0, offset), platform=platform)
    scenario: Any = SimpleNamespace(world=SimpleNamespace(has_ground=has_ground))
    command: Any = SimpleNamespace(commanded=SimpleNamespace(poses=poses))
    return replays._fitted(scenario, vehicle, command)


@pytest.mark.parametrize(
    ("z", "offset", "keys"),
    [
        ((0.0, 1.0), 0.0, {"lift": 0.5}),
        ((0.003, 1.0), 0.0, {"lift": 0.5}),  # to whole centimetres, upwards
        ((-0.001, 1.0), 0.0, {"lift": 0.51}),
        ((0.19, 1.0), 0.0, {}),  # two centimetres below where it stands
        ((0.17, 1.0), 0.0, {"lift": 0.33}),
        ((0.0, 1.0), 0.1, {"lift": 0.4}),
        ((0.0, 1.0), 0.2, {}),
        ((0.51, 0.1, 2.0), 0.0, {}),  # does not start on the ground
        ((0.49, 0.0, 2.0), 0.0, {"lift": 0.5}),
        ((0.0, -0.49, 1.0), 0.0, {"lift": 0.99}),
        ((0.0, -0.51, 1.0), 0.0, {}),  # sinks by more than half a metre
        ((0.0, -0.09), 0.0, {"lift": 0.59}),
        ((0.0, -0.11), 0.0, {}),  # sinks, and does not climb
    ],
)
def test_a_flight_from_the_ground_is_raised_off_it(
    z: tuple[float, ...], offset: float, keys: dict[str, Any]
) -> None:
    assert fitted(*z, offset=offset) == keys
    assert fitted(*z, offset=offset, has_ground=False) == {}


def test_a_heading_alone_is_followed_where_the_command_is_steeper_than_80_degrees(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for follows in (True, False):
        monkeypatch.setattr(replays, "_by_heading", lambda *_, follows=follows: follows)
        for degrees, is_steep in ((79.0, False), (81.0, True)):
            keys = fitted(2.0, 2.0, tilt=np.radians(degrees))
            assert keys == ({"attitude": "heading"} if follows and is_steep else {})


# questions


@pytest.mark.parametrize(
    ("sets", "engine", "has_contact"),
    [
        ((), "mujoco", False),
        (("control.admittance=on",), "mujoco", True),
        (
            (
                "disturbances=[{at: 1.0, until: 2.0, force: [1.0, 0.0, 0.0], torque: [0.0, 0.0, 0.0]}]",
            ),
            "mujoco",
            True,
        ),
        (("world.objects={crates: {preset: boxes}}",), "mujoco", False),
    ],
)
def test_contact_is_where_something_is_met_or_pushes(
    sets: tuple, engine: str, has_contact: bool
) -> None:
    scenario = scenario_of("hover", *sets, engine=engine)
    assert scenario.has_contact(scenario.vehicles[0]) == has_contact


def test_walls_and_tools_are_met_where_an_engine_has_contact() -> None:
    wall = scenario_of("wall_push", engine="mujoco")
    plain = {"admittance": False, "wrench_mode": "none"}
    vehicle = wall.vehicles[0]
    off = vehicle.model_copy(
        update={
            "control": vehicle.control.model_copy(update=plain),
            "platform": vehicle.platform.model_copy(update={"tool": None}),
            "disturbances": (),
        }
    )
    assert wall.has_contact(off)
    free = scenario_of("hover", engine="closed_form")
    alone = wall.model_copy(update={"engine": free.engine})
    assert not alone.has_contact(off)
    tool = off.model_copy(update={"platform": vehicle.platform})
    assert alone.has_contact(tool) == (vehicle.platform.tool is not None)


@pytest.mark.parametrize(
    ("drag", "speed", "has_drag"),
    [("on", 0.0, True), ("off", 3.0, False), ("auto", 0.0, False), ("auto", 0.1, True)],
)
def test_drag_is_asked_for_or_comes_with_a_wind(drag: str, speed: float, has_drag: bool) -> None:
    scenario = scenario_of("hover", f"drag='{drag}'", f"wind.speed={speed}")
    assert scenario.has_drag == has_drag
    assert scenario.dt == pytest.approx(1.0 / scenario.rates.control_hz)
    assert scenario.identified is None


def test_a_drawn_delay_is_at_most_that_of_the_model_s_error() -> None:
    scenario_of("hover", "model_error.delay=0.02", "draw.delay=0.02")
    with pytest.raises(
        BadInput, match=r"'draw\.delay': 0\.021 s is more than .*, 0\.02 s: commands"
    ):
        scenario_of("hover", "model_error.delay=0.02", "draw.delay=0.021")


def test_two_vehicles_of_one_name_are_refused() -> None:
    with pytest.raises(BadInput, match="key 'vehicles': names must differ, are a, a"):
        scenario_of("two_platforms", "vehicles.0.name=a", "vehicles.1.name=a")


def test_sensors_that_a_method_misses_are_named() -> None:
    def missing(source: Any, joined: bool = True, **sensors: Any) -> list[str]:
        usual = {"imu": 1, "attitude": 1, "cameras": {}, "uwb": None, "mounted": {}}
        return vehicle_spec._missing_sensors(
            source,
            SimpleNamespace(**{**usual, **sensors}),
            is_joined=joined,  # type: ignore[arg-type]
        )

    def camera(right_of: str | None, *outputs: str) -> Any:
        return SimpleNamespace(right_of=right_of, outputs=outputs)

    pair = {"left": camera(None, "mono8"), "right": camera("left", "rgb8", "depth")}
    assert missing("truth", imu=None) == []
    assert missing("capture_inertial") == ["motion_capture"]
    assert missing("capture_inertial", imu=None, mounted={"motion_capture": 1}) == ["imu"]
    assert missing("vio", imu=None, attitude=None) == ["imu", "attitude", "stereo"]
    assert missing("vio", joined=False, attitude=None, cameras=pair) == []
    assert missing("joint", cameras=pair) == ["uwb"]
    assert missing("joint", cameras=pair, uwb=SimpleNamespace(anchors=())) == ["uwb"]
    assert missing("joint", cameras=pair, uwb=SimpleNamespace(anchors=(1,))) == []
    for blind in ({**pair, "left": camera(None, "depth")}, {**pair, "right": camera("left", "depth")},
                  {"right": camera("left", "mono8")}):  # fmt: skip
        assert missing("vio", cameras=blind) == ["stereo"]
    assert vehicle_spec._all_sensors_of("capture_inertial") == "capture"
    assert vehicle_spec._all_sensors_of("vio") == "stereo"


# plants


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("wind.speed", "0.1"), ("drag", "'on'"), ("control.admittance", "on"),
        ("start.mode", "ground"), ("draw.attitude_deg", "[0.0, 1.0, 0.0]"), ("draw.mass", "0.1"),
        ("model_error.mass", "1.1"), ("model_error.force", "[0.0, 0.0, 1.0]"), ("model_error.delay", "0.1"),
        ("state_noise.position", "[0.1, 0.0, 0.0]"), ("sensors", "imu"), ("control.law", "auto"),
    ],
)  # fmt: skip
def test_an_identified_plant_has_nothing_of_a_key(key: str, value: str) -> None:
    with pytest.raises(BadInput, match=f"key '{key.split('.position')[0]}"):
        scenario_of("arm_path", f"{key}={value}", engine="pybullet")


def test_an_identified_plant_takes_what_it_has() -> None:
    scenario = scenario_of(
        "arm_path", "draw.attitude_deg=[0.0, 0.0, 5.0]", "draw.position=0.1", "draw.joints_deg=1.0",
        engine="pybullet",
    )  # fmt: skip
    check_plant(scenario)
    asked = _unknown_to_identified(scenario)
    assert not any(asked.values()) and len(asked) > 30
    assert _any((0.0, 0.0, 0.1)) and _any(0.1) and not _any((0.0, 0.0)) and not _any(0.0)

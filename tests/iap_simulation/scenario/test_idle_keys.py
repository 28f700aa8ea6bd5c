# SPDX-License-Identifier: BSD-3-Clause
"""A key that acts on nothing in a flight is noted with the reason, and one that acts is not."""

from typing import Any

import pytest
from flying import scenario_of

from iap_simulation.scenario.unused_keys import idle_notes, keys_of_file

SEEING: dict[str, Any] = {"sensors": "stereo", "scene": "textured_walls"}
SOFT: dict[str, Any] = {
    "world.objects.wall.surface": "{friction: 0.4, restitution: 0.0, stiffness: 1.0e+4, damping: 150.0}"
}
GIVEN = dict[str, Any]
DRIFTING: dict[str, Any] = {
    "world.objects": "{crates: {preset: boxes, motion: {type: velocity, velocity: [0.1, 0.0, 0.0]}}}"
}


def note_of(key: str, name: str, given: GIVEN) -> str:
    """What is noted of a key in a flight; empty if it acts."""
    options = {k: v for k, v in given.items() if "." not in k and k != "drag"}
    settings = [f"{k}={v}" for k, v in given.items() if k not in options]
    scenario = scenario_of(name, *settings, **{"engine": "pybullet", **options})
    return "".join(idle_notes(scenario, {key: key}))


@pytest.mark.parametrize(
    ("key", "idle", "acting", "reason"),
    [
        ("control.failsafe", ("hover", {}), ("hover", {**SEEING, "state_source": "joint"}), "fly on the truth"),
        ("state_noise.position", ("hover", {**SEEING, "state_source": "joint"}), ("hover", {}), "fly on an estimate"),
        ("control.observer_gain", ("hover", {}), ("wall_push", {}), "no wrench measured"),
        ("metrics.force_band", ("hover", {}), ("hover", {"control.admittance": "on"}), "nothing is touched"),
        ("control.gains.admittance", ("hover", {}), ("peg_in_hole", {}), "without control.admittance"),
        ("push", ("hover", {}), ("wall_push", {}), "without wrench control"),
        ("control.gains.wrench.paper", ("wall_push", {}), ("wall_push", {"control.wrench_mode": "paper"}), "selective"),
        ("control.gains.wrench.selective.force", ("wall_push", {"control.wrench_mode": "paper"}), ("wall_push", {}),
         "wrench control is paper"),
        ("control.gains.rigid", ("hover", {}), ("hover", {"platform": "f450"}), "turn in joints"),
        ("start.joints_deg", ("hover", {}), ("arm_pick", {}), "without an arm"),
        ("renderer", ("hover", {}), ("hover", SEEING), "without cameras"),
        ("world.weather.rain", ("hover", {"sensors": "imu"}), ("hover", SEEING), "without cameras"),
        ("recording.jpeg_quality", ("hover", {"recording.compression": "jpeg"}),
         ("hover", {**SEEING, "recording.compression": "jpeg"}), "not JPEG"),
        ("recording.jpeg_quality", ("hover", {**SEEING, "recording.compression": "png"}),
         ("hover", {**SEEING, "recording.compression": "jpeg"}), "not JPEG"),
        ("draw.imu_position", ("hover", {}), ("hover", {"sensors": "imu"}), "without inertial units"),
        ("draw.mount_tilt_deg", ("hover", {"sensors": "imu"}), ("hover", {"sensors": "uwb"}), "without lidar"),
        ("wind.speed", ("hover", {"drag": "'off'"}), ("hover", {"drag": "'on'"}), "by which alone a wind pushes"),
        ("model_error.drag", ("hover", {}), ("hover", {"wind.speed": 2.0}), "drag: auto has it in a wind"),
        ("wind.direction_deg", ("hover", {"drag": "'on'"}), ("hover", {"wind.speed": 2.0}), "without wind"),
        ("draw.friction", ("hover", {"engine": "closed_form"}), ("hover", {}), "closed_form has no contact"),
        ("draw.stiffness", ("hover", {}), ("wall_push", SOFT), "whose surface has a stiffness"),
        ("draw.object_position", ("hover", {}), ("wall_push", {}), "object that has a place of its own"),
        ("draw.motion_shift", ("hover", {}), ("hover", DRIFTING), "object that has a motion"),
    ],
)  # fmt: skip
def test_a_key_is_idle_for_its_reason_and_acts_without(
    key: str, idle: tuple[str, GIVEN], acting: tuple[str, GIVEN], reason: str
) -> None:
    note = note_of(key, *idle)
    assert note.startswith(f"note: {key}: acts on nothing in this flight, ") and reason in note
    assert note_of(key, *acting) == ""


def test_of_several_vehicles_one_that_a_key_acts_on_is_enough() -> None:
    scenario = scenario_of("two_platforms", "vehicles.1.control.admittance=on", engine="pybullet")
    places = ["vehicles.0.", "vehicles.1.", ""]
    keys = {f"{place}control.gains.admittance": place for place in places}
    (note,) = idle_notes(scenario, {name: name for name in keys})
    assert "note: vehicles.0.control.gains.admittance: acts on nothing" in note


def test_keys_of_one_reason_are_one_note_and_none_is_noted_twice() -> None:
    scenario = scenario_of("hover", "drag='off'", engine="pybullet")
    notes = idle_notes(
        scenario, {"--a": "wind.direction_deg", "--b": "wind.speed", "--c": "world.gravity"}
    )
    (note,) = notes
    assert "--a, --b: acts on nothing" in note


def test_keys_of_a_file_are_its_leaves_and_lists_of_numbers_are_whole(tmp_path: Any) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(
        "wind: {speed: 2.0}\nvehicles:\n- {offset: [0.0, 1.0, 0.0]}\n- {drag: 1}\nseed: 3\n"
    )
    assert keys_of_file(path) == ["wind.speed", "vehicles.0.offset", "vehicles.1.drag", "seed"]
